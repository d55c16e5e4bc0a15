/* parse_row.c: the operations that are rows, in their three forms, and those of MLIR. */
#include "base/scan.h"
#include "front/pto/parse.h"

/* ---- Operands ------------------------------------------------------------------------------------------- */

static bool parse_index(lw_pto_parser *p, lw_pto_written *w) {
    if (p->token.kind != LW_PTO_TOKEN_VALUE) return lw_pto_expected(p, "the index, a value such as %i");
    w->indexed = true;
    w->index_name = p->token.name;
    w->index_part = (uint32_t)p->token.value;
    w->index_place = p->token.place;
    lw_pto_next(p);
    return lw_pto_expect(p, ']');
}

bool lw_pto_parse_operands(lw_pto_parser *p, lw_pto_range *range) {
    *range = (lw_pto_range){p->written.count, 0};
    do {
        const lw_pto_token *t = &p->token;
        if (t->kind != LW_PTO_TOKEN_VALUE) return lw_pto_expected(p, "a value such as %a");
        lw_pto_written *w = &LW_PUSH(p->arena, p->written);
        *w = (lw_pto_written){.name = t->name, .part = (uint32_t)t->value, .place = t->place};
        lw_pto_next(p);
        if (lw_pto_take(p, '[') && !parse_index(p, w)) return false;
        range->count++;
    } while (lw_pto_take(p, ','));
    return true;
}

/* An operation at work. */
typedef struct making {
    lw_pto_op *op;
    const lw_pto_row *row;
    const lw_pto_signature *signature;
    lw_pto_range names;     /* in front of the = */
    lw_pto_range ins, outs; /* in p->written; outs of assembly and DPS: destinations, and memory that is stored to */
    lw_pto_range types, out_types;
} making;

static const char *operands_text(lw_pto_parser *p, const making *m) {
    uint32_t least = m->signature->least, most = m->signature->in_count;
    if (!most) return "no operands";
    if (least == most) return lw_arena_printf(p->arena, "%u operand%s", least, lw_pto_plural(least));
    return lw_arena_printf(p->arena, "%u or %u operands", least, most);
}

/* "operands: the destination, lhs, rhs, mask" */
static const char *fix_operands(lw_pto_parser *p, const making *m) {
    const lw_pto_signature *s = m->signature;
    if (!s->in_count) return NULL;
    const char *text = m->op->form != LW_PTO_ASSEMBLY || !s->out_count ? "operands"
                       : s->out_count == 1                             ? "operands: the destination"
                                                                       : "operands: the destinations";
    for (uint32_t i = 0; i < s->in_count; i++) {
        const lw_pto_slot *slot = &s->in[i];
        text = lw_arena_printf(p->arena, slot->optional ? "%s%s {%.*s}" : "%s%s %.*s", text,
                               strchr(text, ':') ? "," : ":", slot->name_size, slot->name);
    }
    return text;
}

static bool wrong_count(lw_pto_parser *p, const making *m, uint32_t count) {
    lw_diag *diag = lw_diag_add(p->diags, LW_D_pto_operand_count, m->op->name_place, m->row->name, operands_text(p, m),
                                count, count == 1 ? "is" : "are");
    diag->fix = fix_operands(p, m);
    return false;
}

/* ---- Operands to slots ------------------------------------------------------------------------------------ */

static void put_operand(lw_pto_op *op, lw_pto_value *value, lw_place place) {
    op->operands[op->operand_count] = value;
    op->operand_places[op->operand_count++] = place;
}

/* One slot; `w` is NULL where an optional operand is left out. */
static bool fill_slot(lw_pto_parser *p, const making *m, const lw_pto_slot *slot, const lw_pto_written *w) {
    bool memory = slot->shape == LW_PTO_SHAPE_MEMORY;
    if (!w) return put_operand(m->op, NULL, m->op->name_place), true;
    lw_pto_value *value = lw_pto_use(p, w->name, w->part, w->place);
    put_operand(m->op, value, w->place);
    if (memory != w->indexed) {
        lw_diag_add(p->diags, memory ? LW_D_pto_memory_expected : LW_D_pto_not_memory, w->place,
                    lw_arena_text(p->arena, slot->name, slot->name_size), m->row->name);
        return false;
    }
    if (memory) put_operand(m->op, lw_pto_use(p, w->index_name, w->index_part, w->index_place), w->index_place);
    return true;
}

