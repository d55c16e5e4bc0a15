/* notation.c: the operands of a row of isa/ptx/forms.def as the manual writes them, without the marks that only the
 * table needs. */
#include "front/ptx/ptx.h"

static size_t name_size(const char *p) {
    size_t n = 0;
    while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') || (p[n] >= '0' && p[n] <= '9') ||
           p[n] == '-' || p[n] == '_')
        n++;
    return n;
}

/* One attribute behind ':' or ';': its word, and the range in ( ) behind it. */
static const char *behind_attribute(const char *p) {
    p += strcspn(p, ":;,?|({})] ");
    return *p == '(' ? strchr(p, ')') + 1 : p;
}

void lw_ptx_print_operands(lw_text *out, const lw_form *form) {
    for (const char *p = form->operands; *p;) {
        size_t size = name_size(p);
        if (size == 3 && p[size] == '(') { /* vec(a) */
            p += size + 1;
        } else if (size && !strncmp(p + size, ":sink", 5)) {
            lw_text_puts(out, "_");
            p += size + 5;
        } else if (size) {
            lw_text_add(out, p, size);
            p += size;
        } else if (*p == ':' || *p == ';') {
            p = behind_attribute(p + 1);
        } else if (*p == '.') { /* .sel */
            p += 1 + name_size(p + 1);
        } else {
            if (*p != '?' && *p != ')') lw_text_add(out, p, 1);
            p++;
        }
    }
}

/* What an attribute tells about the constants and registers that fit; nothing about the table's own marks. */
static void print_attribute(lw_text *out, const char *p, const char *name, size_t size) {
    size_t n = strcspn(p, ":;,?|({})] ");
    bool is_type = lw_type_find(p, (uint32_t)n) != LW_T_none;
    bool is_group = *p == '$' && n == 2, is_wide = n == 4 && !memcmp(p, "wide", n), is_list = p[n] == '(';
    bool is_constant = n == 3 && !memcmp(p, "imm", n);
    if (!is_type && !is_group && !is_wide && !is_list && !is_constant) return;
    const char *before = out->size ? ", " : "";
    if (is_type) lw_text_printf(out, "%s%.*s .%.*s", before, (int)size, name, (int)n, p);
    if (is_group) lw_text_printf(out, "%s%.*s of the type of choice %c", before, (int)size, name, p[1]);
    if (is_wide) lw_text_printf(out, "%s%.*s twice as large", before, (int)size, name);
    if (is_constant) lw_text_printf(out, "%s%.*s a constant", before, (int)size, name);
    if (is_list && is_constant) lw_text_printf(out, " of %.*s", (int)strcspn(p + n + 1, ")"), p + n + 1);
    if (is_list && !is_constant)
        lw_text_printf(out, "%s%.*s within %.*s", before, (int)size, name, (int)strcspn(p + n + 1, ")"), p + n + 1);
}

void lw_ptx_print_types(lw_text *out, const lw_form *form) {
    const char *name = NULL;
    size_t size = 0;
    for (const char *p = form->operands; *p;) {
        size_t n = name_size(p);
        if (n) {
            name = p, size = n;
            p += n;
        } else if (*p == ':' || *p == ';') {
            if (name) print_attribute(out, p + 1, name, size);
            p = behind_attribute(p + 1);
        } else {
            p++;
        }
    }
}
