/* link.c: cuLink…: PTX texts that become one image, which cuModuleLoadData takes.
 *
 * An image holds the texts themselves: they are checked as they come and when the link is completed, and made a module
 * of when they are loaded. It has no addresses, so a program may keep it in a file. */
#include "middle/ptx.h"
#include "shim/cuda/driver.h"

#include <stdlib.h>

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* Then a word with the number of texts, and of each the name and the text, both with a word of their size in front and
 * a NUL behind. */
static const char MAGIC[] = "\x7fLanewise linked PTX\n";

bool lw_cu_is_image(const void *image) { return !strncmp(image, MAGIC, sizeof MAGIC); }

bool lw_cu_is_whole(const char *image, size_t size) {
    size_t at = sizeof MAGIC + sizeof(uint32_t);
    uint32_t word;
    if (size < at) return false;
    for (uint64_t left = 2 * (uint64_t)lw_cu_image_count(image); left; left--) {
        if (size - at < sizeof word) return false;
        memcpy(&word, image + at, sizeof word);
        at += sizeof word;
        if (size - at <= word || image[at + word]) return false;
        at += (size_t)word + 1;
    }
    return at == size;
}

uint32_t lw_cu_image_count(const void *image) {
    uint32_t count;
    memcpy(&count, (const char *)image + sizeof MAGIC, sizeof count);
    return count;
}

static const char *take(const char **at, size_t *size) {
    uint32_t word;
    memcpy(&word, *at, sizeof word);
    const char *text = *at + sizeof word;
    *at = text + word + 1;
    *size = word;
    return text;
}

void lw_cu_image_texts(const void *image, lw_module_text *texts) {
    const char *at = (const char *)image + sizeof MAGIC + sizeof(uint32_t);
    const uint32_t count = lw_cu_image_count(image);
    size_t name_size;
    for (uint32_t i = 0; i < count; i++) {
        texts[i].name = take(&at, &name_size);
        texts[i].text = take(&at, &texts[i].size);
    }
}

static void put(lw_text *out, const char *text, size_t size) {
    const uint32_t word = (uint32_t)size;
    lw_text_add(out, (const char *)&word, sizeof word);
    lw_text_add(out, text, size);
    lw_text_add(out, "", 1);
}

/* ---- Checking -------------------------------------------------------------------------------------------------- */

typedef struct check {
    lw_arena arena;
    lw_source source;
    lw_diags diags;
    lw_source_text *texts;
    uint32_t count;
} check;

/* With `complete` whether all is defined, too. What does not go together, twice defined or nowhere, is a fault that the
 * driver of an H200 has no name for. */