/* Which of what was written goes to a slot: memory that is stored to stands among the destinations of DPS text. */
static bool fill_slots(lw_pto_parser *p, making *m) {
    const lw_pto_signature *s = m->signature;
    bool dps = m->op->form == LW_PTO_DPS;
    uint32_t stored = 0;
    for (uint32_t i = 0; i < s->in_count && dps; i++) stored += s->in[i].written;
    uint32_t given = m->ins.count, most = s->in_count - stored, least = s->least - stored;
    uint32_t outs = dps ? m->outs.count : s->out_count;
    if ((given != most && given != least) || outs != s->out_count + stored)
        return wrong_count(p, m, given + (dps ? stored : 0));
    uint32_t in = m->ins.from, out = m->outs.from + s->out_count;
    for (uint32_t i = 0; i < s->in_count; i++) {
        const lw_pto_slot *slot = &s->in[i];
        bool left_out = slot->optional && given == least && least != most;
        uint32_t at = left_out ? 0 : dps && slot->written ? out++ : in++;
        if (!fill_slot(p, m, slot, left_out ? NULL : &p->written.at[at])) return false;
    }
    return true;
}

/* ---- Types ------------------------------------------------------------------------------------------------ */

void lw_pto_check_written(lw_pto_parser *p, lw_pto_op *op, lw_pto_value *value, const lw_pto_written_type *written) {
    if (LW_LIKELY(value->type == written->type)) return;
    if (!value->type) {
        value->type = written->type;
        return;
    }
    op->faulty = true;
    lw_diag_add(p->diags, LW_D_pto_type_differs, written->place, value->name ? value->name->text : "it",
                value->type->text, written->type->text);
    if (!value->unknown) lw_diag_add(p->diags, LW_D_pto_defined_here, value->place);
}

/* Written types against the operands, those of `stored` memory apart. */
static bool check_types(lw_pto_parser *p, const making *m, lw_pto_range types, bool stored, bool all) {
    const lw_pto_signature *s = m->signature;
    uint32_t wanted = 0, at = 0;
    for (uint32_t i = 0, o = 0; i < s->in_count; i++, o += 1 + (s->in[i - 1].shape == LW_PTO_SHAPE_MEMORY))
        wanted += m->op->operands[o] && (all || s->in[i].written == stored);
    uint32_t skip = stored ? s->out_count : 0;
    if (types.count != wanted + skip) {
        lw_place place = m->op->type_place;
        lw_diag_add(p->diags, LW_D_pto_type_count, place, types.count, lw_pto_plural(types.count), wanted + skip,
                    lw_pto_plural(wanted + skip), m->row->name);
        return false;
    }
    for (uint32_t i = 0, o = 0; i < s->in_count; i++) {
        lw_pto_value *value = m->op->operands[o];
        if (value && (all || s->in[i].written == stored))
            lw_pto_check_written(p, m->op, value, &p->types.at[types.from + skip + at++]);
        o += 1 + (s->in[i].shape == LW_PTO_SHAPE_MEMORY);
    }
    return true;
}

/* ---- Results ---------------------------------------------------------------------------------------------- */

static bool define_typed(lw_pto_parser *p, making *m, lw_pto_range types) {
    uint32_t count = m->signature->out_count;
    if (types.count != count) {
        lw_diag_add(p->diags, LW_D_pto_result_type_count, m->op->type_place, types.count, lw_pto_plural(types.count),
                    count, lw_pto_plural(count), m->row->name);
        return false;
    }
    if (!lw_pto_define_results(p, m->op, m->names, count)) return false;
    for (uint32_t i = 0; i < count; i++) m->op->results[i]->type = p->types.at[types.from + i].type;
    return true;
}

/* ---- Words and literals in front of the operands ----------------------------------------------------------- */

static const char *words_text(lw_pto_word_class class) {
    static const char of_vcmp[] = ""
#define VCMP(word) " " #word
#include "pto/words.def"
        ;
    static const char of_cmpi[] = ""
#define CMPI(word) " " #word
#include "pto/words.def"
        ;
    return (class == LW_PTO_WORD_VCMP ? of_vcmp : of_cmpi) + 1;
}

