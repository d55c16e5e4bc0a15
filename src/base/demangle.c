/* demangle.c: names that C++ compilers give to functions, as people write them (Itanium C++ ABI, section 5.1).
 *
 * It knows what names of kernels are made of: namespaces, classes, templates, types, numbers, lambdas. Expressions,
 * operators and members' pointers are not understood, and such a name stays as it is. Everything is made in a room of
 * one size, and nesting is bounded, so that no name takes long or much. */
#include <stdio.h>
#include <stdlib.h>

#include "base/base.h"

enum { ROOM = 1 << 16, NUMBER = 16, DEPTH = 64, SUBSTITUTIONS = 256, ARGUMENTS = 64 };

typedef struct piece { /* of the room or of a constant */
    const char *at;
    uint32_t size;
} piece;

/* A type goes around what it is the type of: "void (*" and ")(int)". */
typedef struct type {
    piece before, behind;
    bool is_pack; /* several, with commas between */
} type;

typedef struct reader {
    const char *at;
    uint32_t used, depth, substitution_count, argument_count;
    bool failed;
    type substitutions[SUBSTITUTIONS], arguments[ARGUMENTS]; /* those of the function's own template */
    char room[ROOM];
} reader;

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

static piece text(const char *constant) { return (piece){constant, (uint32_t)strlen(constant)}; }

static bool fail(reader *r) {
    r->failed = true;
    r->at = "";
    return false;
}

static piece join(reader *r, piece a, piece b) {
    if (!a.size) return b;
    if (!b.size) return a;
    if (a.size + b.size > ROOM - NUMBER - r->used) return fail(r), text("");
    char *to = r->room + r->used;
    const bool last = a.at + a.size == to; /* it grows where it is: nobody has what stands behind it */
    if (last) to -= a.size;
    else memcpy(to, a.at, a.size), r->used += a.size;
    memcpy(to + a.size, b.at, b.size);
    r->used += b.size;
    return (piece){to, a.size + b.size};
}

static piece join3(reader *r, piece a, const char *b, piece c) { return join(r, join(r, a, text(b)), c); }
static bool ends(piece a, char c) { return a.size && a.at[a.size - 1] == c; }
static bool begins(piece a, char c) { return a.size && *a.at == c; }
static piece whole(reader *r, type t) { return join(r, t.before, t.behind); }

