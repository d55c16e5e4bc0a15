/* resolve_variable.c: the rules of declarations, sizes and initial values (manual sections 5.1, 5.2 and 5.4). */
#include "front/ptx/resolve.h"

/* Sizes beyond this cannot be laid out with others in one 64-bit space. */
static const uint64_t size_max = (uint64_t)1 << 48;

/* Alternate formats are types of instructions; variables hold them as .b16 or .b32 (manual section 5.2.3). */
static bool is_instruction_type(lw_type type) {
    return lw_types[type].kind == 'X' && !lw_type_is_opaque(type) && type != LW_T_f16x2;
}

static void fault(lw_resolver *r, lw_diag_id id, const lw_object *o) {
    lw_diag_add(r->diags, id, o->place, o->name->text);
}

/* What variables and functions have in common. */
void lw_linkage_gate(lw_resolver *r, const lw_object *o) {
    if (o->linkage == LW_LINK_weak) lw_gate_check(r, LW_GATE_weak, o->place);
    if (o->linkage == LW_LINK_common) lw_gate_check(r, LW_GATE_common, o->place);
    if (o->managed) lw_gate_check(r, LW_GATE_managed, o->place);
    if (o->unified) lw_gate_check(r, LW_GATE_unified, o->place);
}

/* ---- Sizes --------------------------------------------------------------------------------------------- */

static uint64_t element_size(const lw_object *o) { return (uint64_t)lw_types[o->type].bits / 8 * o->vector; }

/* The product of the dimensions from `from` on, and of the element; false where that is beyond any memory. */
static bool extent(const lw_object *o, uint32_t from, uint64_t *size) {
    *size = element_size(o);
    for (uint32_t i = from; i < o->dimension_count; i++)
        if (__builtin_mul_overflow(*size, o->dimensions[i], size) || *size > size_max) return false;
    return true;
}

/* a[] = {…} has as many elements as there are values. */
static void close_dimension(lw_object *o) {
    if (!o->unsized || !o->init || o->init->kind != LW_INIT_LIST || !o->init->part_count) return;
    o->dimensions[0] = o->init->part_count;
    o->unsized = false;
}

static void settle_size(lw_resolver *r, lw_object *o) {
    for (uint32_t i = 1; i < o->dimension_count; i++)
        if (!o->dimensions[i]) {
            lw_diag_add(r->diags, LW_D_zero_dimension, o->place, o->name->text);
            return;
        }
    if (!extent(o, o->unsized ? 1 : 0, &o->size)) {
        lw_diag_add(r->diags, LW_D_too_large, o->place, o->name->text);
        o->size = 0;
    }
    if (o->unsized || o->space == LW_SPACE_reg) o->size = 0;
}

static void settle_align(lw_object *o) {
    uint32_t natural = (uint32_t)element_size(o);
    if (!o->align) o->align = natural ? natural : 1;
}

/* ---- Constant memory (manual section 5.1.3) -------------------------------------------------------------- */

enum { CONST_BYTES = 65536, ALIGNS = 32 };

static uint64_t align_up(uint64_t size, uint64_t align) { return (size + align - 1) & ~(align - 1); }

/* All variables of a module share it. Those of one alignment are taken to lie together, the larger alignments first: no
 * other order takes less. Of a range only what is used counts. */
void lw_const_count(lw_resolver *r, const lw_object *o) {
    uint64_t *bytes = &r->const_bytes[__builtin_ctz(o->align)], all = 0;
    if (o->space != LW_SPACE_const || o->linkage == LW_LINK_extern || !o->size) return;
    *bytes = o->size > CONST_BYTES ? 2 * CONST_BYTES : align_up(*bytes, o->align) + o->size;
    for (uint32_t k = ALIGNS; k-- > 0 && all <= CONST_BYTES;)
        if (r->const_bytes[k]) all = align_up(all, UINT64_C(1) << k) + r->const_bytes[k];
    if (all <= CONST_BYTES || r->const_full) return;
    r->const_full = true;
    lw_diag_add(r->diags, LW_D_const_full, o->place, o->name->text, CONST_BYTES);
}