static bool parse_word(lw_pto_parser *p, making *m) {
    const lw_pto_meaning *meaning = p->token.kind == LW_PTO_TOKEN_WORD ? p->token.name->bound : NULL;
    if (meaning) m->op->word = m->row->word == LW_PTO_WORD_VCMP ? meaning->vcmp : meaning->cmpi;
    if (!m->op->word) {
        lw_diag_add(p->diags, LW_D_pto_word_expected, p->token.place, m->row->name, words_text(m->row->word),
                    lw_pto_found(p));
        return false;
    }
    lw_pto_next(p);
    lw_pto_take(p, ','); /* DPS text has none */
    return true;
}

enum { BITS_WORDS = LW_PTO_LANES_MAX / 64 }; /* of the pattern of a mask */

/* A number of any size, into BITS_WORDS words, the lowest first. False: it has more bits. */
static bool read_hex(uint64_t *bits, const char *digits, uint32_t size) {
    bool fits = true;
    for (uint32_t i = 0; i < size; i++) {
        const uint64_t digit = lw_digit_value(digits[size - 1 - i]);
        if (i / 16 < BITS_WORDS) bits[i / 16] |= digit << (i % 16 * 4);
        else fits &= !digit;
    }
    return fits;
}

static bool read_decimal(uint64_t *bits, const char *digits, uint32_t size) {
    uint32_t used = 0; /* words up to the highest that is not 0 */
    for (uint32_t i = 0; i < size; i++) {
        unsigned __int128 carry = lw_digit_value(digits[i]);
        for (uint32_t w = 0; w < used || carry; w++) {
            if (w == BITS_WORDS) return false;
            carry += (unsigned __int128)bits[w] * 10;
            bits[w] = (uint64_t)carry;
            carry >>= 64;
            if (w >= used) used = w + 1;
        }
    }
    return true;
}

static bool parse_bits(lw_pto_parser *p, making *m) {
    if (p->token.kind != LW_PTO_TOKEN_INT) return lw_pto_expected(p, "a bit pattern such as 0xff");
    const char *text = p->lexer.source->text + p->token.place.at;
    uint32_t size = p->token.place.size;
    uint64_t *bits = LW_NEW_ARRAY(p->arena, uint64_t, BITS_WORDS);
    bool hex = size > 2 && text[1] == 'x';
    if (!(hex ? read_hex(bits, text + 2, size - 2) : read_decimal(bits, text, size)))
        lw_diag_add(p->diags, LW_D_pto_int_range, p->token.place, lw_pto_found(p), "a mask");
    m->op->bits = bits;
    m->op->literal_place = p->token.place;
    m->op->digits = text, m->op->digit_count = size;
    lw_pto_next(p);
    lw_pto_take(p, ',');
    return true;
}

/* The bits beyond the last lane must be 0. */
static void check_bits(lw_pto_parser *p, lw_pto_op *op) {
    const lw_pto_type *type = op->bits ? op->results[0]->type : NULL;
    if (!type || type->kind != LW_PTO_MASK) return;
    for (uint32_t i = type->lanes; i < LW_PTO_LANES_MAX; i++)
        if (op->bits[i / 64] >> i % 64 & 1) {
            lw_diag_add(p->diags, LW_D_pto_bits_range, op->literal_place, type->lanes - 1, type->text);
            return;
        }
}

/* arith.constant [-]5 : T, true, false. */
static bool parse_constant(lw_pto_parser *p, making *m) {
    lw_pto_op *op = m->op;
    lw_place start = p->token.place;
    bool truth = lw_pto_at_word(p, p->words.true_) || lw_pto_at_word(p, p->words.false_), minus = lw_pto_take(p, '-');
    uint64_t value = truth ? lw_pto_at_word(p, p->words.true_) : p->token.value;
    bool fits = !p->token.too_large;
    if (!truth && p->token.kind != LW_PTO_TOKEN_INT) return lw_pto_expected(p, "an integer, true or false");
    if (!truth)
        op->digits = p->lexer.source->text + p->token.place.at, op->digit_count = p->token.place.size,
        op->minus = minus;
    lw_pto_next(p);
    op->literal_place = lw_pto_since(p, start);
    const lw_pto_type *type = lw_pto_type_of_scalar(p->module, truth ? LW_PTO_i1 : LW_PTO_i64);
    lw_place type_start = p->token.place;
    if (lw_pto_take(p, ':')) {
        type_start = p->token.place;
        if (!lw_pto_parse_type(p, &type)) return false;
    } else if (!truth) {
        return lw_pto_expect(p, ':');
    }
    op->type_place = lw_pto_since(p, type_start);
    if (type->kind == LW_PTO_SCALAR && lw_pto_scalars[type->element].kind != 'F') {
        const lw_pto_scalar_info *info = &lw_pto_scalars[type->element];
        uint64_t top = info->bits == 64 ? UINT64_MAX : (UINT64_C(1) << info->bits) - 1;
        uint64_t least = info->kind == 'U' ? 0 : UINT64_C(1) << (info->bits - 1);
        if (!fits || value > (minus ? least : top) || (truth && info->bits != 1)) {
            const char *shown = lw_arena_text(p->arena, p->lexer.source->text + start.at, op->literal_place.size);
            lw_diag_add(p->diags, LW_D_pto_int_range, op->literal_place, shown, type->text);
        }
        if (minus) value = -value;
        value &= top;
        if (info->kind == 'S' && value & least) value |= ~top;
    }
    op->value = value;
    if (!lw_pto_define_results(p, op, m->names, 1)) return false;
    op->results[0]->type = type;
    return true;
}

