/* parse_variable.c: variable declarations, parameters, initialisers (manual sections 5.4, 5.1.6 and 11). */
#include "front/ptx/parse.h"

/* ---- Parts of a declaration ---------------------------------------------------------------------------- */

static bool parse_align(lw_parser *p, lw_object *o) {
    uint64_t value;
    lw_parser_next(p);
    lw_place place = p->token.place;
    if (!lw_parse_literal(p, "an alignment in bytes", UINT32_MAX, &value)) return false;
    if (!value || value & (value - 1)) {
        lw_diag_add(p->module->diags, LW_D_bad_alignment, place, (unsigned long long)value);
        value = 1;
    }
    o->align = (uint32_t)value;
    o->align_written = true;
    return true;
}

static bool parse_unified(lw_parser *p, lw_object *o) {
    o->unified = true;
    if (!lw_parser_expect(p, '(')) return false;
    if (!lw_parse_literal(p, "an identifier's first half", UINT64_MAX, &o->unified_id[0])) return false;
    if (!lw_parser_expect(p, ',')) return false;
    return lw_parse_literal(p, "an identifier's second half", UINT64_MAX, &o->unified_id[1]) &&
           lw_parser_expect(p, ')');
}

bool lw_parse_attribute(lw_parser *p, lw_object *o) {
    lw_parser_next(p);
    if (!lw_parser_expect(p, '(')) return false;
    do {
        bool managed = p->token.kind == LW_TOKEN_DOT && !strcmp(p->token.name->text, "managed");
        bool unified = p->token.kind == LW_TOKEN_DOT && !strcmp(p->token.name->text, "unified");
        if (!managed && !unified) return lw_parser_expected(p, "'.managed' or '.unified'");
        lw_parser_next(p);
        o->managed |= managed;
        if (unified && !parse_unified(p, o)) return false;
    } while (lw_parser_take(p, ','));
    return lw_parser_expect(p, ')');
}

/* .align and .attribute in any order. */
static bool parse_traits(lw_parser *p, lw_object *o) {
    for (;;) {
        if (lw_parser_at_word(p, LW_WORD_ALIGN)) {
            if (!parse_align(p, o)) return false;
        } else if (lw_parser_at_word(p, LW_WORD_ATTRIBUTE)) {
            if (!lw_parse_attribute(p, o)) return false;
        } else return true;
    }
}

static bool parse_aligns(lw_parser *p, lw_object *o) {
    while (lw_parser_at_word(p, LW_WORD_ALIGN))
        if (!parse_align(p, o)) return false;
    return true;
}

static bool parse_type(lw_parser *p, lw_object *o) {
    o->vector = 1;
    if (lw_parser_at_word(p, LW_WORD_VECTOR)) {
        o->vector = lw_parser_word(p)->value;
        lw_parser_next(p);
    }
    if (!lw_parser_at_word(p, LW_WORD_TYPE)) return lw_parser_expected(p, "a type such as '.b32'");
    o->type = (lw_type)lw_parser_word(p)->value;
    lw_parser_next(p);
    return true;
}

/* [4][], first dimension open or not. */
static bool parse_dimensions(lw_parser *p, lw_object *o, uint32_t most) {
    while (lw_parser_at(p, '[')) {
        if (o->dimension_count == most) {
            lw_diag_add(p->module->diags, LW_D_too_many_dimensions, p->token.place, most);
            return false;
        }
        lw_parser_next(p);
        uint64_t count = 0;
        if (lw_parser_at(p, ']') && o->dimension_count == 0) o->unsized = true;
        else if (!lw_parse_literal(p, "a number of elements", UINT64_MAX, &count)) return false;
        if (!lw_parser_expect(p, ']')) return false;
        if (count == 0 && o->dimension_count == 0) o->unsized = true; /* the manual: a[0] is an incomplete array too */
        o->dimensions[o->dimension_count++] = count;
    }
    return true;
}

static bool parse_range(lw_parser *p, lw_object *o) {
    uint64_t count;
    lw_parser_next(p);
    if (!lw_parse_literal(p, "a number of names", UINT32_MAX, &count)) return false;
    o->is_range = true;
    o->range = (uint32_t)count;
    return lw_parser_expect(p, '>');
}

/* ---- Initialisers -------------------------------------------------------------------------------------- */

/* name, name+8, generic(name), generic(name)+8 */
static bool parse_init_name(lw_parser *p, lw_init *init) {
    init->kind = LW_INIT_NAME;
    lw_place place;
    if (!lw_parse_name(p, "the name of a variable or function", &init->name, &place)) return false;
    if (init->name == p->generic && lw_parser_take(p, '(')) {
        init->generic = true;
        if (!lw_parse_name(p, "the name of a variable", &init->name, &place)) return false;
        if (!lw_parser_expect(p, ')')) return false;
    }
    return lw_parse_offset(p, &init->offset);
}