static CUresult try_check(check *c, bool complete) {
    jmp_buf out;
    lw_module_ptx *module = NULL;
    if (!LW_ARENA_TRY(&c->arena, out)) return CUDA_ERROR_OUT_OF_MEMORY;
    if (!lw_source_join(&c->source, &c->arena, c->texts, c->count)) return CUDA_ERROR_OUT_OF_MEMORY;
    lw_diags_init(&c->diags, &c->arena, &c->source);
    if (!lw_ptx_check(&c->arena, &c->source, &c->diags, NULL, &module))
        return c->count == 1 ? lw_cu_source_result(&c->diags) : CUDA_ERROR_UNKNOWN;
    if (!complete) return CUDA_SUCCESS;
    lw_ptx_check_complete(module, &c->diags, true);
    return c->diags.errors ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

/* Errors go to one log, with their notes; warnings to the other. */
static void say(CUlinkState state, check *c) {
    bool error = false;
    for (const lw_diag *diag = c->diags.first; diag; diag = diag->next) {
        if (diag->severity != LW_NOTE) error = diag->severity == LW_ERROR;
        lw_diag_render(error ? &state->error : &state->info, &c->source, diag, false);
    }
}

static CUresult check_texts(CUlinkState state, lw_source_text *texts, uint32_t count, bool complete) {
    LW_OWN_FLOAT_MODE(callers);
    check c = {.texts = texts, .count = count};
    lw_arena_init(&c.arena);
    CUresult result = try_check(&c, complete);
    if (!complete || result) say(state, &c); /* the second time warnings are known */
    lw_arena_free(&c.arena);
    return result;
}

/* ---- Logs ------------------------------------------------------------------------------------------------------ */

/* What programs can read grows with each call. */
static CUresult finish(CUlinkState state, double start, CUresult result) {
    state->seconds += lw_clock() - start;
    lw_cu_write_seconds(&state->to, state->seconds);
    lw_cu_write_log(&state->to.error, state->error.at ? state->error.at : "");
    lw_cu_write_log(&state->to.info, state->info.at ? state->info.at : "");
    if (result && !state->to.error.buffer && state->error.at)
        lw_cu_report(LW_CU_REPORT_ERRORS, "a link was refused:\n%s", state->error.at);
    if (result && !state->failed) state->failed = result;
    return result;
}

/* ---- The state ------------------------------------------------------------------------------------------------- */

CUresult cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *state) {
    LW_CU_CALL;
    CUcontext context;
    CUresult result = lw_cu_enter(&context);
    if (result) return result;
    if (!state || (count && (!options || !values))) return CUDA_ERROR_INVALID_VALUE;
    CUlinkState made = lw_cu_new(sizeof *made, LW_CU_LINK, context);
    if (!made) return lw_cu_not_made(context);
    pthread_mutex_init(&made->lock, NULL); /* of Linux, which never fails */
    lw_cu_read_options(&made->to, count, options, values);
    *state = made;
    return CUDA_SUCCESS;
}
LW_CU_SAME(cuLinkCreate, cuLinkCreate_v2);

void lw_cu_end_link(CUlinkState state) {
    lw_text_free(&state->error);
    lw_text_free(&state->info);
    lw_text_free(&state->texts);
    free(state->image);
    pthread_mutex_destroy(&state->lock);
}

CUresult cuLinkDestroy(CUlinkState state) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    lw_cu_free(&state->object);
    return CUDA_SUCCESS;
}

/* ---- Inputs ---------------------------------------------------------------------------------------------------- */

static const char *kind_of(CUjitInputType type) {
    switch (type) {
    case CU_JIT_INPUT_CUBIN: return "machine code of a GPU (a cubin)";
    case CU_JIT_INPUT_FATBINARY: return "a fatbin";
    case CU_JIT_INPUT_OBJECT: return "a host object";
    case CU_JIT_INPUT_LIBRARY: return "a library of host objects";
    default: return "NVVM's intermediate language";
    }
}

static CUresult add_text(CUlinkState state, const char *name, const char *text, size_t size) {
    const char *why;
    CUresult result = lw_cu_look_at(text, &why);
    if (result) {
        lw_text_say(&state->error, "%.200s: %s", name, why);
        return result;
    }
    if (state->count == LW_LINKED_MOST) {
        lw_text_say(&state->error, "error: more than %d texts\n", LW_LINKED_MOST);
        return CUDA_ERROR_INVALID_VALUE;
    }
    lw_source_text one = {name, text, size};
    result = check_texts(state, &one, 1, false);
    if (result) return result;
    put(&state->texts, name, strlen(name));
    put(&state->texts, text, size);
    if (state->texts.failed || state->texts.size > UINT32_MAX) return CUDA_ERROR_OUT_OF_MEMORY;
    state->count++;
    return CUDA_SUCCESS;
}

static CUresult add(CUlinkState state, CUjitInputType type, const char *name, const char *text, size_t size) {
    const double start = lw_clock();
    CUresult result;
    pthread_mutex_lock(&state->lock);
    if (state->image) result = CUDA_ERROR_INVALID_VALUE; /* it is complete */
    else if (type == CU_JIT_INPUT_PTX) result = finish(state, start, add_text(state, name, text, size));
    else {
        lw_text_say(&state->error, "error: %.200s is %s, and Lanewise links PTX text only (nvcc --ptx makes it)\n",
                    name, kind_of(type));
        result = finish(state, start, CUDA_ERROR_NO_BINARY_FOR_GPU);
    }
    pthread_mutex_unlock(&state->lock);
    return result;
}

