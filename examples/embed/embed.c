/* Embeds Lanewise: adds two vectors with a kernel that is part of this program, then shows what a fault looks like.
 *
 *     cc embed.c $(pkg-config --cflags --libs lanewise) && ./a.out
 *
 * With LD_LIBRARY_PATH=PREFIX/lib, where Lanewise is not installed in a place that the loader searches. */
#include <lanewise/lanewise.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000, BLOCK = 128 };

static const char add_ptx[] = ".version 7.0\n"
                              ".target sm_70\n"
                              ".address_size 64\n"
                              ".visible .entry add(.param .u64 sum, .param .u64 a, .param .u64 b, .param .u32 count)\n"
                              "{\n"
                              "    .reg .pred %p;\n"
                              "    .reg .b32 %i, %n, %x, %y;\n"
                              "    .reg .b64 %pa, %pb, %ps, %o;\n"
                              "    mov.u32 %i, %ctaid.x;\n"
                              "    mov.u32 %n, %ntid.x;\n"
                              "    mov.u32 %x, %tid.x;\n"
                              "    mad.lo.u32 %i, %i, %n, %x;\n"
                              "    ld.param.u32 %n, [count];\n"
                              "    setp.ge.u32 %p, %i, %n;\n"
                              "    @%p bra done;\n"
                              "    mul.wide.u32 %o, %i, 4;\n"
                              "    ld.param.u64 %pa, [a];\n"
                              "    ld.param.u64 %pb, [b];\n"
                              "    ld.param.u64 %ps, [sum];\n"
                              "    add.u64 %pa, %pa, %o;\n"
                              "    add.u64 %pb, %pb, %o;\n"
                              "    add.u64 %ps, %ps, %o;\n"
                              "    ld.global.u32 %x, [%pa];\n"
                              "    ld.global.u32 %y, [%pb];\n"
                              "    add.u32 %x, %x, %y;\n"
                              "    st.global.u32 [%ps], %x;\n"
                              "done:\n"
                              "    ret;\n"
                              "}\n";

/* Says which drawer the reason is in, and shows it. Returns whether all was well. */
static bool well(lw_context *context, lw_module *module, lw_status status, const char *what) {
    if (status == LW_OK) return true;
    const char *why = lw_context_message(context);
    if (status == LW_BAD_SOURCE) why = lw_module_diagnostics(module, false);
    lw_trap_info trap;
    if (status == LW_TRAPPED && lw_trap(context, &trap)) why = trap.report;
    fprintf(stderr, "%s: %s\n%s\n", what, lw_status_name(status), why);
    return false;
}

/* Device memory with the contents of `words`, or zeros where that is NULL. */
static lw_status upload(lw_context *context, const uint32_t *words, uint64_t *address) {
    lw_status status = lw_memory_new(context, COUNT * sizeof *words, address);
    if (status != LW_OK || !words) return status;
    return lw_memory_write(context, *address, words, COUNT * sizeof *words);
}

static lw_status launch(lw_kernel *kernel, uint64_t sum, uint64_t a, uint64_t b, uint32_t count,
                        lw_launch_stats *stats) {
    lw_launch_config config = {.grid = {(count + BLOCK - 1) / BLOCK, 1, 1}, .block = {BLOCK, 1, 1}};
    return lw_launch(kernel, &config, (void *[]){&sum, &a, &b, &count}, stats);
}

static bool add_vectors(lw_context *context, lw_module *module, lw_kernel *kernel) {
    uint32_t a[COUNT], b[COUNT], sum[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) a[i] = i * i, b[i] = 7 - i;

    uint64_t device_a, device_b, device_sum;
    lw_launch_stats stats;
    if (!well(context, module, upload(context, a, &device_a), "a")) return false;
    if (!well(context, module, upload(context, b, &device_b), "b")) return false;
    if (!well(context, module, upload(context, NULL, &device_sum), "sum")) return false;
    if (!well(context, module, launch(kernel, device_sum, device_a, device_b, COUNT, &stats), "launch")) return false;
    if (!well(context, module, lw_memory_read(context, device_sum, sum, sizeof sum), "read")) return false;

    for (uint32_t i = 0; i < COUNT; i++)
        if (sum[i] != a[i] + b[i]) return fprintf(stderr, "sum %u is %u, not %u\n", i, sum[i], a[i] + b[i]), false;
    printf("%d sums are right; %llu lane-instructions in %llu CTAs on CPU level %s\n", COUNT,
           (unsigned long long)stats.lane_instructions, (unsigned long long)stats.ctas, lw_context_cpu(context));

    /* Without the second vector the kernel traps; this program does not. */
    lw_status status = launch(kernel, device_sum, device_a, 0, COUNT, NULL);
    lw_trap_info trap;
    if (status != LW_TRAPPED || !lw_trap(context, &trap)) return fprintf(stderr, "a null buffer did not trap\n"), false;
    printf("without b: %s, line %u, thread %u of CTA %u\n", trap.message, trap.line, trap.thread[0], trap.cta[0]);
    return true;
}

int main(void) {
    lw_context *context = NULL;
    lw_module *module = NULL;
    lw_kernel *kernel;
    lw_status status = lw_context_new(NULL, &context);
    if (status != LW_OK) return fprintf(stderr, "no context: %s\n", lw_status_name(status)), 1;

    bool good = well(context, module, lw_module_new(context, "add.ptx", add_ptx, strlen(add_ptx), &module), "module") &&
                well(context, module, lw_module_kernel(module, "add", &kernel), "kernel") &&
                add_vectors(context, module, kernel);
    lw_context_free(context); /* with the module and the memory */
    return good ? 0 : 1;
}
