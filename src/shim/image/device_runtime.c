/* device_runtime.c: functions that nvcc's programs find in libcudadevrt, a library of machine code, as PTX: grid
 * groups, conditions of graphs, and what needs no kernel that kernels launch. cuda_device_runtime_api.h of the toolkit
 * declares them. A text that declares some gets a further text beside it, with those; they are weak, so that a
 * program's own ones count. */
#include "shim/image/image.h"

#include <ctype.h>

static const char NAME[] = "<device runtime>";
static const char HEAD[] = ".version 6.0\n.target sm_60\n.address_size 64\n"
                           ".extern .func (.param .b64 r) malloc(.param .b64 size);\n"
                           ".extern .func free(.param .b64 at);\n";

/* Parameters are a, b, c …, the result is r. An H200 was asked what they return. */
typedef struct device_function {
    const char *name;
    const char *result, *parameters;
    const char *body;
} device_function;

/* The handle of a grid group is where its CTAs meet (session/runtime.c); 0 where the launch is not cooperative. */
#define CTAS \
    "mov.u32 %r0, %nctaid.x;\nmov.u32 %r1, %nctaid.y;\nmul.lo.u32 %r0, %r0, %r1;\n" \
    "mov.u32 %r1, %nctaid.z;\nmul.lo.u32 %r0, %r0, %r1;\n"
#define THREADS \
    "mov.u32 %r2, %ntid.x;\nmov.u32 %r3, %ntid.y;\nmul.lo.u32 %r2, %r2, %r3;\n" \
    "mov.u32 %r3, %ntid.z;\nmul.lo.u32 %r2, %r2, %r3;\n"
#define RESULT(error) "st.param.b32 [r], " error ";\nret;\n"

/* Macros between strings: as stairs nobody could read them. */
/* clang-format off */

/* Arrivals are counted in the third word of that place; the last one begins the next round, which is the fourth. */
#define SYNCHRONIZE \
    "ld.param.b64 %d0, [a];\nld.param.b32 %r0, [b];\nsetp.eq.b64 %p0, %d0, 0;\nsetp.gt.or.u32 %p0, %r0, 1, %p0;\n" \
    "@!%p0 bra GOOD;\n" \
    RESULT("999") \
    "GOOD:\nbarrier.sync 0;\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %tid.y;\nor.b32 %r0, %r0, %r1;\n" \
    "mov.u32 %r1, %tid.z;\nor.b32 %r0, %r0, %r1;\nsetp.ne.u32 %p0, %r0, 0;\n@%p0 bra MET;\n" \
    CTAS \
    "sub.u32 %r0, %r0, 1;\nmembar.gl;\nld.volatile.global.u32 %r1, [%d0+12];\natom.global.add.u32 %r2, [%d0+8], 1;\n" \
    "setp.ne.u32 %p0, %r2, %r0;\n@%p0 bra WAIT;\nst.volatile.global.u32 [%d0+8], 0;\nmembar.gl;\n" \
    "red.global.add.u32 [%d0+12], 1;\nbra SEEN;\nWAIT:\nld.volatile.global.u32 %r2, [%d0+12];\n" \
    "setp.eq.u32 %p0, %r1, %r2;\n@%p0 bra WAIT;\nSEEN:\nmembar.gl;\nMET:\nbarrier.sync 0;\n" \
    RESULT("0")

/* A number goes where a parameter points, unless it is NULL. */
#define PUT(parameter, value, label) \
    "ld.param.b64 %d0, [" parameter "];\nsetp.eq.u64 %p0, %d0, 0;\n@%p0 bra " label ";\nst.u32 [%d0], " value \
    ";\n" label ":\n"
/* Behind code that leaves what is asked for in %r0: that, and one grid, or twice 0 where there is no group. */
#define TELL \
    "ld.param.b64 %d0, [c];\nsetp.ne.b64 %p0, %d0, 0;\nselp.b32 %r0, %r0, 0, %p0;\nselp.b32 %r1, 1, 0, %p0;\n" \
    "selp.b32 %r2, 0, 999, %p0;\n" \
    PUT("a", "%r0", "FIRST") \
    PUT("b", "%r1", "SECOND") \
    RESULT("%r2")