/* 0xff00(name): one byte of an address (manual section 5.4.4). */
static bool parse_mask(lw_parser *p, lw_init *init, const lw_constant *mask) {
    lw_parser_next(p);
    bool one_byte = false;
    for (int i = 0; i < 64; i += 8) one_byte |= mask->value == (uint64_t)0xff << i;
    if (mask->is_float || !one_byte) lw_diag_add(p->module->diags, LW_D_bad_mask, mask->place);
    if (!parse_init_name(p, init) || !lw_parser_expect(p, ')')) return false;
    init->value = mask->value;
    return true;
}

static bool parse_init_value(lw_parser *p, lw_init *init) {
    lw_constant value;
    if (!lw_parse_constant(p, &value)) return false;
    if (lw_parser_at(p, '(')) return parse_mask(p, init, &value);
    *init = (lw_init){.kind = LW_INIT_VALUE,
                      .place = value.place,
                      .is_float = value.is_float,
                      .single = value.single,
                      .is_unsigned = value.is_unsigned,
                      .value = value.value};
    return true;
}

/* { a, b, … }; { } is legal and leaves everything zero. */
static bool parse_init_list(lw_parser *p, lw_init *init) {
    uint32_t from = p->inits.count;
    if (!lw_parser_enter(p)) return false;
    p->braces++;
    lw_parser_next(p);
    init->kind = LW_INIT_LIST;
    if (!lw_parser_at(p, '}')) {
        do {
            lw_init part = {0};
            if (!lw_parse_init(p, &part)) return p->inits.count = from, false;
            LW_PUSH(p->arena, p->inits) = part;
        } while (lw_parser_take(p, ','));
    }
    init->part_count = p->inits.count - from;
    init->parts = lw_arena_copy(p->arena, p->inits.at + from, init->part_count * sizeof(lw_init));
    p->inits.count = from;
    lw_parser_leave(p);
    if (!lw_parser_expect(p, '}')) return false;
    p->braces--;
    return true;
}

bool lw_parse_init(lw_parser *p, lw_init *init) {
    lw_place start = p->token.place;
    bool fine;
    if (lw_parser_at(p, '{')) fine = parse_init_list(p, init);
    else if (p->token.kind == LW_TOKEN_NAME && p->token.name != p->warp_size) fine = parse_init_name(p, init);
    else fine = parse_init_value(p, init);
    init->place = lw_parser_since(p, start);
    return fine;
}

/* What the fields of a sampler can be; those of textures and surfaces are of no interest to anybody before they are
 * executed. */
static bool is_field(const lw_object *o, const char *name) {
    static const char *const fields[] = {"addr_mode_0", "addr_mode_1", "addr_mode_2", "filter_mode",
                                         "force_unnormalized_coords"};
    for (size_t i = 0; i < LW_COUNT(fields); i++)
        if (!strcmp(name, fields[i])) return true;
    return o->type != LW_T_samplerref;
}

/* {addr_mode_0 = wrap, filter_mode = nearest}: fields of a sampler or texture (manual section 5.3). Each becomes a list
 * of its name and its value. */
static bool parse_fields(lw_parser *p, const lw_object *o, lw_init *init) {
    uint32_t from = p->inits.count;
    lw_place start = p->token.place;
    init->kind = LW_INIT_LIST;
    p->braces++;
    if (!lw_parser_expect(p, '{')) return false;
    while (!lw_parser_at(p, '}') || p->inits.count > from) {
        lw_init field = {.kind = LW_INIT_LIST, .place = p->token.place, .part_count = 2};
        field.parts = LW_NEW_ARRAY(p->arena, lw_init, 2);
        field.parts[0].kind = LW_INIT_NAME;
        bool known = p->token.kind != LW_TOKEN_NAME || is_field(o, p->token.name->text);
        if (!known || !lw_parse_name(p, "the name of a field", &field.parts[0].name, &field.parts[0].place))
            return known ? false : lw_parser_expected(p, "the name of a field of a sampler");
        if (!lw_parser_expect(p, '=')) return false;
        if (p->token.kind == LW_TOKEN_NAME) {
            field.parts[1].kind = LW_INIT_NAME;
            lw_parse_name(p, "a value", &field.parts[1].name, &field.parts[1].place);
        } else if (!parse_init_value(p, &field.parts[1])) return false;
        field.place = lw_parser_since(p, field.place);
        LW_PUSH(p->arena, p->inits) = field;
        if (!lw_parser_take(p, ',')) break;
    }
    init->part_count = p->inits.count - from;
    init->parts = lw_arena_copy(p->arena, p->inits.at + from, init->part_count * sizeof(lw_init));
    p->inits.count = from;
    if (!lw_parser_expect(p, '}')) return false;
    p->braces--;
    init->place = lw_parser_since(p, start);
    return true;
}

