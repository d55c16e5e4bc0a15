/* operand.c: what operands stand for: registers, constants, special registers, addresses. */
#include "reference.h"

/* ---- Registers ------------------------------------------------------------------------------------------ */

static bool is_register(const lw_operand *operand) {
    return operand->kind == LW_O_NAME && operand->object && operand->object->kind == LW_OBJ_VARIABLE &&
           operand->object->space == LW_SPACE_reg;
}

ref_value *ref_register(ref_thread *t, const lw_operand *operand) {
    if (operand->kind == LW_O_VECTOR && operand->part_count == 1) return ref_register(t, &operand->parts[0]);
    if (!is_register(operand)) return NULL;
    uint32_t element = operand->select >= LW_SEL_x && operand->select <= LW_SEL_w ? operand->select - LW_SEL_x : 0;
    return &t->frame->registers[operand->object->number + operand->index * operand->object->vector + element];
}

static uint32_t warp_threads(const ref_thread *t) { return t->machine->thread_count; }

static bool read_special(ref_thread *t, const lw_operand *operand, uint64_t *value) {
    const ref_launch *launch = t->machine->launch;
    uint32_t lane = t->number % 32, axis = operand->select ? operand->select - LW_SEL_x : 0;
    switch ((lw_special)(operand->special - 1)) {
    case LW_SPECIAL_tid: *value = axis < 3 ? t->tid[axis] : 0; return true;
    case LW_SPECIAL_ntid: *value = axis < 3 ? launch->block[axis] : 0; return true;
    case LW_SPECIAL_ctaid: *value = axis < 3 ? t->machine->ctaid[axis] : 0; return true;
    case LW_SPECIAL_nctaid: *value = axis < 3 ? launch->grid[axis] : 0; return true;
    case LW_SPECIAL_laneid: *value = lane; return true;
    case LW_SPECIAL_warpid: *value = t->number / 32; return true;
    case LW_SPECIAL_nwarpid: *value = (warp_threads(t) + 31) / 32; return true;
    case LW_SPECIAL_lanemask_eq: *value = (uint32_t)1 << lane; return true;
    case LW_SPECIAL_lanemask_lt: *value = ((uint32_t)1 << lane) - 1; return true;
    case LW_SPECIAL_lanemask_le: *value = (((uint64_t)1 << lane) << 1) - 1; return true;
    case LW_SPECIAL_lanemask_gt: *value = (uint32_t) ~((((uint64_t)1 << lane) << 1) - 1); return true;
    case LW_SPECIAL_lanemask_ge: *value = (uint32_t) ~(((uint32_t)1 << lane) - 1); return true;
    case LW_SPECIAL_clusterid:
        *value = axis < 3 ? t->machine->ctaid[axis] : 0;
        return true; /* each CTA is a cluster of its own */
    case LW_SPECIAL_nclusterid: *value = axis < 3 ? launch->grid[axis] : 0; return true;
    case LW_SPECIAL_cluster_ctaid:
    case LW_SPECIAL_cluster_ctarank: *value = 0; return true;
    case LW_SPECIAL_cluster_nctaid: *value = axis < 3; return true;
    case LW_SPECIAL_cluster_nctarank: *value = 1; return true;
    case LW_SPECIAL_is_explicit_cluster: *value = 0; return true;
    default: return false; /* clocks and the like: never the same twice */
    }
}

uint64_t ref_name_address(ref_thread *t, const lw_operand *operand) {
    const lw_object *object = operand->object;
    if (object->kind == LW_OBJ_FUNCTION) return REF_FUNCTION_BASE + 16 * (uint64_t)object->function->object->number;
    uint64_t address = object->address + (uint64_t)operand->offset;
    bool of_kernel = object->space == LW_SPACE_param && object->is_param && t->frame->function->is_entry;
    bool in_frame = object->space == LW_SPACE_local || (object->space == LW_SPACE_param && !of_kernel);
    return in_frame ? address + t->frame->locals : address;
}

uint64_t ref_read(ref_thread *t, const ref_op *op, const lw_operand *operand, lw_type type) {
    uint64_t value = 0;
    switch (operand->kind) {
    case LW_O_INT: value = type == LW_T_pred ? operand->value != 0 : operand->value; break;
    case LW_O_FLOAT: value = lw_float_bits(operand->value, operand->single, ref_bits(type)); break;
    case LW_O_VECTOR:
        if (operand->part_count == 1) return ref_read(t, op, &operand->parts[0], type);
        ref_stop(t, op, REF_UNKNOWN, "a vector where a value is wanted");
        break;
    case LW_O_NAME:
        if (operand->special) {
            if (!read_special(t, operand, &value))
                ref_stop(t, op, REF_UNDEFINED, "a special register that has no defined value");
        } else if (is_register(operand)) {
            const ref_value *from = ref_register(t, operand);
            if (!from->written) ref_stop(t, op, REF_UNDEFINED, "a register that nobody wrote");
            value = from->low;
            if (operand->negated) value = !value;
        } else value = ref_name_address(t, operand);
        break;
    default: ref_stop(t, op, REF_UNKNOWN, "an operand of a strange kind");
    }
    return value & ref_mask(ref_bits(type));
}