/* ---- Rules --------------------------------------------------------------------------------------------- */

static void check_gates(lw_resolver *r, const lw_object *o) {
    if (o->type == LW_T_f16x2) lw_gate_check(r, LW_GATE_f16x2, o->place);
    if (o->type == LW_T_b128) lw_gate_check(r, LW_GATE_b128, o->place);
    if (lw_type_is_opaque(o->type)) lw_gate_check(r, LW_GATE_opaque, o->place);
    if (o->is_pointer) lw_gate_check(r, LW_GATE_ptr, o->place);
    lw_linkage_gate(r, o);
}

/* Banks beyond the first are of external arrays only (manual section 5.1.3, and that of PTX 2.1). */
static void check_bank(lw_resolver *r, const lw_object *o) {
    enum { BANKS_GONE = 22 };
    if (r->module->version >= BANKS_GONE) fault(r, LW_D_bank_gone, o);
    else if (o->bank > 1) lw_gate_check(r, LW_GATE_const_bank, o->place);
    if (o->bank > 1 && !(o->linkage == LW_LINK_extern && o->unsized)) fault(r, LW_D_bank_array, o);
}

/* Textures of PTX before 1.5. */
static void check_tex(lw_resolver *r, const lw_object *o) {
    enum { TEX_GONE = 15 };
    if (r->module->version >= TEX_GONE) fault(r, LW_D_tex_space, o);
    else if ((o->type != LW_T_u32 && o->type != LW_T_u64) || o->vector > 1 || o->dimension_count || o->owner)
        fault(r, LW_D_tex_type, o);
}

static void check_type(lw_resolver *r, const lw_object *o) {
    check_gates(r, o);
    if (is_instruction_type(o->type)) lw_diag_add(r->diags, LW_D_instruction_type, o->place, lw_types[o->type].name);
    if (o->type == LW_T_pred && o->space != LW_SPACE_reg) fault(r, LW_D_pred_space, o);
    if (element_size(o) > 16) fault(r, LW_D_vector_width, o);
    if (o->vector > 1 && (o->type == LW_T_pred || lw_type_is_opaque(o->type)))
        lw_diag_add(r->diags, LW_D_vector_type, o->place, lw_types[o->type].name);
    if (o->space == LW_SPACE_reg && o->dimension_count) fault(r, LW_D_register_array, o);
}

static void check_space(lw_resolver *r, const lw_object *o) {
    const char *space = lw_space_names[o->space];
    if (o->space == LW_SPACE_sreg) lw_diag_add(r->diags, LW_D_space_in_body, o->place, space);
    else if (o->space == LW_SPACE_tex) check_tex(r, o);
    else if (!o->owner && (o->space == LW_SPACE_param ||
                           (r->module->version >= 30 && (o->space == LW_SPACE_reg || o->space == LW_SPACE_local))))
        lw_diag_add(r->diags, LW_D_space_at_module, o->place, space);
    if (o->bank) check_bank(r, o);
    if (o->linkage == LW_LINK_common && o->space != LW_SPACE_global) fault(r, LW_D_common_space, o);
    if (o->managed && o->space != LW_SPACE_global) lw_diag_add(r->diags, LW_D_managed_space, o->place, "managed");
    if (o->unified && o->space != LW_SPACE_global) lw_diag_add(r->diags, LW_D_managed_space, o->place, "unified");
}

static bool target_names(const lw_module_ptx *m, const char *word) {
    for (uint32_t i = 0; i < m->target_count; i++)
        if (!strcmp(m->targets[i]->text, word)) return true;
    return false;
}

bool lw_ptx_independent_textures(const lw_module_ptx *m) { return target_names(m, "texmode_independent"); }
bool lw_ptx_is_debugged(const lw_module_ptx *m) { return target_names(m, "debug"); }

static void check_opaque(lw_resolver *r, const lw_object *o) {
    if (!lw_type_is_opaque(o->type)) return;
    bool kernel_parameter = o->is_param && o->owner && o->owner->is_entry;
    bool global = !o->owner && o->space == LW_SPACE_global;
    if (!kernel_parameter && !global) lw_diag_add(r->diags, LW_D_opaque_place, o->place, lw_types[o->type].name);
    else if (o->type == LW_T_samplerref && !lw_ptx_independent_textures(r->module)) fault(r, LW_D_sampler_mode, o);
}

