/* near.c: names that look alike, for messages that say what may have been meant. */
#include "base/base.h"

unsigned lw_edits(const char *a, size_t m, const char *b, size_t n) {
    enum { MOST = 32 };
    unsigned d[MOST][MOST];
    if (m >= MOST || n >= MOST) return MOST;
    for (size_t i = 0; i <= m; i++)
        for (size_t j = 0; j <= n; j++) {
            if (!i || !j) {
                d[i][j] = (unsigned)(i + j);
                continue;
            }
            unsigned best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            if (d[i - 1][j] + 1 < best) best = d[i - 1][j] + 1;
            if (d[i][j - 1] + 1 < best) best = d[i][j - 1] + 1;
            bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && d[i - 2][j - 2] + 1 < best) best = d[i - 2][j - 2] + 1;
            d[i][j] = best;
        }
    return d[m][n];
}

const char *lw_nearest(const char *word, const char *const *names, size_t count) {
    const char *found = NULL;
    size_t size = strlen(word);
    unsigned best = size < 4 ? 2 : 3; /* more than this is no likeness */
    for (size_t i = 0; i < count; i++) {
        size_t other = strlen(names[i]);
        if (other >= size + best || size >= other + best) continue;
        unsigned far = lw_edits(word, size, names[i], other);
        if (far < best && far < other) {
            best = far;
            found = names[i];
        }
    }
    return found;
}

void lw_say_nearest(lw_text *out, const char *word, const char *const *names, size_t count) {
    const char *near = lw_nearest(word, names, count);
    if (near) lw_text_say(out, "; did you mean '%s'?", near);
}