static CUresult enter(CUlinkState state, CUjitInputType type, unsigned count, const void *options, const void *values) {
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    return type > CU_JIT_INPUT_NVVM || (count && (!options || !values)) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

/* A text ends at its first NUL, or where `size` says; what it is must be seen before that. */
CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                          unsigned count, CUjit_option *options, void **values) {
    LW_CU_CALL;
    CUresult result = enter(state, type, count, options, values);
    char numbered[32];
    if (result) return result;
    if (!data || !size) return CUDA_ERROR_INVALID_VALUE;
    if (!name) lw_cu_name_image(numbered);
    lw_text text = {0};
    lw_text_add(&text, data, type == CU_JIT_INPUT_PTX ? strnlen(data, size) : 0);
    if (!text.failed) result = add(state, type, name ? name : numbered, text.at ? text.at : "", text.size);
    else result = CUDA_ERROR_OUT_OF_MEMORY;
    lw_text_free(&text);
    return result;
}
LW_CU_SAME(cuLinkAddData, cuLinkAddData_v2);

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned count,
                          CUjit_option *options, void **values) {
    LW_CU_CALL;
    CUresult result = enter(state, type, count, options, values);
    bool no_memory = false;
    size_t size;
    if (result) return result;
    if (!path) return CUDA_ERROR_INVALID_VALUE;
    char *data = lw_cu_read_file(path, &size, &no_memory);
    if (!data) return no_memory ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_FILE_NOT_FOUND;
    result = add(state, type, path, data, strlen(data));
    free(data);
    return result;
}
LW_CU_SAME(cuLinkAddFile, cuLinkAddFile_v2);

/* ---- The image ------------------------------------------------------------------------------------------------- */

static CUresult make_image(CUlinkState state) {
    lw_text image = {0};
    lw_text_add(&image, MAGIC, sizeof MAGIC);
    lw_text_add(&image, (const char *)&state->count, sizeof state->count);
    lw_text_add(&image, state->texts.at, state->texts.size);
    if (image.failed) {
        lw_text_free(&image);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    state->image = image.at;
    state->image_size = image.size;
    return CUDA_SUCCESS;
}

/* An input that was refused is not left out: then there is no image. */
static CUresult complete(CUlinkState state) {
    if (state->image) return CUDA_SUCCESS;
    if (state->failed) return state->failed;
    if (!state->count) return CUDA_ERROR_INVALID_VALUE;
    const double start = lw_clock();
    CUresult result = make_image(state);
    lw_module_text *all = result ? NULL : calloc(state->count, sizeof *all);
    lw_source_text *texts = all ? calloc(state->count, sizeof *texts) : NULL;
    if (!texts) result = CUDA_ERROR_OUT_OF_MEMORY;
    else {
        lw_cu_image_texts(state->image, all);
        for (uint32_t i = 0; i < state->count; i++) texts[i] = (lw_source_text){all[i].name, all[i].text, all[i].size};
        result = check_texts(state, texts, state->count, true);
    }
    free(all);
    free(texts);
    if (result) {
        free(state->image);
        state->image = NULL;
    }
    return finish(state, start, result);
}

CUresult cuLinkComplete(CUlinkState state, void **image, size_t *size) {
    LW_CU_CALL;
    CUresult result = lw_cu_enter_with(state, LW_CU_LINK);
    if (result) return result;
    if (!image) return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&state->lock);
    result = complete(state);
    if (!result) {
        *image = state->image;
        if (size) *size = state->image_size;
    }
    pthread_mutex_unlock(&state->lock);
    return result;
}