/* ---- The forms --------------------------------------------------------------------------------------------- */

static bool parse_colon(lw_pto_parser *p, making *m) {
    if (!lw_pto_parse_attributes(p, &m->op->attributes)) return false;
    return lw_pto_expect(p, ':');
}

/* Without a name in front of an =, and with an operand for each destination: assembly text but for its first four
 * letters. */
static bool is_assembly(const making *m) {
    const lw_pto_signature *s = m->signature;
    const uint32_t given = m->ins.count;
    return !m->names.count && s->out_count && (given == s->out_count + s->in_count || given == s->out_count + s->least);
}

static bool assembly_spelled_long(lw_pto_parser *p, const making *m) {
    const char *bare = m->row->name + 4, *word = m->op->bits
                                                     ? lw_arena_text(p->arena, m->op->digits, m->op->digit_count)
                                                     : lw_pto_words[m->op->word];
    const char *text =
        lw_arena_say(p->arena, "'%s' with its destination as first operand is spelled %s", m->row->name, bare);
    lw_diag *diag = lw_diag_add(p->diags, LW_D_pto_form_mixed, m->op->name_place, text);
    diag->fix = lw_arena_say(p->arena, "%s%s%s%s %s, …", bare, *word ? " " : "", word, *word ? "," : "",
                             p->written.at[m->ins.from].name->text);
    return false;
}

/* (…) -> …, parentheses optional; without operands, or without results, one side stands alone. */
static bool parse_ssa(lw_pto_parser *p, making *m) {
    bool any = p->token.kind == LW_PTO_TOKEN_VALUE || m->signature->least;
    if (any && !lw_pto_parse_operands(p, &m->ins)) return false;
    if (!parse_colon(p, m)) return false;
    lw_place start = p->token.place;
    if (!lw_pto_parse_types(p, &m->types)) return false;
    m->op->type_place = lw_pto_since(p, start);
    if (is_assembly(m)) return assembly_spelled_long(p, m);
    bool arrow = lw_pto_take(p, LW_PTO_ARROW);
    if (arrow) {
        start = p->token.place;
        if (!lw_pto_parse_types(p, &m->out_types)) return false;
    } else if (!m->ins.count) {
        m->out_types = m->types;
        m->types.count = 0;
    } else if (m->signature->out_count) {
        return lw_pto_expected(p, "'->' and the type of the result");
    }
    if (!fill_slots(p, m) || !check_types(p, m, m->types, false, true)) return false;
    if (arrow) m->op->type_place = lw_pto_since(p, start);
    return m->signature->out_count || m->out_types.count || m->names.count ? define_typed(p, m, m->out_types) : true;
}

/* overflow<nsw>: another spelling of the attribute {overflowFlags = #arith.overflow<nsw>}. */
static bool parse_overflow(lw_pto_parser *p, making *m) {
    lw_pto_op_id id = m->op->id;
    bool has_it = id == LW_PTO_ADDI || id == LW_PTO_SUBI || id == LW_PTO_MULI || id == LW_PTO_SHLI ||
                  id == LW_PTO_TRUNCI;
    lw_place start = p->token.place;
    const char *flags;
    if (!has_it || LW_LIKELY(!lw_pto_take_word(p, p->words.overflow))) return true;
    if (!lw_pto_expect(p, '<') || !lw_pto_parse_balanced(p, ">", &flags) || !lw_pto_expect(p, '>')) return false;
    LW_PUSH(p->arena, p->attributes) = (lw_pto_attribute){
        "overflowFlags", lw_arena_printf(p->arena, "#arith.overflow<%s>", flags), lw_pto_since(p, start)};
    lw_pto_keep_attributes(p, p->attributes.count - 1, &m->op->attributes);
    return true;
}

