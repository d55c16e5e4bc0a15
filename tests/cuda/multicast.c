/* multicast.c: memory of three devices at one address: what multimem does with it, beside a model of the manual's text
 * (9.7.9.14), and the calls that make it. Like driver.c it knows nothing of Lanewise; with an argument, what ends a
 * launch. */
#include "expect.h"

#include <math.h>
#include <stdlib.h>

enum { DEVICES = 3, LANES = 32, ROOM = 16 * LANES };

static CUcontext contexts[DEVICES];
static CUmemGenericAllocationHandle memories[DEVICES], object;
static CUdeviceptr each[DEVICES], all, out;  /* where memory is, of each device and of all */
static const int order[DEVICES] = {0, 2, 1}; /* in which they become a team */
static size_t unit;

/* ---- What comes of it -------------------------------------------------------------------------------------------- */

/* Of numbers: bits of the significand, the least exponent, the largest number. */
typedef struct format {
    int size, precision, least;
    double most;
    bool saturates;
} format;

static const format formats[] = {
    ['h'] = {16, 11, -14, 65504, false}, ['b'] = {16, 8, -126, 3.38953138925153547590e38, false},
    ['f'] = {32, 24, -126, 0, false},    ['d'] = {64, 53, -1022, 0, false},
    ['4'] = {8, 4, -6, 448, true},       ['5'] = {8, 3, -14, 57344, true}};

/* kind: of format, or u, s, x (bits). */
typedef struct trial {
    const char *words, *type;
    char kind;
    unsigned size, count; /* bits of a register, and how many registers */
    const char *acc;
} trial;

static double value_of(uint64_t bits, char kind) {
    const format *f = &formats[(unsigned char)kind];
    float single;
    double number;
    const uint32_t word = (uint32_t)bits;
    if (kind == 'f') return memcpy(&single, &word, 4), single;
    if (kind == 'd') return memcpy(&number, &bits, 8), number;
    const int digits = f->precision - 1;
    const uint64_t sign = bits >> (f->size - 1) & 1, fraction = bits & ((1u << digits) - 1);
    const int exponent = (int)(bits >> digits & ((1u << (f->size - 1 - digits)) - 1));
    number = exponent ? ldexp(1 + ldexp((double)fraction, -digits), exponent - 1 + f->least)
                      : ldexp((double)fraction, f->least - digits);
    return sign ? -number : number;
}

/* To nearest, ties to even, by the host's own rounding. */
static double rounded(double x, const format *f) {
    int exponent;
    if (x == 0 || !isfinite(x)) return x;
    frexp(x, &exponent);
    if (exponent - 1 < f->least) exponent = f->least + 1;
    x = ldexp(nearbyint(ldexp(x, f->precision - exponent)), exponent - f->precision);
    if (f->most && fabs(x) > f->most) x = copysign(f->saturates ? f->most : INFINITY, x);
    return x;
}

static uint64_t bits_of(double x, char kind) {
    const format *f = &formats[(unsigned char)kind];
    uint64_t bits = 0;
    float single = (float)x;
    if (kind == 'f') return memcpy(&bits, &single, 4), bits;
    if (kind == 'd') return memcpy(&bits, &x, 8), bits;
    const int digits = f->precision - 1, all_ones = (1 << (f->size - 1 - digits)) - 1;
    int exponent;
    const double fraction = frexp(fabs(x), &exponent);
    if (isinf(x)) bits = (uint64_t)all_ones << digits;
    else if (x != 0 && exponent - 1 >= f->least)
        bits = ((uint64_t)(exponent - f->least) << digits) + (uint64_t)ldexp(fraction, f->precision) - (1u << digits);
    else bits = (uint64_t)ldexp(fabs(x), digits - f->least);
    return bits | (uint64_t)(signbit(x) != 0) << (f->size - 1);
}

static int64_t extended(uint64_t x, unsigned size) { return size == 64 ? (int64_t)x : (int64_t)(int32_t)x; }

