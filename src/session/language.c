/* language.c: the languages that modules are written in, and how one is chosen for a text. */
#include "middle/pto.h"
#include "session/session.h"

/* The first takes every file that no other one knows by its name. */
static const lw_language *const languages[LW_LANGUAGES] = {&lw_language_ptx, &lw_language_pto};

const lw_language *lw_language_of(const char *name, const char *file) {
    for (size_t i = 0; i < LW_COUNT(languages); i++) {
        const lw_language *language = languages[i];
        if (name && *name ? !strcmp(name, language->name) : language->is_name && language->is_name(file))
            return language;
    }
    return name && *name ? NULL : languages[0];
}

void lw_languages_close(lw_context *context) {
    for (size_t i = 0; i < LW_LANGUAGES; i++)
        if (context->shared[i]) languages[i]->close(context->shared[i]);
    memset(context->shared, 0, sizeof context->shared);
}

bool lw_languages_open(lw_context *context) {
    for (size_t i = 0; i < LW_LANGUAGES; i++)
        if (languages[i]->open && !languages[i]->open(&context->shared[i])) {
            lw_languages_close(context);
            return false;
        }
    return true;
}

void *lw_language_shared(const lw_module *module) {
    size_t i = 0;
    while (languages[i] != module->language) i++;
    return module->context->shared[i];
}

/* ---- Options ------------------------------------------------------------------------------------------------- */

/* Which of a list of names, which ends with NULL; the first where none is given. False: none of them. */
static bool choose(const char *name, const char *const *names, int *chosen) {
    for (*chosen = 0; name && *name && strcmp(names[*chosen], name); ++*chosen)
        if (!names[*chosen + 1]) return false;
    return true;
}

/* What messages say of them: the words of the tables. */
static const char KNOWN_TARGETS[] = "known are"
#define PROFILE(name, width, title, status) " " #name
#include "pto/profiles.def"
    ;
static const char KNOWN_INACTIVE[] = "known are"
#define INACTIVE(name, word) " " word
#include "pto/choices.def"
    ;
static const char KNOWN_OVERFLOW[] = "known are"
#define OVERFLOW(name, word) " " word
#include "pto/choices.def"
    ;

static const char *const targets[] = {
#define PROFILE(name, width, title, status) #name,
#include "pto/profiles.def"
    NULL};

lw_status lw_load_choose(lw_context *context, const lw_module_options *options, const char *name,
                         lw_load_options *chosen) {
    lw_module_options all, *const o = &all;
    if (!lw_take(o, sizeof all, options, LW_MODULE_OPTIONS_FIRST))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_struct_size, "lw_module_options", options->size, sizeof all);
    *chosen = (lw_load_options){.language = lw_language_of(o->language, name), .count_regions = o->count_regions};
    if (!chosen->language)
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_module_option, "language", o->language, "ptx and pto are known");
    if (!choose(o->target, targets, &chosen->target))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_module_option, "target", o->target, KNOWN_TARGETS);
    if (!choose(o->inactive, lw_pto_inactive_words, &chosen->inactive))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_module_option, "inactive", o->inactive, KNOWN_INACTIVE);
    if (!choose(o->shift_overflow, lw_pto_overflow_words, &chosen->shift_overflow))
        return lw_fail(context, LW_BAD_ARGUMENT, LW_D_module_option, "shift_overflow", o->shift_overflow,
                       KNOWN_OVERFLOW);
    return LW_OK;
}
