/* progress.c: the progress bar of long runs, and how big numbers are printed. */
#include <stdlib.h>
#include <unistd.h>

#include "session/environment.h"
#include "tool/tool.h"

/* ---- Numbers ------------------------------------------------------------------------------------------ */

void lw_print_count(lw_text *out, uint64_t count) {
    if (count >= 1000) {
        lw_print_count(out, count / 1000);
        lw_text_printf(out, ",%03u", (unsigned)(count % 1000));
    } else {
        lw_text_printf(out, "%u", (unsigned)count);
    }
}

void lw_print_scaled(lw_text *out, double value) {
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    size_t unit = 0;
    while (value >= 999.5 && unit + 1 < LW_COUNT(units)) {
        value /= 1000;
        unit++;
    }
    lw_text_printf(out, value < 9.995 ? "%.2f%s" : value < 99.95 ? "%.1f%s" : "%.0f%s", value, units[unit]);
}

/* ---- The bar ------------------------------------------------------------------------------------------ */

enum { BAR_WIDTH = 24 };
static const double bar_delay = 0.5; /* seconds: a short run shows none */

bool lw_bar_wanted(void) {
    const char *term = lw_environment(LW_ENV_terminal);
    return isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

void lw_bar_show(void *user, const lw_progress *now) {
    lw_bar *bar = user;
    if (now->seconds < bar_delay || !now->ctas) return;
    double part = (double)now->ctas_done / (double)now->ctas;
    int full = (int)(part * BAR_WIDTH);
    lw_text line = {0};
    lw_text_puts(&line, "\r[");
    for (int i = 0; i < BAR_WIDTH; i++) lw_text_puts(&line, i < full ? "#" : ".");
    lw_text_printf(&line, "] %3d%%  ", (int)(part * 100));
    lw_print_scaled(&line, (double)now->lane_instructions / now->seconds);
    lw_text_printf(&line, " lane-instructions/s  %.1f s\33[K", now->seconds);
    fputs(line.at ? line.at : "", stderr);
    fflush(stderr);
    lw_text_free(&line);
    bar->shown = true;
}

void lw_bar_clear(lw_bar *bar) {
    if (bar->shown) fputs("\r\33[K", stderr);
    bar->shown = false;
}