static bool is(const trial *t, const char *word) { return !strcmp(t->words, word); }

static uint64_t whole(const trial *t, uint64_t a, uint64_t b) {
    const bool less = t->kind == 's' ? extended(a, t->size) < extended(b, t->size) : a < b;
    if (is(t, "add")) return a + b;
    if (is(t, "and")) return a & b;
    if (is(t, "or")) return a | b;
    if (is(t, "xor")) return a ^ b;
    return is(t, "min") == less ? a : b;
}

/* In the order of the devices, rounded each time to the type, or to the wider one and at the end. */
static uint64_t combined(const trial *t, const uint64_t *from, unsigned count, unsigned size) {
    if (strchr("usx", t->kind)) {
        uint64_t result = from[0];
        for (unsigned i = 1; i < count; i++) result = whole(t, result, from[i]);
        return size == 64 ? result : result & ((1ull << size) - 1);
    }
    const format *own = &formats[(unsigned char)t->kind],
                 *in = !*t->acc ? own : &formats[strstr(t->acc, "f32") ? 'f' : 'h'];
    double result = value_of(from[0], t->kind);
    for (unsigned i = 1; i < count; i++) {
        const double b = value_of(from[i], t->kind);
        if (is(t, "add")) result = rounded(result + b, in);
        else if (result == b) result = signbit(result) == is(t, "min") ? result : b; /* -0 is below 0 */
        else result = (result < b) == is(t, "min") ? result : b;
    }
    return bits_of(rounded(result, own), t->kind);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static const char head[] =
    ".version 8.7\n.target sm_100a\n.address_size 64\n"
    ".visible .entry k(.param .u64 all, .param .u64 out)\n{\n.reg .b64 %a, %o, %t;\n.reg .b32 %n;\n"
    "ld.param.u64 %a, [all]; ld.param.u64 %o, [out]; mov.u32 %n, %tid.x;\n"
    "mul.wide.u32 %t, %n, 16; add.u64 %a, %a, %t; add.u64 %o, %o, %t;\n";

/* what: ld_reduce, st or red. */
static void write_kernel(const trial *t, const char *what, char *text, size_t size) {
    const bool loads = !strcmp(what, "ld_reduce");
    const char *modifier[] = {"", "", ".v2", "", ".v4", "", "", "", ".v8"};
    char list[200] = "";
    for (unsigned i = 0; i < t->count; i++) sprintf(list + strlen(list), "%s%%e%u", i ? ", " : "", i);
    int n = snprintf(text, size, "%s.reg .b%u %%e<8>;\n", head, t->size);
    for (unsigned i = 0; !loads && i < t->count; i++)
        n += snprintf(text + n, size - (size_t)n, "ld.global.b%u %%e%u, [%%o+%u];\n", t->size, i, i * t->size / 8);
    n += snprintf(text + n, size - (size_t)n, "multimem.%s%s%s%s%s%s.%s ", what,
                  loads ? ".relaxed.sys.global" : ".global", *what == 's' ? "" : ".", *what == 's' ? "" : t->words,
                  loads ? t->acc : "", modifier[t->count > 1 ? t->count : 0], t->type);
    const char *open = t->count > 1 ? "{" : "", *close = t->count > 1 ? "}" : "";
    if (loads) n += snprintf(text + n, size - (size_t)n, "%s%s%s, [%%a];\n", open, list, close);
    else n += snprintf(text + n, size - (size_t)n, "[%%a], %s%s%s;\n", open, list, close);
    for (unsigned i = 0; loads && i < t->count; i++)
        n += snprintf(text + n, size - (size_t)n, "st.global.b%u [%%o+%u], %%e%u;\n", t->size, i * t->size / 8, i);
    snprintf(text + n, size - (size_t)n, "ret;\n}\n");
}

static CUresult run(const char *text, CUdeviceptr at) {
    CUmodule module;
    CUfunction kernel;
    CUresult result = cuModuleLoadData(&module, text);
    if (result) return printf("%s", text), result;
    OK(cuModuleGetFunction(&kernel, module, "k"));
    void *arguments[] = {&at, &out};
    OK(cuLaunchKernel(kernel, 1, 1, 1, LANES, 1, 1, 0, NULL, arguments, NULL));
    result = cuCtxSynchronize();
    if (!result) OK(cuModuleUnload(module));
    return result;
}

/* ---- Trials ------------------------------------------------------------------------------------------------------ */

static uint64_t get(const unsigned char *from, unsigned bits) {
    uint64_t value = 0;
    memcpy(&value, from, bits / 8);
    return value;
}

/* Numbers that are ones, near each other, in each element. */
static void fill(const trial *t, unsigned char *bytes) {
    const unsigned element = strchr("usx", t->kind) ? t->size : (unsigned)formats[(unsigned char)t->kind].size;
    for (unsigned i = 0; i < ROOM; i++) bytes[i] = (unsigned char)(rand() >> 7);
    if (strchr("usx", t->kind)) return;
    for (unsigned at = 0; at < ROOM; at += element / 8) {
        const int near = t->kind == '4' || t->kind == '5' ? 12 : t->kind == 'h' ? 24 : 40;
        const double x = ldexp((double)rand() / RAND_MAX - 0.5, rand() % near - near / 2);
        const uint64_t bits = bits_of(rand() % 16  ? rounded(x, &formats[(unsigned char)t->kind])
                                      : rand() % 2 ? -0.0
                                                   : 0.0,
                                      t->kind);
        memcpy(bytes + at, &bits, element / 8);
    }
}

static void check(const trial *t, const char *what, const unsigned char (*before)[ROOM], const unsigned char *given) {
    static unsigned char got[ROOM];
    const unsigned element = strchr("usx", t->kind) ? t->size : (unsigned)formats[(unsigned char)t->kind].size,
                   bytes = t->size * t->count / 8;
    const bool loads = !strcmp(what, "ld_reduce"), stores = !strcmp(what, "st");
    int wrong = 0;
    for (int device = 0; device < (loads ? 1 : DEVICES); device++) {
        OK(cuMemcpyDtoH_v2(got, loads ? out : each[device], ROOM));
        for (unsigned at = 0; at < ROOM; at += element / 8) {
            uint64_t from[DEVICES], wanted;
            for (int i = 0; i < DEVICES; i++) from[i] = get(before[order[i]] + at, element);
            if (at % 16 >= bytes) continue;
            if (!loads) from[0] = get(before[device] + at, element), from[1] = get(given + at, element);
            wanted = stores ? from[1] : combined(t, from, loads ? DEVICES : 2, element);
            if (get(got + at, element) != wanted && !wrong++)
                printf("%s.%s%s.%s: %llx, not %llx of %llx %llx %llx\n", what, t->words, t->acc, t->type,
                       (unsigned long long)get(got + at, element), (unsigned long long)wanted,
                       (unsigned long long)from[0], (unsigned long long)from[1], (unsigned long long)from[2]);
        }
    }
    faults += wrong != 0;
}

static void try(const trial *t, const char *what) {
    static unsigned char before[DEVICES][ROOM], given[ROOM];
    char text[4000];
    for (int i = 0; i < DEVICES; i++) {
        fill(t, before[i]);
        OK(cuMemcpyHtoD_v2(each[i], before[i], ROOM));
    }
    fill(t, given);
    OK(cuMemcpyHtoD_v2(out, given, ROOM));
    write_kernel(t, what, text, sizeof text);
    OK(run(text, all));
    check(t, what, (const unsigned char(*)[ROOM])before, given);
}

static const trial trials[] = {
    {"add", "u32", 'u', 32, 1, ""},
    {"add", "u64", 'u', 64, 1, ""},
    {"add", "s32", 's', 32, 1, ""},
    {"min", "u32", 'u', 32, 1, ""},
    {"min", "s32", 's', 32, 1, ""},
    {"max", "s64", 's', 64, 1, ""},
    {"max", "u64", 'u', 64, 1, ""},
    {"and", "b32", 'x', 32, 1, ""},
    {"or", "b64", 'x', 64, 1, ""},
    {"xor", "b32", 'x', 32, 1, ""},
    {"add", "f32", 'f', 32, 1, ""},
    {"add", "f32", 'f', 32, 2, ""},
    {"add", "f32", 'f', 32, 4, ""},
    {"add", "f64", 'd', 64, 1, ""},
    {"add", "f16", 'h', 16, 2, ""},
    {"add", "f16", 'h', 16, 8, ""},
    {"add", "bf16", 'b', 16, 4, ""},
    {"add", "f16x2", 'h', 32, 1, ""},
    {"add", "bf16x2", 'b', 32, 4, ""},
    {"add", "f16", 'h', 16, 4, ".acc::f32"},
    {"add", "bf16x2", 'b', 32, 2, ".acc::f32"},
    {"min", "f16", 'h', 16, 8, ""},
    {"max", "bf16", 'b', 16, 2, ""},
    {"max", "f16x2", 'h', 32, 2, ""},
    {"min", "bf16x2", 'b', 32, 1, ""},
    {"add", "e4m3", '4', 8, 8, ""},
    {"add", "e5m2", '5', 8, 4, ""},
    {"add", "e4m3x2", '4', 16, 8, ""},
    {"add", "e5m2x4", '5', 32, 4, ""},
    {"add", "e4m3x4", '4', 32, 1, ".acc::f16"},
    {"add", "e5m2", '5', 8, 8, ".acc::f16"},
    {"add", "e5m2x2", '5', 16, 2, ".acc::f16"},
    {"min", "e4m3", '4', 8, 4, ""},
    {"max", "e5m2x2", '5', 16, 4, ""},
    {"max", "e4m3x4", '4', 32, 2, ""},
};

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void make(void) {
    CUmulticastObjectProp props = {.numDevices = DEVICES, .size = 1 << 20};
    const CUmulticastObjectProp many = {.numDevices = 99, .size = 1 << 21};
    CUmemAccessDesc access[DEVICES];
    OK(cuMulticastGetGranularity(&unit, &props, CU_MULTICAST_GRANULARITY_MINIMUM));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&object, &props)); /* half a unit */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastCreate(&object, &many));
    props.size = 2 * unit;
    OK(cuMulticastCreate(&object, &props));
    for (int i = 0; i < DEVICES; i++) {
        const CUmemAllocationProp of = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                        .location = {CU_MEM_LOCATION_TYPE_DEVICE, i}};
        access[i] = (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, i}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        OK(cuMemCreate(&memories[i], 2 * unit, &of, 0));
    }
    OK(cuMulticastAddDevice(object, order[0]));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastAddDevice(object, 0));
    if (is_ours()) GIVES(CUDA_ERROR_ILLEGAL_STATE, cuMulticastBindMem(object, 0, memories[0], 0, unit, 0));
    for (int i = 1; i < DEVICES; i++) OK(cuMulticastAddDevice(object, order[i]));
    for (int i = 0; i < DEVICES; i++) {
        OK(cuMemAddressReserve(&each[i], 2 * unit, 0, 0, 0));
        OK(cuMemMap(each[i], 2 * unit, 0, memories[i], 0));
        OK(cuMemSetAccess(each[i], 2 * unit, access, DEVICES));
    }
    OK(cuMulticastBindMem(object, unit, memories[0], unit, unit, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memories[0], 0, 2 * unit, 0)); /* some of it twice */
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, memories[0], unit, 2 * unit, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, 0, object, 0, unit, 0));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastBindMem(object, unit / 2, memories[1], 0, unit, 0));
    OK(cuMemAddressReserve(&all, 2 * unit, 0, 0, 0));
    OK(cuMemMap(all, unit, unit, object, 0));
    OK(cuMemSetAccess(all, unit, access, DEVICES));
    OK(cuMulticastBindAddr(object, 0, each[1], 2 * unit, 0)); /* behind the mapping as well as in front of it */
    OK(cuMulticastBindMem(object, unit, memories[2], unit, unit, 0));
    for (int i = 0; i < DEVICES; i++) each[i] += unit;
}