static bool parse_value(lw_parser *p, lw_object *o) {
    lw_parser_next(p);
    lw_init init = {0};
    bool fields = lw_type_is_opaque(o->type) && o->dimension_count == 0;
    if (fields ? !parse_fields(p, o, &init) : !lw_parse_init(p, &init)) return false;
    o->init = lw_arena_copy(p->arena, &init, sizeof init);
    return true;
}

/* ---- Declarations -------------------------------------------------------------------------------------- */

static void add_variable(lw_parser *p, lw_object *o, lw_scope_kind scope) {
    if (scope == LW_IN_MODULE) {
        lw_item *item = &LW_PUSH(p->arena, p->module->items);
        *item = (lw_item){.kind = LW_ITEM_VARIABLE, .place = o->place, .object = o};
        return;
    }
    LW_PUSH(p->arena, p->body) = (lw_statement){.kind = LW_S_VARIABLE, .place = o->place, .object = o};
    o->owner = p->function;
}

/* One name of a declaration with its range, dimensions and value. It is kept also where these are faulty, so that its
 * uses are no further faults. */
static bool parse_declarator(lw_parser *p, const lw_object *shape, lw_scope_kind scope) {
    if (p->token.kind != LW_TOKEN_NAME || p->token.name == p->sink || p->token.name == p->warp_size)
        return lw_parser_expected(p, "a name");
    lw_object *o = lw_arena_copy(p->arena, shape, sizeof *shape);
    o->name = p->token.name;
    o->place = p->token.place;
    lw_parser_next(p);
    add_variable(p, o, scope);
    if (lw_parser_at(p, '<')) return parse_range(p, o);
    if (!parse_dimensions(p, o, LW_DIMENSIONS_MAX)) return false;
    return !lw_parser_at(p, '=') || parse_value(p, o);
}

/* .const[2], in PTX before 2.2 */
static bool parse_bank(lw_parser *p, lw_object *o) {
    enum { BANK_MOST = 10 };
    uint64_t bank;
    if (o->space != LW_SPACE_const || !lw_parser_take(p, '[')) return true;
    if (!lw_parse_literal(p, "the number of a bank", BANK_MOST, &bank) || !lw_parser_expect(p, ']')) return false;
    o->bank = (uint8_t)(1 + bank);
    return true;
}

bool lw_parse_variables(lw_parser *p, lw_linkage linkage, lw_scope_kind scope) {
    lw_object shape = {.kind = LW_OBJ_VARIABLE, .linkage = linkage};
    if (!parse_traits(p, &shape)) return false;
    if (!lw_parser_at_word(p, LW_WORD_SPACE)) return lw_parser_expected(p, "a state space");
    shape.space = (lw_space)lw_parser_word(p)->value;
    lw_parser_next(p);
    if (!parse_bank(p, &shape) || !parse_traits(p, &shape) || !parse_type(p, &shape)) return false;
    do
        if (!parse_declarator(p, &shape, scope)) return false;
    while (lw_parser_take(p, ','));
    return lw_parser_semicolon(p);
}

/* .ptr with the space that it points into and the alignment there (manual section 5.1.6.3). */
static bool parse_pointer(lw_parser *p, lw_object *o) {
    lw_parser_next(p);
    o->is_pointer = true;
    o->pointer_align = 4;
    if (lw_parser_at_word(p, LW_WORD_SPACE)) {
        o->pointer_space = (lw_space)lw_parser_word(p)->value;
        bool memory = o->pointer_space == LW_SPACE_global || o->pointer_space == LW_SPACE_shared ||
                      o->pointer_space == LW_SPACE_const || o->pointer_space == LW_SPACE_local;
        if (!memory) return lw_parser_expected(p, "'.global', '.shared', '.const' or '.local'");
        lw_parser_next(p);
    }
    if (!lw_parser_at_word(p, LW_WORD_ALIGN)) return true;
    lw_object pointee = {0};
    if (!parse_align(p, &pointee)) return false;
    o->pointer_align = pointee.align;
    o->pointer_align_written = true;
    return true;
}

bool lw_parse_parameter(lw_parser *p, lw_object **object, bool late_align) {
    lw_object *o = LW_NEW(p->arena, lw_object);
    *o = (lw_object){.kind = LW_OBJ_VARIABLE, .is_param = true, .place = p->token.place};
    *object = o;
    if (!parse_aligns(p, o)) return false;
    bool space = lw_parser_at_word(p, LW_WORD_SPACE);
    if (space) o->space = (lw_space)lw_parser_word(p)->value;
    if (o->space != LW_SPACE_param && o->space != LW_SPACE_reg) return lw_parser_expected(p, "'.param' or '.reg'");
    lw_parser_next(p);
    if (!parse_aligns(p, o) || !parse_type(p, o) || (late_align && !parse_aligns(p, o))) return false;
    if (lw_parser_at_word(p, LW_WORD_PTR) && !parse_pointer(p, o)) return false;
    if (!lw_parse_name(p, "the parameter's name", &o->name, &o->place)) return false;
    return parse_dimensions(p, o, 1);
}
