/* cache.c: lanewise cache: where compiled code is kept, and how much. */
#include "session/session.h"
#include "tool/tool.h"

#include <sys/auxv.h>

static const struct argp_option choices[] = {
    {"clear", 'c', NULL, 0, "Remove all of it", 0},
    {0},
};

static const char doc[] =
    "Show where compiled code is kept for later processes, how much that is, and how much it may be."
    "\vThe environment variable LANEWISE_CACHE names the folder, or is off; LANEWISE_CACHE_SIZE is the limit in bytes, "
    "or "
    "in KiB, MiB or GiB with K, M or G behind. A folder that is not there is made when something is to be kept. One "
    "that is a symbolic link, belongs to somebody else, or that others may write to is not used.\n\n"
    "Exit codes:\n"
    "  0  done\n"
    "  2  the command line, or one of the variables, is wrong\n"
    "  6  there was no memory\n";

static error_t parse(int key, char *arg, struct argp_state *state) {
    (void)arg;
    switch (key) {
    case 'c': *(bool *)state->input = true; break;
    case ARGP_KEY_ARG: argp_error(state, "cache takes no arguments"); break;
    default: return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void put_sum(const char *word, const lw_cache_sum *sum) {
    printf("%-9s %llu program%s, %llu bytes\n", word, (unsigned long long)sum->count, sum->count == 1 ? "" : "s",
           (unsigned long long)sum->bytes);
}

static int no_memory(void) {
    lw_tool_error(LW_D_no_memory, "what is kept is not known");
    return LW_EXIT_MACHINE;
}

static int show(lw_cache *cache, const lw_chosen *chosen, const char *folder, bool clears) {
    lw_cache_sum sum;
    const char *why = getauxval(AT_SECURE) ? "this process has rights that its user does not have" : NULL;
    const bool found = cache && (clears ? lw_cache_clear : lw_cache_look)(cache, &sum, &why);
    if (!found && !why) return no_memory();
    printf("folder    %s\nlimit     %llu bytes\n", folder, (unsigned long long)chosen->cache_limit);
    if (found) put_sum(clears ? "removed" : "kept", &sum);
    else printf("kept      nothing: %s\n", *why ? why : "it is not there yet");
    return LW_EXIT_OK;
}

int lw_command_cache(int argc, char **argv) {
    bool clears = false, in_home;
    lw_chosen chosen;
    lw_text folder = {0};
    lw_tool_options(&(struct argp){choices, parse, "", doc, NULL, NULL, NULL}, argc, argv, 0, &clears);
    const lw_status status = lw_choose(NULL, &chosen);
    if (status != LW_OK) return lw_tool_refused(status);
    int code = LW_EXIT_OK;
    if (lw_cache_folder(&chosen, &folder, &in_home)) {
        lw_cache *cache = lw_cache_open(&chosen);
        code = show(cache, &chosen, folder.at, clears);
        lw_cache_free(cache);
    } else if (folder.failed) code = no_memory();
    else puts(chosen.cache ? "off" : "off: neither XDG_CACHE_HOME nor HOME names a folder");
    lw_text_free(&folder);
    return code;
}