/* The memory is still bound when its own handle is gone, and the object mapped. */
static void end(void) {
    OK(cuMemRelease(object));
    for (int i = 0; i < DEVICES; i++) {
        OK(cuMemUnmap(each[i] - unit, 2 * unit));
        OK(cuMemRelease(memories[i]));
    }
    OK(cuMemcpyHtoD_v2(out, (unsigned char[ROOM]){1, 2}, ROOM));
    static const trial adds = {"add", "u32", 'u', 32, 1, ""};
    char text[4000];
    uint32_t sum = 0;
    write_kernel(&adds, "st", text, sizeof text);
    OK(run(text, all));
    write_kernel(&adds, "ld_reduce", text, sizeof text);
    OK(run(text, all));
    OK(cuMemcpyDtoH_v2(&sum, out, 4));
    EXPECT(sum == DEVICES * 0x201);
    OK(cuMemUnmap(all, unit));
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 0, unit, unit)); /* it is no handle any more */
    OK(cuMemAddressFree(all, 2 * unit));
}

/* One device's memory is gone; or an access that is no multimem. */
static void fault(const char *which) {
    static const trial adds = {"add", "u32", 'u', 32, 1, ""};
    char text[4000];
    write_kernel(&adds, !strcmp(which, "reduce") ? "red" : "ld_reduce", text, sizeof text);
    if (!strcmp(which, "unbound")) OK(cuMulticastUnbind(object, 1, 0, 2 * unit));
    if (!strcmp(which, "reduce")) all = each[0];
    if (!strcmp(which, "plain"))
        memcpy(strstr(text, "multimem.ld_reduce.relaxed.sys.global.add.u32"),
               "ld.relaxed.sys.global.u32                    ", 45);
    GIVES(CUDA_ERROR_ILLEGAL_ADDRESS, run(text, all));
}

