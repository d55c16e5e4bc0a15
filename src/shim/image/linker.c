/* linker.c: PTX texts that are checked one by one as they come, and together in the end. */
#include "shim/image/image.h"

#include "middle/ptx.h"
#include "session/session.h"

#include <stdlib.h>

/* ---- Checking -------------------------------------------------------------------------------------------------- */

typedef struct check {
    const lw_arch *arch;
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_source_text *texts;
    uint32_t count;
    bool complete; /* whether all is defined, too */
} check;

static lw_image_result faults(const check *c) { return c->complete ? LW_IMAGE_UNLINKED : lw_image_faults(&c->diags); }

static lw_image_result try_check(check *c) {
    jmp_buf out;
    lw_module_ptx *module = NULL;
    if (!LW_ARENA_TRY(&c->arena, out)) return LW_IMAGE_NO_MEMORY;
    if (!lw_source_join(&c->source, &c->arena, c->texts, c->count)) return LW_IMAGE_NO_MEMORY;
    lw_diags_init(&c->diags, &c->arena, &c->source);
    if (!lw_ptx_check(&c->arena, &c->source, &c->diags, NULL, &module)) return faults(c);
    if (!c->complete && !lw_arch_check(c->arch, module, &c->diags)) return faults(c);
    if (c->complete) lw_ptx_check_complete(module, &c->diags, true);
    return c->diags.errors ? faults(c) : LW_IMAGE_OK;
}

/* Errors go to one log, with their notes; warnings to the other. */
static void say(lw_linker *linker, check *c) {
    bool error = false;
    for (const lw_diag *diag = c->diags.first; diag; diag = diag->next) {
        if (diag->severity != LW_NOTE) error = diag->severity == LW_ERROR;
        lw_text *log = error ? &linker->error : &linker->info;
        if (linker->render) linker->render(log, &c->source, diag);
        else lw_diag_render(log, &c->source, diag, false);
    }
}

static lw_image_result check_texts(lw_linker *linker, const lw_module_text *texts, uint32_t count, bool complete) {
    check c = {.arch = linker->inputs.arch, .count = count, .complete = complete};
    c.texts = calloc(count, sizeof *c.texts);
    if (!c.texts) return LW_IMAGE_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) c.texts[i] = (lw_source_text){texts[i].name, texts[i].text, texts[i].size};
    lw_arena_init(&c.arena);
    lw_image_result result = try_check(&c);
    if (!complete || result) say(linker, &c); /* the second time warnings are known */
    lw_arena_free(&c.arena);
    free(c.texts);
    return result;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------------- */

/* With what was said of it on the way. */
static lw_image_result read_input(lw_linker *linker, const char *name, lw_bytes bytes) {
    lw_code_image *inputs = &linker->inputs;
    lw_image_result result = lw_image_read(inputs, name, bytes);
    if (inputs->why.at) lw_text_puts(&linker->error, inputs->why.at);
    if (inputs->notes.at) lw_text_puts(&linker->info, inputs->notes.at);
    lw_text_free(&inputs->why);
    lw_text_free(&inputs->notes);
    return result;
}

static lw_image_result check_inputs(lw_linker *linker, uint32_t first) {
    lw_image_result result = LW_IMAGE_OK;
    if (linker->inputs.count > LW_LINKED_MOST) {
        lw_text_say(&linker->error, "error: more than %d texts\n", LW_LINKED_MOST);
        return LW_IMAGE_TOO_MANY;
    }
    for (uint32_t i = first; !result && i < linker->inputs.count; i++)
        result = check_texts(linker, &linker->inputs.texts[i], 1, false);
    return result;
}

lw_image_result lw_linker_add(lw_linker *linker, const char *name, lw_bytes bytes) {
    const uint32_t before = linker->inputs.count;
    lw_image_result result = read_input(linker, name, bytes);
    if (!result) result = check_inputs(linker, before);
    if (result) lw_image_keep(&linker->inputs, before);
    return result;
}

lw_image_result lw_linker_refuse(lw_linker *linker, const char *name, const char *kind) {
    const unsigned arch = linker->inputs.arch->number;
    lw_text_say(&linker->error,
                "error: %.200s is %s, and Lanewise links PTX only (`nvcc -gencode arch=compute_%u,code=compute_%u` "
                "makes it)\n",
                name, kind, arch, arch);
    return LW_IMAGE_NO_BINARY;
}

/* ---- The bundle ------------------------------------------------------------------------------------------------ */

lw_image_result lw_linker_bundle(const lw_linker *linker, lw_text *bundle) {
    const lw_code_image *inputs = &linker->inputs;
    lw_bundle_begin(bundle, inputs->count, inputs->registers);
    for (uint32_t i = 0; i < inputs->count; i++)
        lw_bundle_add(bundle, inputs->texts[i].name, (lw_bytes){inputs->texts[i].text, inputs->texts[i].size});
    if (!bundle->failed) return LW_IMAGE_OK;
    lw_text_free(bundle);
    return LW_IMAGE_NO_MEMORY;
}

lw_image_result lw_linker_complete(lw_linker *linker, lw_text *bundle) {
    lw_image_result result = lw_image_add_runtime(&linker->inputs);
    if (!result) result = check_texts(linker, linker->inputs.texts, linker->inputs.count, true);
    return result ? result : lw_linker_bundle(linker, bundle);
}

void lw_linker_free(lw_linker *linker) {
    lw_image_free(&linker->inputs);
    lw_text_free(&linker->error);
    lw_text_free(&linker->info);
}