/* arith: one type for all, or `T to T`. */
static bool parse_mlir(lw_pto_parser *p, making *m) {
    if (!lw_pto_parse_operands(p, &m->ins) || !parse_overflow(p, m) || !parse_colon(p, m)) return false;
    const lw_pto_type *type, *result;
    lw_place start = p->token.place;
    if (!lw_pto_parse_type(p, &type)) return false;
    lw_pto_written_type written = {.type = type, .place = lw_pto_since(p, start)};
    m->op->type_place = written.place;
    bool cast = m->signature->in[0].shape == LW_PTO_SHAPE_INTEGER;
    result = type;
    if (cast && (!lw_pto_expect_word(p, p->words.to) || !lw_pto_parse_type(p, &result))) return false;
    if (!fill_slots(p, m)) return false;
    lw_pto_written_type truth = {.type = lw_pto_type_of_scalar(p->module, LW_PTO_i1), .place = written.place};
    for (uint32_t i = 0; i < m->op->operand_count; i++) {
        bool condition = m->signature->in[i].shape == LW_PTO_SHAPE_BOOL;
        if (!condition) lw_pto_check_written(p, m->op, m->op->operands[i], &written);
        else if (!m->op->operands[i]->type) m->op->operands[i]->type = truth.type;
    }
    if (!lw_pto_define_results(p, m->op, m->names, 1)) return false;
    m->op->results[0]->type = m->signature->out[0].shape == LW_PTO_SHAPE_BOOL ? truth.type : result;
    return true;
}

static bool no_names(lw_pto_parser *p, const making *m) {
    if (!m->names.count) return true;
    const char *text = lw_arena_printf(
        p->arena,
        m->op->form == LW_PTO_DPS
            ? "'%s' with ins and outs has its result in outs, not in front of an ="
            : "'%s' has its destination as first operand; with a result in front of an = it is spelled %s",
        m->op->form == LW_PTO_DPS ? m->row->name : m->row->name + 4, m->row->name);
    lw_diag_add(p->diags, LW_D_pto_form_mixed, m->op->name_place, text);
    return false;
}

/* Types of the destinations of assembly text: the one that is written, or for masks beside registers that of the
 * governing mask. */
static const lw_pto_type *assembly_type(const making *m, uint32_t result, const lw_pto_type *type) {
    if (m->signature->out[result].shape != LW_PTO_SHAPE_MASK || type->kind != LW_PTO_VREG) return type;
    for (uint32_t i = m->op->operand_count; i--;) {
        const lw_pto_value *value = m->op->operands[i];
        if (value && value->type && value->type->kind == LW_PTO_MASK) return value->type;
    }
    return NULL;
}

static void define_registers(lw_pto_parser *p, making *m, const lw_pto_type *const *types) {
    lw_pto_op *op = m->op;
    op->result_count = m->signature->out_count;
    for (uint32_t i = 0; i < op->result_count; i++) {
        const lw_pto_written *w = &p->written.at[m->outs.from + i];
        if (w->indexed) lw_diag_add(p->diags, LW_D_pto_not_memory, w->place, "destination", m->row->name);
        op->results[i] = lw_pto_destination(p, w, types[i], op, &op->merges[i]);
    }
}

/* vshr %dst, %lhs, %rhs, %mask : T */
static bool parse_assembly(lw_pto_parser *p, making *m) {
    const lw_pto_type *type, *types[LW_PTO_RESULTS_MAX];
    uint32_t outs = m->signature->out_count;
    if (!no_names(p, m) || !lw_pto_parse_operands(p, &m->ins) || !parse_colon(p, m)) return false;
    lw_place start = p->token.place;
    if (!lw_pto_parse_type(p, &type)) return false;
    m->op->type_place = lw_pto_since(p, start);
    m->op->type = type;
    if (m->ins.count < outs) return wrong_count(p, m, 0);
    m->outs = (lw_pto_range){m->ins.from, outs};
    m->ins = (lw_pto_range){m->ins.from + outs, m->ins.count - outs};
    if (!fill_slots(p, m)) return false;
    for (uint32_t i = 0; i < outs; i++) types[i] = assembly_type(m, i, type);
    define_registers(p, m, types);
    return true;
}