/* What a stream would do later is done at once: no launch can come between. */
#define EACH(what) \
    "mov.b64 %d3, 0;\nNEXT:\nsetp.ge.u64 %p0, %d3, %d2;\n@%p0 bra DONE;\n" \
    what \
    "add.u64 %d3, %d3, 1;\nbra NEXT;\nDONE:\n" \
    RESULT("0")
#define COPY \
    "ld.param.b32 %r0, [d];\nsetp.ne.u32 %p0, %r0, 3;\nsetp.ne.and.u32 %p0, %r0, 4, %p0;\n@!%p0 bra GOOD;\n" \
    RESULT("21") \
    "GOOD:\nld.param.b64 %d0, [a];\nld.param.b64 %d1, [b];\nld.param.b64 %d2, [c];\n" \
    EACH("add.u64 %d4, %d1, %d3;\nld.u8 %r0, [%d4];\nadd.u64 %d4, %d0, %d3;\nst.u8 [%d4], %r0;\n")
#define FILL \
    "ld.param.b64 %d0, [a];\nld.param.b32 %r0, [b];\nld.param.b64 %d2, [c];\n" \
    EACH("add.u64 %d4, %d0, %d3;\nst.u8 [%d4], %r0;\n")

/* clang-format on */

#define ALLOCATE \
    "ld.param.b64 %d0, [b];\n{\n.param .b64 size;\n.param .b64 at;\nst.param.b64 [size], %d0;\n" \
    "call (at), malloc, (size);\nld.param.b64 %d1, [at];\n}\nld.param.b64 %d0, [a];\nst.b64 [%d0], %d1;\n" \
    "setp.eq.u64 %p0, %d1, 0;\nselp.b32 %r0, 2, 0, %p0;\n" RESULT("%r0")
#define FREE "ld.param.b64 %d0, [a];\n{\n.param .b64 at;\nst.param.b64 [at], %d0;\ncall free, (at);\n}\n" RESULT("0")

#define A(type)      ".param ." type " a"
#define AB(a, b)     A(a) ", .param ." b " b"
#define ABC(a, b, c) AB(a, b) ", .param ." c " c"
#define B32          "(.param .b32 r) "
#define B64          "(.param .b64 r) "
/* Headers give what is of the host, too, another name for kernels; and streams of a thread's own are no others here. */
#define BOTH(name, ...) \
    {"cuda" name, __VA_ARGS__}, { "__cudaCDP2" name, __VA_ARGS__ }