/* What a function hands over in memory, at either end of a call. */
static void check_parameter(lw_resolver *r, const lw_object *o) {
    enum { ALIGN_MOST = 128 };
    bool is_array = !o->is_param && o->dimension_count; /* of vectors: only formal parameters cannot be that */
    if ((o->vector > 1 && !is_array) || o->type == LW_T_f16x2) fault(r, LW_D_parameter_vector, o);
    if (o->align > ALIGN_MOST) lw_diag_add(r->diags, LW_D_parameter_align, o->place, o->name->text, ALIGN_MOST);
}

void lw_variable_settle(lw_resolver *r, lw_object *o) {
    close_dimension(o);
    check_type(r, o);
    check_space(r, o);
    check_opaque(r, o);
    settle_size(r, o);
    settle_align(o);
    if (o->unsized && o->linkage != LW_LINK_extern) fault(r, LW_D_incomplete, o);
    if (!o->is_range) lw_const_count(r, o);
    if (o->space != LW_SPACE_param || !o->owner) return;
    if (r->module->version >= 14)
        lw_gate_check(r, LW_GATE_call_parameters, o->place); /* before 1.4 kernels had their parameters there */
    check_parameter(r, o);
}

/* Predicates and the typed 8- and 16-bit values have no place in the calling convention; untyped ones have. */
static bool is_handed_over(const lw_object *o) {
    char kind = lw_types[o->type].kind;
    bool narrow = (kind == 'U' || kind == 'S') && lw_types[o->type].bits <= 16;
    return kind != 'P' && (!narrow || o->dimension_count);
}

static void settle_defined(lw_resolver *r, const lw_object *o, const lw_function *f) {
    check_type(r, o);
    check_opaque(r, o);
    if (f->is_entry) {
        lw_gate_check(r, LW_GATE_kernel_parameters, o->place);
        if (o->space != LW_SPACE_param) fault(r, LW_D_parameter_space, o);
        else if (o->vector > 1 || o->type == LW_T_f16x2) fault(r, LW_D_parameter_vector, o);
        return;
    }
    if (o->space == LW_SPACE_param) check_parameter(r, o);
    const lw_type_info *type = &lw_types[o->type];
    if (r->module->version >= 30 && !is_handed_over(o))
        lw_diag_add(r->diags, LW_D_parameter_narrow, o->place, type->name, type->kind == 'P' ? 32u : type->bits);
}

/* What is defined elsewhere, if at all, is not looked at closely. */
static void settle_declared(lw_resolver *r, const lw_object *o, bool in_prototype) {
    check_gates(r, o);
    if (is_instruction_type(o->type)) lw_diag_add(r->diags, LW_D_instruction_type, o->place, lw_types[o->type].name);
    if (element_size(o) > 16) fault(r, LW_D_vector_width, o);
    if (o->is_pointer && !in_prototype) fault(r, LW_D_pointer_place, o);
}

void lw_parameter_settle(lw_resolver *r, lw_object *o, const lw_function *f, bool in_prototype) {
    bool last = !o->is_return && f->param_count && f->params[f->param_count - 1] == o && !f->is_entry;
    settle_size(r, o);
    settle_align(o);
    if (f->is_entry || f->has_body) settle_defined(r, o, f);
    else settle_declared(r, o, in_prototype);
    if (o->unsized && !last) fault(r, LW_D_parameter_open, o);
    else if (o->unsized) lw_gate_check(r, LW_GATE_open_parameter, o->place);
    if (!f->is_entry && o->space == LW_SPACE_param) lw_gate_check(r, LW_GATE_function_parameters, o->place);
    if (o->is_pointer && f->has_body && !f->is_entry) fault(r, LW_D_pointer_place, o);
    if (!in_prototype && o->name->size == 1 && o->name->text[0] == '_') fault(r, LW_D_parameter_sink, o);
}

/* ---- Initial values ------------------------------------------------------------------------------------ */

