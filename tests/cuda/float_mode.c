/* float_mode.c: the floating-point environment of a program changes no result of the driver, and the driver does not
 * change it; host functions of streams run in it. */
#include "../host_modes.h"
#include "expect.h"

static const char *ptx =
    ".version 7.0\n.target sm_70\n.address_size 64\n.global .f32 tenth = 0.1;\n.visible .entry k(.param .u64 out)\n{\n"
    ".reg .b32 %r<4>;\n.reg .b64 %d<3>;\n.reg .f32 %f<4>;\n.reg .f64 %x<2>;\n"
    "ld.param.u64 %d0, [out];\nmov.u32 %r0, %ctaid.x;\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r0, 5;\nadd.u32 %r2, %r2, "
    "%r1;\n"
    "mul.wide.u32 %d1, %r2, 16;\nadd.u64 %d1, %d0, %d1;\ncvt.rn.f32.u32 %f0, %r2;\nadd.rn.f32 %f0, %f0, 0f3F800000;\n"
    "mul.rn.f32 %f1, %f0, 1e-41;\nst.global.f32 [%d1], %f1;\ndiv.rn.f32 %f1, %f0, 3.0;\nst.global.f32 [%d1+4], %f1;\n"
    "ld.global.f32 %f2, [tenth];\nadd.rn.f32 %f2, %f2, %f0;\nsub.rn.f32 %f3, %f0, %f0;\ndiv.rn.f32 %f3, %f2, %f3;\n"
    "st.global.f32 [%d1+8], %f2;\nst.global.f32 [%d1+12], %f3;\nret;\n}\n";

enum { CTAS = 8, WORDS = CTAS * 32 * 4 };

/* A call, after which all is as it was before. */
#define KEEPS(call) \
    do { \
        host_state before_ = host_state_now(); \
        CUresult result_ = (call); \
        host_state after_ = host_state_now(); \
        if (result_ || !host_same(before_, after_)) { \
            host_usual(); \
            faults++, printf("%s:%d: in '%s': result %d, or another state: %s\n", __FILE__, __LINE__, mode, \
                             (int)result_, #call); \
        } \
    } while (0)

static void look(void *user) { *(host_state *)user = host_state_now(); }

static void use(const char *mode, unsigned *words) {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUevent from, to;
    CUdeviceptr at;
    float milliseconds, wall = 0;
    CUjit_option options[] = {CU_JIT_WALL_TIME};
    void *values[] = {NULL};
    host_state seen = {{0}}, now;
    KEEPS(cuInit(0));
    KEEPS(cuCtxCreate_v2(&context, 0, 0));
    KEEPS(cuModuleLoadDataEx(&module, ptx, 1, options, values));
    memcpy(&wall, values, sizeof wall);
    KEEPS(cuModuleGetFunction(&function, module, "k"));
    KEEPS(cuMemAlloc_v2(&at, WORDS * 4));
    KEEPS(cuEventCreate(&from, 0));
    KEEPS(cuEventCreate(&to, 0));
    KEEPS(cuEventRecord(from, NULL));
    for (int i = 0; i < 3; i++) KEEPS(cuLaunchKernel(function, CTAS, 1, 1, 32, 1, 1, 0, NULL, (void *[]){&at}, NULL));
    KEEPS(cuEventRecord(to, NULL));
    KEEPS(cuEventSynchronize(to));
    KEEPS(cuEventElapsedTime(&milliseconds, from, to));
    KEEPS(cuMemcpyDtoH_v2(words, at, WORDS * 4));
    KEEPS(cuLaunchHostFunc(NULL, look, &seen));
    KEEPS(cuCtxDestroy_v2(context));
    host_usual(); /* that of a thread nobody has touched: the driver's own */
    now = host_state_now();
    EXPECT(host_same(seen, now));
    EXPECT(milliseconds >= 0);
    EXPECT(wall >= 0);
}

int main(int argc, char **argv) {
    static unsigned wanted[WORDS], got[WORDS];
    const host_state at_start = host_state_now();
    host_usual();
    EXPECT(host_same(at_start, host_state_now()));     /* the driver, which is loaded now, has set nothing */
    const int first = argc > 1 ? argv[1][0] - '0' : 0; /* what the process begins in, when it makes workers */
    if (first < HOST_MODES) host_modes[first].set();
    use("the first", got);
    use("the usual one", wanted);
    EXPECT(!memcmp(wanted, got, sizeof wanted));
    EXPECT(wanted[0] == 0x00001be0); /* 1e-41 */
    EXPECT(wanted[1] == 0x3eaaaaab); /* a third */
    EXPECT(wanted[2] == 0x3f8ccccd); /* 1.1 */
    EXPECT(wanted[3] == 0x7f800000); /* by 0 */
    for (int m = 0; m < HOST_MODES; m++) {
        host_modes[m].set();
        use(host_modes[m].name, got);
        EXPECT(!memcmp(wanted, got, sizeof wanted));
    }
    return faults != 0;
}
