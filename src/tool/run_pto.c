/* run_pto.c: the parameters of a PTO function from the command line: arrays for registers, masks and memrefs, results,
 * the number of elements. */
#include <stdlib.h>

#include "tool/tool.h"

/* Arguments from the command line; what follows them in the list of parameters the tool fills in. */
uint32_t lw_pto_argument_count(const lw_kernel *kernel) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    uint32_t count = 0;
    while (count < info.param_count - info.has_arrays && !lw_kernel_param(kernel, count).is_result) count++;
    return count;
}

static bool wrong_array(const lw_arg *arg, const lw_param_info *param, const char *signature, const char *why) {
    lw_arg_error(arg, arg->text, strcspn(arg->text, "=:"), signature, LW_D_arg_vector, arg->number, param->name, why);
    return false;
}

static bool check_array(const lw_arg *arg, const lw_param_info *param, const char *signature) {
    uint32_t bytes = lw_value_bytes(lw_type_find(param->element, strlen(param->element)));
    lw_text why = {0};
    bool good = true;
    if (!arg->is_array)
        good = wrong_array(arg, param, signature, "it takes an array: TYPE[COUNT]=…, one element for each lane");
    else if (lw_value_is_float(arg->type)) {
        lw_text_printf(&why, "its elements are integers, not %s", lw_types[arg->type].name);
        good = wrong_array(arg, param, signature, why.at ? why.at : "");
    } else if (lw_value_bytes(arg->type) != bytes) {
        lw_text_printf(&why, "its elements have %u byte%s, not %llu", bytes, bytes == 1 ? "" : "s",
                       (unsigned long long)lw_value_bytes(arg->type));
        good = wrong_array(arg, param, signature, why.at ? why.at : "");
    }
    lw_text_free(&why);
    return good;
}

/* No integer of PTO is an address. */
static bool check_scalar(lw_arg *arg, const lw_param_info *param, const char *signature) {
    if (arg->is_array) return wrong_array(arg, param, signature, "it takes one value: TYPE=VALUE");
    return lw_arg_bind(arg, param, signature, false);
}

static bool check_length(const lw_arg *arg, const lw_param_info *param, const char *signature) {
    if (param->is_register || param->any_length || arg->count == param->elements) return true;
    lw_text why = {0};
    lw_text_printf(&why, "it is a memref of %llu elements, not %llu", (unsigned long long)param->elements,
                   (unsigned long long)arg->count);
    wrong_array(arg, param, signature, why.at ? why.at : "");
    lw_text_free(&why);
    return false;
}

/* How often a function runs. */
typedef struct repeats {
    uint64_t whole, rest; /* times with all lanes; lanes of one more, 0 where there is none */
} repeats;

/* Of a last repeat that only some lanes run an array has as many elements, unless its registers are narrower. */
static uint64_t elements_of(const repeats *r, uint64_t lanes) {
    return r->whole * lanes + (r->rest < lanes ? r->rest : lanes);
}

static bool wrong_count(const lw_kernel *kernel, const lw_arg *args, uint32_t number, uint32_t widest, uint64_t count,
                        const char *signature) {
    lw_param_info param = lw_kernel_param(kernel, number), other = lw_kernel_param(kernel, widest);
    lw_text why = {0};
    lw_text_printf(&why,
                   "it must have %llu elements for its registers of %llu, not %llu, as argument %u has %llu "
                   "for registers of %llu",
                   (unsigned long long)count, (unsigned long long)param.elements,
                   (unsigned long long)args[number].count, widest, (unsigned long long)args[widest].count,
                   (unsigned long long)other.elements);
    wrong_array(&args[number], &param, signature, why.at ? why.at : "");
    lw_text_free(&why);
    return false;
}

/* All registers come as many times; the widest array says how often, and how far the last time. */
static bool find_elements(const lw_kernel *kernel, const lw_arg *args, uint32_t given, const char *signature,
                          uint64_t *elements) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    uint32_t widest = given;
    for (uint32_t i = 0; i < given; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        if (param.is_register && (widest == given || param.elements > lw_kernel_param(kernel, widest).elements))
            widest = i;
    }
    *elements = info.lanes;
    if (widest == given) return true;
    uint64_t lanes = lw_kernel_param(kernel, widest).elements;
    repeats r = {args[widest].count / lanes, args[widest].count % lanes};
    for (uint32_t i = 0; i < given; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        uint64_t count = param.is_register ? elements_of(&r, param.elements) : 0;
        if (param.is_register && args[i].count != count) return wrong_count(kernel, args, i, widest, count, signature);
    }
    *elements = r.whole * info.lanes + r.rest;
    return true;
}

/* A buffer for a result, described as if it had been an argument. */
static bool make_result(lw_arena *arena, const lw_kernel *kernel, uint32_t number, uint64_t elements,
                        const char *output, lw_arg *arg) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    lw_param_info param = lw_kernel_param(kernel, number);
    repeats r = {elements / info.lanes, elements % info.lanes};
    uint64_t count = param.is_register ? elements_of(&r, param.elements) : param.elements;
    return lw_arg_result(arena, &param, count, output ? output : "print", number, arg);
}

int lw_pto_bind(lw_arena *arena, const lw_kernel *kernel, const char *signature, lw_arg *args, char *const *outputs,
                uint32_t output_count, uint64_t *elements) {
    lw_kernel_info info = lw_kernel_get_info(kernel);
    uint32_t given = lw_pto_argument_count(kernel), results = info.param_count - info.has_arrays - given;
    for (uint32_t i = 0; i < given; i++) {
        lw_param_info param = lw_kernel_param(kernel, i);
        if (args[i].members || args[i].source == LW_ARG_SHARED) {
            lw_arg_wrong_shape(&args[i], args[i].text, strlen(args[i].text),
                               "structs and shared buffers are for kernels of PTX");
            return LW_EXIT_USAGE;
        }
        if (args[i].image) return lw_arg_bind_image(&args[i], &param, signature, false), LW_EXIT_USAGE;
        bool good = param.element ? check_array(&args[i], &param, signature)
                                  : check_scalar(&args[i], &param, signature);
        if (!good) return LW_EXIT_USAGE;
        int code = lw_arg_load(&args[i]);
        if (code) return code;
        if (param.element && !check_length(&args[i], &param, signature)) return LW_EXIT_USAGE;
    }
    if (!find_elements(kernel, args, given, signature, elements)) return LW_EXIT_USAGE;
    if (output_count > results) {
        lw_tool_error(LW_D_results_count, info.name, results, output_count);
        return LW_EXIT_USAGE;
    }
    for (uint32_t i = 0; i < results; i++)
        if (!make_result(arena, kernel, given + i, *elements, i < output_count ? outputs[i] : NULL, &args[given + i]))
            return LW_EXIT_USAGE;
    if (info.has_arrays)
        args[info.param_count - 1] = (lw_arg){.text = "",
                                              .number = info.param_count - 1,
                                              .type = LW_T_u64,
                                              .count = 1,
                                              .source = LW_ARG_FILL,
                                              .start = *elements};
    return LW_EXIT_OK;
}

void lw_pto_notes(lw_context *context, const char *file) {
    const lw_launch_note *notes;
    size_t count = lw_launch_notes(context, &notes);
    for (size_t i = 0; i < count; i++)
        if (!lw_pto_is_count(&notes[i])) lw_tool_note(file, &notes[i]);
}