int64_t ref_read_signed(ref_thread *t, const ref_op *op, const lw_operand *operand, lw_type type) {
    return ref_signed(ref_read(t, op, operand, type), ref_bits(type));
}

void ref_write(ref_thread *t, const lw_operand *operand, lw_type type, uint64_t value) {
    if (operand->kind == LW_O_SINK) return;
    if (operand->kind == LW_O_VECTOR && operand->part_count == 1) operand = &operand->parts[0];
    value &= ref_mask(ref_bits(type));
    if (ref_is_signed(type)) value = (uint64_t)ref_signed(value, ref_bits(type));
    *ref_register(t, operand) = (ref_value){.low = value & ref_mask(ref_bits(operand->object->type)), .written = true};
}

bool ref_guard(ref_thread *t, const ref_op *op) { return !op->in->guard || ref_read(t, op, op->in->guard, LW_T_pred); }

/* ---- Memory --------------------------------------------------------------------------------------------- */

static unsigned char *within(unsigned char *bytes, uint64_t have, uint64_t at, uint32_t size) {
    return at <= have && size <= have - at ? bytes + at : NULL;
}

static unsigned char *find_global(ref_thread *t, uint64_t address, uint32_t size) {
    const ref_machine *m = t->machine;
    for (uint32_t k = 0; k < m->launch->region_count; k++) {
        const ref_region *region = &m->launch->regions[k];
        if (address < region->address || address - region->address >= region->size) continue;
        uint64_t thread = (uint64_t)m->cta * m->thread_count + t->number;
        if (region->own && (address - region->address) / region->own != thread)
            ref_stop(t, NULL, REF_UNDEFINED, "memory of another thread");
        return within(region->bytes, region->size, address - region->address, size);
    }
    if (address >= REF_GLOBAL_BASE && address < REF_FUNCTION_BASE)
        return within(m->global, m->global_size, address - REF_GLOBAL_BASE, size);
    return NULL;
}

static unsigned char *find(ref_thread *t, lw_space space, uint64_t address, uint32_t size, bool writes) {
    ref_machine *m = t->machine;
    if (space == LW_SPACE_none) { /* generic: the address says the space */
        space = address >= REF_GLOBAL_BASE || address < REF_SHARED_BASE ? LW_SPACE_global
                : address >= REF_CONST_BASE                             ? LW_SPACE_const
                : address >= REF_PARAM_BASE                             ? LW_SPACE_param
                : address >= REF_LOCAL_BASE                             ? LW_SPACE_local
                                                                        : LW_SPACE_shared;
        static const uint64_t bases[LW_SPACE_count] = {
            [LW_SPACE_shared] = REF_SHARED_BASE, [LW_SPACE_local] = REF_LOCAL_BASE, [LW_SPACE_param] = REF_PARAM_BASE};
        address -= bases[space];
    }
    switch (space) {
    case LW_SPACE_shared: return within(m->shared, m->shared_size, address, size);
    case LW_SPACE_local: return within(t->local, t->local_size, address, size);
    case LW_SPACE_param:
        return writes ? NULL
                      : within((unsigned char *)m->launch->params, m->launch->kernel->param_bytes, address, size);
    case LW_SPACE_const:
        return writes || address < REF_CONST_BASE
                   ? NULL
                   : within(m->constant, m->constant_size, address - REF_CONST_BASE, size);
    default: return find_global(t, address, size);
    }
}

unsigned char *ref_variable(ref_thread *t, const ref_frame *frame, const lw_object *object) {
    return t->local + frame->locals + object->address;
}

void ref_touch(ref_thread *t, const ref_op *op, const unsigned char *at, uint64_t size, ref_access how) {
    ref_machine *m = t->machine;
    bool local = at >= t->local && at < t->local + t->local_size,
         shared = at >= m->shared && at < m->shared + m->shared_size;
    if (!local && !shared) return;
    unsigned char *known = local ? t->local_known + (at - t->local) : m->shared_known + (at - m->shared);
    if (how & REF_READS && m->launch->bare && memchr(known, 0, size))
        ref_stop(t, op, REF_UNDEFINED, "memory that nobody wrote");
    if (how & REF_WRITES) memset(known, 1, size);
}

unsigned char *ref_address(ref_thread *t, const ref_op *op, const lw_operand *operand, lw_space space, uint32_t size,
                           ref_access how) {
    const lw_operand *base = &operand->parts[0];
    uint64_t address = (uint64_t)operand->offset;
    if (base->kind == LW_O_INT) address += base->value;
    else if (is_register(base)) address += (uint64_t)base->offset + ref_read(t, op, base, base->object->type);
    else {
        const lw_object *object = base->object;
        bool of_kernel = object->space == LW_SPACE_param && object->is_param && t->frame->function->is_entry;
        address += ref_name_address(t, base);
        space = object->space == LW_SPACE_param && !of_kernel ? LW_SPACE_local : object->space;
    }
    if (address % size) {
        ref_stop(t, op, REF_TRAP, "misaligned address");
        return NULL;
    }
    unsigned char *at = find(t, space, address, size, how & REF_WRITES);
    if (at) ref_touch(t, op, at, size, how);
    else ref_stop(t, op, REF_TRAP, "address outside of memory");
    return at;
}