int main(int count, char **arguments) {
    int value = 0;
    OK(cuInit(0));
    for (int i = 0; i < DEVICES; i++) OK(cuDevicePrimaryCtxRetain(&contexts[i], i));
    OK(cuCtxSetCurrent(contexts[0]));
    OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    EXPECT(value == 1);
    make();
    OK(cuMemAlloc_v2(&out, ROOM));
    if (count > 1) {
        fault(arguments[1]);
        printf(faults ? "%d faults\n" : "ok\n", faults);
        return faults != 0;
    }
    if (is_ours()) GIVES(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD_v2(all, &value, 4)); /* only multimem reaches it */
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        const trial *t = &trials[i];
        try(t, "ld_reduce");
        if (!*t->acc && t->kind != 's') try(t, "st");
        if (!*t->acc && t->kind != '4' && t->kind != '5' && (is(t, "add") || strchr("usx", t->kind))) try(t, "red");
    }
    OK(cuCtxSetCurrent(contexts[1])); /* kernels of any device */
    try(&trials[0], "ld_reduce");
    GIVES(CUDA_ERROR_INVALID_VALUE, cuMulticastUnbind(object, 1, 0, unit)); /* not as it was bound */
    OK(cuMulticastUnbind(object, 1, 0, 2 * unit));
    OK(cuMulticastBindMem(object, unit, memories[1], unit, unit, 0));
    try(&trials[1], "red");
    end();
    printf(faults ? "%d faults\n" : "ok\n", faults);
    return faults != 0;
}