static bool take(reader *r, char c) { return *r->at == c ? r->at++, true : false; }
static bool take2(reader *r, const char *c) { return r->at[0] == c[0] && r->at[1] == c[1] ? r->at += 2, true : false; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static type add(reader *r, type t) {
    if (r->substitution_count < SUBSTITUTIONS) r->substitutions[r->substitution_count++] = t;
    else fail(r);
    return t;
}

static bool enter(reader *r) { return !r->failed && (++r->depth <= DEPTH || fail(r)); }

static type read_type(reader *r);
static type read_parameter(reader *r);
static piece read_name(reader *r, bool *is_template, bool outer);
static piece read_encoding(reader *r, piece *name, char end);

/* ---- Numbers ----------------------------------------------------------------------------------------------- */

/* "_" is 0, "0_" is 1, in base 36 or 10. */
static uint32_t read_number(reader *r, uint32_t base) {
    uint32_t value = 0;
    if (take(r, '_')) return 0;
    for (; !take(r, '_'); r->at++) {
        const char c = *r->at;
        const uint32_t digit = is_digit(c)            ? (uint32_t)(c - '0')
                               : c >= 'A' && c <= 'Z' ? (uint32_t)(c - 'A' + 10)
                                                      : base;
        if (digit >= base || value > 1 << 20) return fail(r), 0;
        value = value * base + digit;
    }
    return value + 1;
}

/* ---- Names without what they are in -------------------------------------------------------------------------- */

static piece read_source_name(reader *r) {
    uint32_t size = 0;
    while (is_digit(*r->at) && size < ROOM) size = size * 10 + (uint32_t)(*r->at++ - '0');
    if (!size || strnlen(r->at, size) < size) return fail(r), text("");
    const piece name = {r->at, size};
    r->at += size;
    const bool anonymous = size >= 10 && !memcmp(name.at, "_GLOBAL_", 8) && strchr("._$", name.at[8]) &&
                           name.at[9] == 'N';
    return anonymous ? text("(anonymous namespace)") : name;
}

static piece read_types(reader *r, char end) {
    piece all = text("");
    if (r->at[0] == 'v' && r->at[1] == end) return r->at++, all;
    if (*r->at == end) fail(r);
    while (*r->at && *r->at != end) {
        const bool pack = *r->at == 'D';
        const type t = read_type(r);
        const piece one = whole(r, t);
        if (t.is_pack || (one.size == 4 && !memcmp(one.at, "void", 4))) fail(r);
        if (pack && !one.size) continue;
        all = all.size ? join3(r, all, ", ", one) : one;
    }
    return all;
}

/* UlvE_: {lambda()#1} */
static piece read_lambda(reader *r) {
    const piece types = read_types(r, 'E');
    if (!take(r, 'E')) return fail(r), types;
    const uint32_t number = read_number(r, 10);
    const piece head = join(r, text("{lambda("), types);
    char *tail = r->room + ROOM - NUMBER;
    snprintf(tail, NUMBER, ")#%u}", number + 1);
    return join(r, head, text(tail));
}

static piece read_unqualified(reader *r) {
    piece name;
    if (*r->at == 'L' && is_digit(r->at[1])) r->at++; /* of its file alone */
    if (is_digit(*r->at)) name = read_source_name(r);
    else if (take2(r, "Ul")) name = read_lambda(r);
    else return fail(r), text("");
    while (take(r, 'B')) name = join(r, join3(r, name, "[abi:", read_source_name(r)), text("]"));
    return name;
}

/* ---- Templates --------------------------------------------------------------------------------------------- */

static piece read_literal(reader *r) {
    static const char *const suffixes[] = {
        ['i'] = "", ['j'] = "u", ['l'] = "l", ['m'] = "ul", ['x'] = "ll", ['y'] = "ull"};
    const char kind = *r->at;
    if (kind == '_') return fail(r), text("");
    const type t = read_type(r);
    const bool negative = take(r, 'n');
    const char *from = r->at;
    while (is_digit(*r->at)) r->at++;
    piece digits = {from, (uint32_t)(r->at - from)};
    if (!digits.size || !take(r, 'E')) return fail(r), text("");
    if (kind == 'b' && digits.size == 1 && *from <= '1' && !negative) return text(*from == '1' ? "true" : "false");
    if (strchr("defg", kind)) return fail(r), text("");
    if (negative) digits = join(r, text("-"), digits);
    const char *suffix = (unsigned char)kind < LW_COUNT(suffixes) ? suffixes[(unsigned char)kind] : NULL;
    if (suffix) return join(r, digits, text(suffix));
    return join(r, join(r, join(r, text("("), whole(r, t)), text(")")), digits);
}

static type read_argument(reader *r) {
    if (take(r, 'L')) return (type){.before = read_literal(r)};
    if (take2(r, "XT")) { /* of all expressions a parameter alone */
        const type t = read_parameter(r);
        if (!take(r, 'E')) fail(r);
        return t;
    }
    if (!take(r, 'J')) return read_type(r);
    type pack = {.before = text(""), .is_pack = true};
    if (!enter(r)) return pack;
    for (bool first = true; *r->at && *r->at != 'E'; first = false) {
        const type t = read_argument(r);
        const piece one = whole(r, t);
        if (t.is_pack) fail(r);
        pack.before = first ? one : join3(r, pack.before, ", ", one);
    }
    r->depth--;
    if (!take(r, 'E')) fail(r);
    return pack;
}

/* Behind the I. `outer`: they are what T_ stands for. */
static piece read_arguments(reader *r, bool outer) {
    type own[ARGUMENTS];
    uint32_t count = 0;
    piece all = text("<");
    if (!enter(r)) return all;
    for (bool first = true; *r->at && *r->at != 'E';) {
        const type t = read_argument(r);
        if (count == ARGUMENTS) return fail(r), all;
        own[count++] = t;
        if (t.is_pack && !t.before.size) {
            if (*r->at != 'E') fail(r);
            continue;
        }
        all = first ? join(r, all, whole(r, t)) : join3(r, all, ", ", whole(r, t));
        first = false;
    }
    r->depth--;
    if (!take(r, 'E')) fail(r);
    if (outer && !r->failed) memcpy(r->arguments, own, count * sizeof *own), r->argument_count = count;
    return join(r, all, text(ends(all, '>') ? " >" : ">"));
}

static type read_parameter(reader *r) {
    const uint32_t number = read_number(r, 10);
    if (number >= r->argument_count) return fail(r), (type){0};
    return r->arguments[number];
}

/* ---- Substitutions ------------------------------------------------------------------------------------------- */

/* Behind the S; not St, which is part of a name. */
static type read_substitution(reader *r) {
    static const char *const known[] = {['a'] = "std::allocator", ['b'] = "std::basic_string"};
    const unsigned char c = (unsigned char)*r->at;
    if (c < LW_COUNT(known) && known[c]) return r->at++, (type){.before = text(known[c])};
    const uint32_t number = read_number(r, 36);
    return number < r->substitution_count ? r->substitutions[number] : (fail(r), (type){0});
}

/* ---- Names --------------------------------------------------------------------------------------------------- */

/* N … E: each part but the last one is something that can be said again. */
static piece read_nested(reader *r, bool *is_template, bool outer) {
    piece name = text("");
    bool own = false; /* something that is not said again */
    for (bool first = true; *r->at != 'E'; first = false) {
        const bool may_add = !(r->at[0] == 'S');
        *is_template = false;
        if (first && take2(r, "St")) {
            name = text("std");
            continue;
        }
        if (first && take(r, 'S')) name = whole(r, read_substitution(r));
        else if (first && take(r, 'T')) name = whole(r, read_parameter(r));
        else if (!first && take(r, 'I')) name = join(r, name, read_arguments(r, outer)), *is_template = own = true;
        else {
            const piece part = read_unqualified(r);
            own = true;
            name = first ? part : join3(r, name, "::", part);
        }
        if (r->failed || !*r->at) return fail(r), name;
        if (may_add && *r->at != 'E') add(r, (type){.before = name});
    }
    if (!own) fail(r);
    take(r, 'E');
    return name;
}

/* Z encoding E name */
static piece read_local(reader *r) {
    piece name;
    bool is_template;
    const piece function = read_encoding(r, &name, 'E');
    if (!take(r, 'E') || *r->at == 's' || *r->at == 'd') return fail(r), name;
    name = join3(r, function, "::", read_name(r, &is_template, false));
    if (take(r, '_')) {
        if (!is_digit(*r->at)) fail(r);
        else r->at++;
    }
    return name;
}

static piece read_name(reader *r, bool *is_template, bool outer) {
    piece name = text("");
    bool may_add = true;
    *is_template = false;
    if (!enter(r)) return name;
    if (take(r, 'N')) name = read_nested(r, is_template, outer);
    else if (take(r, 'Z')) name = read_local(r);
    else {
        if (take2(r, "St")) name = join(r, text("std::"), read_unqualified(r));
        else if (take(r, 'S')) name = whole(r, read_substitution(r)), may_add = false;
        else name = read_unqualified(r);
        if (take(r, 'I')) {
            if (may_add) add(r, (type){.before = name});
            name = join(r, name, read_arguments(r, outer));
            *is_template = true;
        } else if (!may_add) fail(r);
    }
    r->depth--;
    return name;
}

/* ---- Types --------------------------------------------------------------------------------------------------- */

static const char *const builtins[] = {['v'] = "void",        ['w'] = "wchar_t",
                                       ['b'] = "bool",        ['c'] = "char",
                                       ['a'] = "signed char", ['h'] = "unsigned char",
                                       ['s'] = "short",       ['t'] = "unsigned short",
                                       ['i'] = "int",         ['j'] = "unsigned int",
                                       ['l'] = "long",        ['m'] = "unsigned long",
                                       ['x'] = "long long",   ['y'] = "unsigned long long",
                                       ['n'] = "__int128",    ['o'] = "unsigned __int128",
                                       ['f'] = "float",       ['d'] = "double",
                                       ['e'] = "long double", ['g'] = "__float128"};

static type point(reader *r, type to, const char *sign) {
    if (to.is_pack) fail(r);
    if (*sign == '&' && ends(to.before, '&') && !to.behind.size) { /* of two references the shorter is left */
        const bool two = to.before.size > 1 && to.before.at[to.before.size - 2] == '&';
        if (two && !sign[1]) to.before.size--;
        return to;
    }
    const bool function = begins(to.behind, '('), array = begins(to.behind, ' ');
    if (function || array) {
        to.before = join(r, to.before, text(array ? " (" : "("));
        to.behind = join(r, text(")"), to.behind);
    }
    to.before = join(r, to.before, text(sign));
    return to;
}

static bool is_qualified(piece before, const char *sign) {
    const size_t size = strlen(sign);
    return before.size >= size && !memcmp(before.at + before.size - size, sign, size);
}

/* Who is const already does not become so again. */
static type read_qualified(reader *r) {
    char quals[3];
    uint32_t count = 0;
    while (*r->at && strchr("rVK", *r->at) && count < 3) quals[count++] = *r->at++;
    type t = read_type(r);
    if (t.is_pack || (t.behind.size && *t.behind.at != ')')) fail(r);
    const bool own = is_qualified(t.before, " const") || is_qualified(t.before, " volatile") ||
                     is_qualified(t.before, " restrict");
    while (count--) {
        const char *sign = quals[count] == 'K' ? " const" : quals[count] == 'V' ? " volatile" : " restrict";
        if (is_qualified(t.before, sign)) continue;
        if (own) fail(r); /* others take some of them away */
        t.before = join(r, t.before, text(sign));
    }
    return add(r, t);
}

static type read_function(reader *r) {
    take(r, 'Y');
    const type result = read_type(r);
    if (result.behind.size && *result.behind.at != ')') fail(r);
    const piece types = read_types(r, 'E');
    if (!take(r, 'E')) fail(r);
    return add(r, (type){.before = join(r, result.before, text(" ")),
                         .behind = join(r, join(r, join(r, text("("), types), text(")")), result.behind)});
}

static type read_array(reader *r) {
    const char *from = r->at;
    while (is_digit(*r->at)) r->at++;
    const piece size = {from, (uint32_t)(r->at - from)};
    if (!take(r, '_')) return fail(r), (type){0};
    type t = read_type(r);
    if (t.is_pack || begins(t.behind, '(')) fail(r);
    if (begins(t.behind, ' ')) t.behind.at++, t.behind.size--;
    t.behind = join(r, join(r, text(" ["), size), join(r, text("]"), t.behind));
    return add(r, t);
}

static type read_named(reader *r) {
    bool is_template;
    const bool again = r->at[0] == 'S' && r->at[1] != 't';
    if (again || *r->at == 'T') {
        r->at++;
        const type t = again ? read_substitution(r) : add(r, read_parameter(r));
        if (!take(r, 'I')) return t;
        if (t.behind.size || t.is_pack) return fail(r), t;
        return add(r, (type){.before = join(r, t.before, read_arguments(r, false))});
    }
    return add(r, (type){.before = read_name(r, &is_template, false)});
}

static type read_type(reader *r) {
    type t = {0};
    if (!enter(r)) return t;
    const unsigned char c = (unsigned char)*r->at;
    if (c < LW_COUNT(builtins) && builtins[c]) r->at++, t.before = text(builtins[c]);
    else if (take(r, 'P')) t = add(r, point(r, read_type(r), "*"));
    else if (take(r, 'R')) t = add(r, point(r, read_type(r), "&"));
    else if (take(r, 'O')) t = add(r, point(r, read_type(r), "&&"));
    else if (c == 'K' || c == 'V' || c == 'r') t = read_qualified(r);
    else if (take(r, 'F')) t = read_function(r);
    else if (take(r, 'A')) t = read_array(r);
    else if (take2(r, "Dn")) t.before = text("decltype(nullptr)");
    else if (take2(r, "Dp")) {
        t = read_type(r);
        t = t.is_pack ? add(r, (type){.before = t.before}) : (fail(r), t);
    } else if (is_digit((char)c) || c == 'N' || c == 'Z' || c == 'S' || c == 'T') t = read_named(r);
    else fail(r);
    r->depth--;
    return t;
}

/* ---- The whole ----------------------------------------------------------------------------------------------- */

/* Name and types; a template's function says what it returns, too. */
static piece read_encoding(reader *r, piece *name, char end) {
    bool is_template;
    type result = {0};
    *name = read_name(r, &is_template, true);
    if (r->failed || *r->at == end) return *name;
    if (is_template) result = read_type(r);
    const piece types = read_types(r, end);
    const piece call = join(r, join(r, join(r, *name, text("(")), types), text(")"));
    if (!is_template) return call;
    if (result.is_pack || begins(result.behind, ' ')) fail(r); /* no function returns an array */
    const bool fits = ends(result.before, ' ') || result.behind.size;
    return join(r, join3(r, result.before, fits ? "" : " ", call), result.behind);
}

static bool demangle(const char *mangled, lw_text *all, lw_text *name) {
    reader *r = strncmp(mangled, "_Z", 2) ? NULL : malloc(sizeof *r);
    if (!r) return false;
    r->at = mangled + 2;
    r->used = r->depth = r->substitution_count = r->argument_count = 0;
    r->failed = false;
    piece own = text("");
    const piece full = read_encoding(r, &own, 0);
    const bool good = !r->failed && !*r->at && own.size;
    if (good && all) lw_text_add(all, full.at, full.size);
    if (good && name) lw_text_add(name, own.at, own.size);
    free(r);
    return good;
}

bool lw_demangle(lw_text *out, const char *name) { return demangle(name, out, NULL); }

/* ---- What a name means ----------------------------------------------------------------------------------------- */

/* Blanks do not count. */
static bool is_same(const char *wanted, const char *name, const char *end) {
    for (;; wanted++, name++) {
        while (*wanted == ' ') wanted++;
        while (name < end && *name == ' ') name++;
        if (name == end || *wanted != *name) return name == end && !*wanted;
    }
}

/* Where the last part of a name begins, and where its template arguments do. */
static void find_parts(const char *name, const char **last, const char **arguments) {
    uint32_t depth = 0;
    *last = name, *arguments = name + strlen(name);
    for (const char *at = name; *at; at++) {
        if (*at == '<' && !depth++) *arguments = at;
        if (*at == '>' && depth) depth--;
        if (!depth && at[0] == ':' && at[1] == ':') *last = at + 2, *arguments = name + strlen(name);
    }
}

bool lw_name_means(const char *wanted, const char *mangled) {
    lw_text all = {0}, name = {0};
    bool same = false;
    if (demangle(mangled, &all, &name) && !all.failed && !name.failed) {
        const char *last, *arguments, *end = name.at + name.size;
        find_parts(name.at, &last, &arguments);
        same = is_same(wanted, all.at, all.at + all.size) || is_same(wanted, name.at, end) ||
               is_same(wanted, name.at, arguments) || is_same(wanted, last, end) || is_same(wanted, last, arguments);
    }
    lw_text_free(&all);
    lw_text_free(&name);
    return same;
}
