/* parse_expression.c: constant expressions (manual section 4.5), evaluated while they are read. Where the manual leaves
 * a case open, the value is the one that ptxas 13.0 gives. */
#include "front/ptx/parse.h"

enum {
    P_SHL = '<' | '<' << 8,
    P_SHR = '>' | '>' << 8,
    P_LE = '<' | '=' << 8,
    P_GE = '>' | '=' << 8,
    P_EQ = '=' | '=' << 8,
    P_NE = '!' | '=' << 8,
    P_AND = '&' | '&' << 8,
    P_OR = '|' | '|' << 8
};

static bool parse_ternary(lw_parser *p, lw_constant *v);

static bool fault(lw_parser *p, lw_diag_id id, lw_place place) {
    lw_diag_add(p->module->diags, id, place);
    return false;
}

static bool want_integer(lw_parser *p, const lw_constant *v) {
    return !v->is_float || fault(p, LW_D_integer_expected, v->place);
}

static double as_double(const lw_constant *v) {
    double d;
    memcpy(&d, &v->value, sizeof d);
    return d;
}

static void set_double(lw_constant *v, double d) { memcpy(&v->value, &d, sizeof d); }

static void set_truth(lw_constant *v, bool truth) {
    v->is_float = v->is_unsigned = false;
    v->value = truth;
}

/* ---- Operators ----------------------------------------------------------------------------------------- */

static bool divide(lw_parser *p, lw_constant *a, const lw_constant *b) {
    if (!b->value) return fault(p, LW_D_division_by_zero, b->place);
    if (a->is_unsigned) a->value /= b->value;
    else if (b->value == UINT64_MAX) a->value = -a->value; /* by -1: the least value wraps */
    else a->value = (uint64_t)((int64_t)a->value / (int64_t)b->value);
    return true;
}

/* The remainder is one of unsigned values, whatever the operands are. */
static bool remain(lw_parser *p, lw_constant *a, const lw_constant *b) {
    if (!b->value) return fault(p, LW_D_division_by_zero, b->place);
    a->value %= b->value;
    a->is_unsigned = true;
    return true;
}

/* Only the low six bits of the amount count. */
static void shift(lw_constant *a, uint64_t amount, bool left) {
    amount &= 63;
    bool fill = !left && !a->is_unsigned && (int64_t)a->value < 0;
    if (left) a->value <<= amount;
    else a->value = a->value >> amount | (fill ? ~(UINT64_MAX >> amount) : 0);
}

static bool compare(uint32_t op, const lw_constant *a, const lw_constant *b) {
    int order;
    if (a->is_float) {
        double x = as_double(a), y = as_double(b);
        order = x < y ? -1 : x > y;
    } else if (a->is_unsigned) order = a->value < b->value ? -1 : a->value > b->value;
    else order = (int64_t)a->value < (int64_t)b->value ? -1 : (int64_t)a->value > (int64_t)b->value;
    switch (op) {
    case '<': return order < 0;
    case '>': return order > 0;
    case P_LE: return order <= 0;
    case P_GE: return order >= 0;
    case P_EQ: return order == 0;
    default: return order != 0;
    }
}

static bool apply_float(lw_parser *p, uint32_t op, lw_constant *a, const lw_constant *b) {
    double x = as_double(a), y = as_double(b);
    switch (op) {
    case '+': set_double(a, x + y); return true;
    case '-': set_double(a, x - y); return true;
    case '*': set_double(a, x * y); return true;
    case '/':
        if (y == 0) return fault(p, LW_D_division_by_zero, b->place);
        set_double(a, x / y);
        return true;
    case '<':
    case '>':
    case P_LE:
    case P_GE:
    case P_EQ:
    case P_NE: set_truth(a, compare(op, a, b)); return true;
    default: return fault(p, LW_D_integer_expected, a->place);
    }
}

static bool apply_integer(lw_parser *p, uint32_t op, lw_constant *a, lw_constant *b) {
    bool shifting = op == P_SHL || op == P_SHR;
    if (!shifting) a->is_unsigned |= b->is_unsigned; /* the usual conversions */
    switch (op) {
    case '+': a->value += b->value; break;
    case '-': a->value -= b->value; break;
    case '*': a->value *= b->value; break;
    case '/': return divide(p, a, b);
    case '%': return remain(p, a, b);
    case '&': a->value &= b->value; break;
    case '|': a->value |= b->value; break;
    case '^': a->value ^= b->value; break;
    case P_SHL: shift(a, b->value, true); break;
    case P_SHR: shift(a, b->value, false); break;
    case P_AND: set_truth(a, a->value && b->value); break;
    case P_OR: set_truth(a, a->value || b->value); break;
    default: set_truth(a, compare(op, a, b)); break;
    }
    return true;
}

static bool apply(lw_parser *p, uint32_t op, lw_constant *a, lw_constant *b) {
    if (a->is_float != b->is_float) return fault(p, LW_D_mixed_constants, b->place);
    bool fine = a->is_float ? apply_float(p, op, a, b) : apply_integer(p, op, a, b);
    a->place = lw_parser_since(p, a->place);
    return fine;
}

/* ---- Grammar ------------------------------------------------------------------------------------------- */