static void init_fault(lw_resolver *r, lw_diag_id id, const lw_init *init, const char *text) {
    lw_diag_add(r->diags, id, init->place, text);
}

static void check_value(lw_resolver *r, const lw_object *o, const lw_init *init) {
    const lw_type_info *type = &lw_types[o->type];
    if (type->kind == 'F' && type->bits == 16) init_fault(r, LW_D_init_half, init, type->name);
    else if (type->kind == 'F' && !init->is_float) init_fault(r, LW_D_init_float, init, type->name);
    else if ((type->kind == 'U' || type->kind == 'S') && init->is_float)
        init_fault(r, LW_D_init_integer, init, type->name);
    else if (type->kind == 'X') init_fault(r, LW_D_init_half, init, type->name);
}

static bool holds_address(const lw_object *o, const lw_init *init) {
    if (lw_types[o->type].kind != 'U') return false;
    return init->value || o->type == LW_T_u32 || o->type == LW_T_u64;
}

/* An address is that of a variable which is already declared, or of a function (manual section 5.4.4). */
static void check_address(lw_resolver *r, const lw_object *o, lw_init *init) {
    uint32_t index;
    init->object = lw_binding_find(r, init->name, &index);
    const lw_object *to = init->object;
    if (!to) {
        lw_report_undeclared(r, init->name, init->place);
        return;
    }
    bool variable = to->kind == LW_OBJ_VARIABLE && (to->space == LW_SPACE_global || to->space == LW_SPACE_const);
    bool function = to->kind == LW_OBJ_FUNCTION && !init->generic && !init->offset;
    if (!variable && !function) init_fault(r, LW_D_init_address, init, init->name->text);
    else if (!holds_address(o, init)) init_fault(r, LW_D_init_type, init, lw_types[o->type].name);
    lw_gate_id gate = function ? LW_GATE_function_value : LW_GATE_address;
    if (init->generic) gate = LW_GATE_generic;
    if (init->value) gate = LW_GATE_mask;
    lw_gate_check(r, gate, init->place);
}

static void check_level(lw_resolver *r, const lw_object *o, lw_init *init, uint32_t level);

/* { … }: as many values as the dimension at most; a vector has all of its elements. */
static void check_list(lw_resolver *r, const lw_object *o, lw_init *init, uint32_t level) {
    bool is_vector = level == o->dimension_count;
    if (level > o->dimension_count) {
        init_fault(r, LW_D_init_depth, init, o->name->text);
        return;
    }
    if (is_vector && o->vector == 1) {
        init_fault(r, level ? LW_D_init_depth : LW_D_init_scalar, init, o->name->text);
        return;
    }
    if (is_vector && init->part_count != o->vector) {
        lw_diag_add(r->diags, LW_D_init_vector, init->place, o->vector);
        return;
    }
    if (!is_vector && init->part_count > o->dimensions[level]) {
        init_fault(r, LW_D_init_too_many, &init->parts[o->dimensions[level]], o->name->text);
        return;
    }
    for (uint32_t i = 0; i < init->part_count; i++) check_level(r, o, &init->parts[i], level + 1);
}

/* `level` dimensions have been opened; behind the last there are the elements of a vector. */
static void check_level(lw_resolver *r, const lw_object *o, lw_init *init, uint32_t level) {
    uint32_t most = o->dimension_count + (o->vector > 1);
    if (init->kind == LW_INIT_LIST) check_list(r, o, init, level);
    else if (level < most) init_fault(r, LW_D_init_array, init, o->name->text);
    else if (init->kind == LW_INIT_NAME) check_address(r, o, init);
    else check_value(r, o, init);
}

void lw_variable_init(lw_resolver *r, lw_object *o) {
    if (o->linkage == LW_LINK_extern) fault(r, LW_D_extern_value, o);
    else if (o->space != LW_SPACE_global && o->space != LW_SPACE_const)
        lw_diag_add(r->diags, LW_D_space_value, o->init->place, lw_space_names[o->space]);
    else if (!lw_type_is_opaque(o->type)) check_level(r, o, o->init, 0);
}