static const device_function functions[] = {
    {"cudaCGGetIntrinsicHandle", B64, A("b32"),
     "mov.b32 %r0, %envreg1;\nmov.b32 %r1, %envreg2;\nmov.b64 %d0, {%r1, %r0};\nld.param.b32 %r2, [a];\n"
     "setp.eq.u32 %p0, %r2, 1;\nselp.b64 %d0, %d0, 0, %p0;\nst.param.b64 [r], %d0;\nret;\n"},
    {"cudaCGSynchronize", B32, AB("b64", "b32"), SYNCHRONIZE},
    {"cudaCGSynchronizeGrid", B32, AB("b64", "b32"), SYNCHRONIZE},
    {"cudaCGGetSize", B32, ABC("b64", "b64", "b64"), CTAS THREADS "mul.lo.u32 %r0, %r0, %r2;\n" TELL},
    {"cudaCGGetRank", B32, ABC("b64", "b64", "b64"),
     "mov.u32 %r0, %ctaid.z;\nmov.u32 %r1, %nctaid.y;\nmov.u32 %r3, %ctaid.y;\nmad.lo.u32 %r0, %r0, %r1, %r3;\n"
     "mov.u32 %r1, %nctaid.x;\nmov.u32 %r3, %ctaid.x;\nmad.lo.u32 %r0, %r0, %r1, %r3;\n"
     "mov.u32 %r1, %ntid.z;\nmov.u32 %r3, %tid.z;\nmad.lo.u32 %r0, %r0, %r1, %r3;\n"
     "mov.u32 %r1, %ntid.y;\nmov.u32 %r3, %tid.y;\nmad.lo.u32 %r0, %r0, %r1, %r3;\n"
     "mov.u32 %r1, %ntid.x;\nmov.u32 %r3, %tid.x;\nmad.lo.u32 %r0, %r0, %r1, %r3;\n" TELL},
    /* The handle of a condition is where its value lies (graph_condition.c of the driver). */
    {"cudaGraphSetConditional", "", AB("b64", "b32"),
     "ld.param.b64 %d0, [a];\nld.param.b32 %r0, [b];\nst.volatile.global.u32 [%d0], %r0;\nret;\n"},
    BOTH("Malloc", B32, AB("b64", "b64"), ALLOCATE),
    BOTH("Free", B32, A("b64"), FREE),
    BOTH("MemcpyAsync", B32, ABC("b64", "b64", "b64") ", .param .b32 d, .param .b64 e", COPY),
    BOTH("MemcpyAsync_ptsz", B32, ABC("b64", "b64", "b64") ", .param .b32 d, .param .b64 e", COPY),
    BOTH("MemsetAsync", B32, ABC("b64", "b32", "b64") ", .param .b64 d", FILL),
    BOTH("MemsetAsync_ptsz", B32, ABC("b64", "b32", "b64") ", .param .b64 d", FILL),
};

/* ---- Which of them a text names ---------------------------------------------------------------------------------- */

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static const device_function *find(lw_bytes name) {
    for (size_t i = 0; i < LW_COUNT(functions); i++)
        if (strlen(functions[i].name) == name.size && !memcmp(functions[i].name, name.at, name.size))
            return &functions[i];
    return NULL;
}

/* Whether a name ends a declaration of what is elsewhere, so far as statements go: the text's own things may have any
 * name. */
static bool is_extern(const char *text, const char *name) {
    static const char word[] = ".extern";
    const char *from = name;
    while (from > text && !strchr(";{}", from[-1])) from--;
    const char *found = strstr(from, word);
    return found && found + strlen(word) <= name;
}

/* All have "cuda" in their names; of a text, with a NUL behind it, each is marked that it needs. True: there is one. */
static bool mark(const char *text, bool named[LW_COUNT(functions)]) {
    bool any = false;
    for (const char *from, *at = text; (at = strstr(at, "cuda"));) {
        for (from = at; from > text && in_name(from[-1]);) from--;
        while (in_name(*at)) at++;
        const device_function *found = find((lw_bytes){from, (size_t)(at - from)});
        if (found && is_extern(text, from)) any = named[found - functions] = true;
    }
    return any;
}

static void define(lw_text *to, const device_function *function) {
    lw_text_printf(to, ".weak .func %s%s(%s)\n{\n.reg .b64 %%d<5>;\n.reg .b32 %%r<4>;\n.reg .pred %%p0;\n%s}\n",
                   function->result, function->name, function->parameters, function->body);
}

lw_image_result lw_image_add_runtime(lw_code_image *image) {
    bool named[LW_COUNT(functions)] = {false}, any = false;
    for (uint32_t i = 0; i < image->count; i++) {
        if (!strcmp(image->texts[i].name, NAME)) return LW_IMAGE_OK; /* a linker has seen to it */
        any |= mark(image->texts[i].text, named);
    }
    if (!any) return LW_IMAGE_OK;
    lw_text text = {0};
    lw_text_puts(&text, HEAD);
    for (size_t i = 0; i < LW_COUNT(functions); i++)
        if (named[i]) define(&text, &functions[i]);
    const lw_image_result result = text.failed ? LW_IMAGE_NO_MEMORY
                                               : lw_image_add(image, NAME, (lw_bytes){text.at, text.size});
    lw_text_free(&text);
    return result;
}