/* (.s64) and (.u64) behind the opening parenthesis. */
static bool parse_cast(lw_parser *p, lw_constant *v) {
    const lw_word *word = lw_parser_word(p);
    bool is_unsigned = word && word->kind == LW_WORD_TYPE && word->value == LW_T_u64;
    bool is_signed = word && word->kind == LW_WORD_TYPE && word->value == LW_T_s64;
    if (!is_unsigned && !is_signed) return fault(p, LW_D_bad_cast, p->token.place);
    lw_parser_next(p);
    if (!lw_parser_expect(p, ')')) return false;
    v->is_unsigned = is_unsigned;
    return true;
}

static bool parse_unary(lw_parser *p, lw_constant *v);

static bool parse_group(lw_parser *p, lw_constant *v) {
    lw_place start = p->token.place;
    lw_parser_next(p);
    if (p->token.kind == LW_TOKEN_DOT) {
        lw_constant cast = {0};
        if (!parse_cast(p, &cast) || !parse_unary(p, v) || !want_integer(p, v)) return false;
        v->is_unsigned = cast.is_unsigned;
    } else if (!parse_ternary(p, v) || !lw_parser_expect(p, ')')) return false;
    v->place = lw_parser_since(p, start);
    return true;
}

static bool parse_primary(lw_parser *p, lw_constant *v) {
    const lw_token *t = &p->token;
    if (lw_parser_at(p, '(')) return parse_group(p, v);
    *v = (lw_constant){.place = t->place, .value = t->value, .is_unsigned = t->is_unsigned};
    if (t->kind == LW_TOKEN_FLOAT) v->is_float = true, v->single = t->single;
    else if (t->kind == LW_TOKEN_NAME && t->name == p->warp_size) v->value = 32;
    else if (t->kind != LW_TOKEN_INT) return lw_parser_expected(p, "a constant");
    lw_parser_next(p);
    return true;
}

static bool apply_unary(lw_parser *p, uint32_t op, lw_constant *v) {
    if (v->single) return fault(p, LW_D_bits_in_expression, v->place);
    if (v->is_float) {
        if (op == '-') set_double(v, -as_double(v));
        return op == '-' || op == '+' || fault(p, LW_D_integer_expected, v->place);
    }
    if (op == '-') v->value = -v->value;
    else if (op == '~') v->value = ~v->value, v->is_unsigned = true;
    else if (op == '!') set_truth(v, !v->value);
    return true;
}

static bool parse_unary(lw_parser *p, lw_constant *v) {
    uint32_t op = p->token.kind == LW_TOKEN_PUNCT ? p->token.punct : 0;
    bool prefix = op == '-' || op == '+' || op == '!' || op == '~';
    if (!prefix && op != '(') return parse_primary(p, v);
    if (!lw_parser_enter(p)) return false;
    lw_place start = p->token.place;
    if (prefix) lw_parser_next(p);
    bool fine = prefix ? parse_unary(p, v) && apply_unary(p, op, v) : parse_primary(p, v);
    v->place = lw_parser_since(p, start);
    lw_parser_leave(p);
    return fine;
}

/* 0 where the token is no binary operator. */
static int precedence(const lw_parser *p) {
    if (p->token.kind != LW_TOKEN_PUNCT) return 0;
    switch (p->token.punct) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case P_SHL:
    case P_SHR: return 8;
    case '<':
    case '>':
    case P_LE:
    case P_GE: return 7;
    case P_EQ:
    case P_NE: return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case P_AND: return 2;
    case P_OR: return 1;
    default: return 0;
    }
}

static bool parse_binary(lw_parser *p, lw_constant *v, int least) {
    if (!parse_unary(p, v)) return false;
    for (int level; (level = precedence(p)) >= least && level;) {
        uint32_t op = p->token.punct;
        lw_constant right;
        if (v->single) return fault(p, LW_D_bits_in_expression, v->place);
        lw_parser_next(p);
        if (!parse_binary(p, &right, level + 1)) return false;
        if (right.single) return fault(p, LW_D_bits_in_expression, right.place);
        if (!apply(p, op, v, &right)) return false;
    }
    return true;
}

static bool parse_ternary(lw_parser *p, lw_constant *v) {
    if (!parse_binary(p, v, 1)) return false;
    if (!lw_parser_at(p, '?')) return true;
    if (!want_integer(p, v) || !lw_parser_enter(p)) return false;
    lw_constant yes, no;
    lw_parser_next(p);
    if (!parse_ternary(p, &yes) || !lw_parser_expect(p, ':') || !parse_ternary(p, &no)) return false;
    if (!want_integer(p, &yes) || !want_integer(p, &no)) return false;
    lw_place start = v->place;
    *v = v->value ? yes : no;
    v->place = lw_parser_since(p, start);
    lw_parser_leave(p);
    return true;
}

bool lw_parse_constant(lw_parser *p, lw_constant *v) { return parse_ternary(p, v); }

bool lw_parse_offset(lw_parser *p, int64_t *offset) {
    while (lw_parser_at(p, '+') || lw_parser_at(p, '-')) {
        if (lw_parser_at(p, '-') && *offset == 0) { /* behind a first + term, - is an operator as any other */
            lw_diag *diag = lw_diag_add(p->module->diags, LW_D_minus_offset, p->token.place);
            diag->fix = "write '+' in front of the minus: [base+-8]";
        }
        bool minus = lw_parser_at(p, '-');
        lw_constant term;
        lw_parser_next(p);
        if (!parse_binary(p, &term, 10) || !want_integer(p, &term)) return false;
        *offset = (int64_t)(minus ? (uint64_t)*offset - term.value : (uint64_t)*offset + term.value);
    }
    return true;
}
