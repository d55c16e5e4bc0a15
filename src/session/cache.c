/* cache.c: where contexts keep compiled code: what the environment says of it. */
#include "base/scan.h"
#include "session/environment.h"
#include "session/session.h"

/* "64M": a number of bytes, KiB, MiB or GiB. */
bool lw_cache_size(const char *text, uint64_t *bytes) {
    static const char units[] = "KMG";
    uint32_t end = lw_digits_end(text, 0, 10);
    if (!end || !lw_digits_read(text, 0, end, 10, bytes)) return false;
    const char *unit = text[end] ? strchr(units, text[end]) : NULL;
    if (!unit) return !text[end];
    const unsigned shift = 10 * (unsigned)(unit - units + 1);
    const bool fits = *bytes <= UINT64_MAX >> shift;
    *bytes <<= shift;
    return fits && !text[end + 1];
}

static void join(lw_text *folder, const char *first, const char *second) {
    lw_text_printf(folder, "%s/%s" LW_CACHE_FOLDER, first, second);
}

bool lw_cache_folder(const lw_chosen *chosen, lw_text *folder, bool *in_home) {
    const char *own = lw_environment(LW_ENV_cache_home), *home = lw_environment(LW_ENV_home);
    *in_home = !chosen->cache;
    if (chosen->cache && !strcmp(chosen->cache, "off")) return false;
    if (chosen->cache) lw_text_puts(folder, chosen->cache);
    else if (own && *own == '/') join(folder, own, ""); /* others are to be ignored: XDG Base Directory Specification */
    else if (home && *home == '/') join(folder, home, ".cache/");
    return folder->size && !folder->failed;
}

lw_cache *lw_cache_open(const lw_chosen *chosen) {
    lw_text folder = {0};
    bool in_home;
    lw_cache *cache = NULL;
    if (lw_cache_folder(chosen, &folder, &in_home)) cache = lw_cache_new(folder.at, in_home, chosen->cache_limit);
    lw_text_free(&folder);
    return cache;
}