static bool parse_group(lw_pto_parser *p, lw_pto_range *written, lw_pto_range *types) {
    if (!lw_pto_expect(p, '(')) return false;
    if (lw_pto_take(p, ')')) return true;
    return lw_pto_parse_operands(p, written) && lw_pto_expect(p, ':') && lw_pto_parse_types(p, types) &&
           lw_pto_expect(p, ')');
}

/* pto.vshr ins(… : …) outs(… : …) */
static bool parse_dps(lw_pto_parser *p, making *m) {
    const lw_pto_type *types[LW_PTO_RESULTS_MAX];
    lw_place start = p->token.place;
    if (!no_names(p, m)) return false;
    if (lw_pto_take_word(p, p->words.ins) && !parse_group(p, &m->ins, &m->types)) return false;
    if (!lw_pto_expect_word(p, p->words.outs) || !parse_group(p, &m->outs, &m->out_types)) return false;
    m->op->type_place = lw_pto_since(p, start);
    if (!lw_pto_parse_attributes(p, &m->op->attributes) || !fill_slots(p, m)) return false;
    if (!check_types(p, m, m->types, false, false) || !check_types(p, m, m->out_types, true, false)) return false;
    for (uint32_t i = 0; i < m->signature->out_count; i++) types[i] = p->types.at[m->out_types.from + i].type;
    define_registers(p, m, types);
    return true;
}

static bool parse_form(lw_pto_parser *p, making *m, bool assembly) {
    bool mlir = m->row->page == LW_PTO_PAGE_MLIR;
    if (!lw_pto_parse_attributes(p, &m->op->attributes)) return false;
    if (m->row->word && !parse_word(p, m)) return false;
    if (m->row->literal == LW_PTO_LITERAL_INT) return parse_constant(p, m);
    if (m->row->literal == LW_PTO_LITERAL_BITS && !parse_bits(p, m)) return false;
    if (mlir) return parse_mlir(p, m);
    bool dps = lw_pto_at_word(p, p->words.ins) || lw_pto_at_word(p, p->words.outs);
    m->op->form = assembly ? LW_PTO_ASSEMBLY : dps ? LW_PTO_DPS : LW_PTO_SSA;
    if (assembly && dps) {
        const char *text = lw_arena_printf(p->arena, "with ins and outs this operation is spelled %s", m->row->name);
        lw_diag_add(p->diags, LW_D_pto_form_mixed, m->op->name_place, text);
        return false;
    }
    return assembly ? parse_assembly(p, m) : dps ? parse_dps(p, m) : parse_ssa(p, m);
}

/* ---- The type that an operation goes by ---------------------------------------------------------------------- */

static const lw_pto_type *first_of(const lw_pto_op *op, lw_pto_kind kind) {
    for (uint32_t i = 0; i < op->result_count; i++)
        if (op->results[i]->type && op->results[i]->type->kind == kind) return op->results[i]->type;
    for (uint32_t i = 0; i < op->operand_count; i++)
        if (op->operands[i] && op->operands[i]->type && op->operands[i]->type->kind == kind)
            return op->operands[i]->type;
    return NULL;
}

static void set_type(lw_pto_op *op, const making *m) {
    if (m->row->page == LW_PTO_PAGE_MLIR) {
        op->type = op->operand_count ? op->operands[op->operand_count - 1]->type : op->results[0]->type;
        return;
    }
    if (!op->type) op->type = first_of(op, LW_PTO_VREG);
    if (!op->type) op->type = first_of(op, LW_PTO_MASK);
}

bool lw_pto_parse_row(lw_pto_parser *p, lw_pto_op *op, lw_pto_range names, bool assembly) {
    making m = {
        .op = op, .row = &lw_pto_rows[op->id], .signature = lw_pto_signature_of(p->module, op->id), .names = names};
    uint32_t written = p->written.count, types = p->types.count;
    bool good = parse_form(p, &m, assembly);
    p->written.count = written;
    p->types.count = types;
    if (!good) return false;
    set_type(op, &m);
    check_bits(p, op);
    return lw_pto_parse_attributes(p, &op->attributes);
}
