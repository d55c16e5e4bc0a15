/* fields.c: which fields of an operation name registers that it reads or writes: virtual ones before allocation, slots after it. */
#include "middle/lower.h"

/* The longest list: a vector and its address. One more is written beyond it where a field is left out. */
_Static_assert(LW_VECTOR_MOST + 1 < LW_FIELDS_MAX, "the fields of an operation must fit in lw_fields");

/* Without a branch that depends on the field: which ones an operation leaves out is hard to foresee, and every walk asks. */
static void use(lw_fields *f, uint32_t *field) {
    f->uses[f->use_count] = field;
    f->use_count += *field != LW_NO_SLOT;
}
static void def(lw_fields *f, uint32_t *field) {
    f->defs[f->def_count] = field;
    f->def_count += *field != LW_NO_SLOT;
}

/* The list of a vector operand, or the one register. */
static void data_fields(uint32_t *lists, lw_op *op, lw_fields *f, void (*add)(lw_fields *, uint32_t *)) {
    uint32_t count = 1u << lw_memory_unpack(op->c).vector;
    if (LW_UNLIKELY(f->use_count + f->def_count + count >= LW_FIELDS_MAX)) lw_bug("an operation has more than %d registers", LW_FIELDS_MAX);
    if (count == 1)
        add(f, &op->d);
    else
        for (uint32_t k = 0; k < count; k++) add(f, &lists[op->d + k]);
}

static void row_fields(lw_op *op, lw_fields *f) {
    if (!(op->flags & LW_OP_IMM_A)) use(f, &op->a);
    if (!(op->flags & LW_OP_IMM_B)) use(f, &op->b);
    use(f, &op->e);
}

void lw_op_fields(uint32_t *lists, lw_op *op, lw_fields *f) {
    f->use_count = f->def_count = 0;
    f->keeps = false;
    if ((op->code >= LW_OP_lop3 && op->code != LW_OP_DEAD) || op->code == LW_OP_add4) {
        use(f, &op->a), use(f, &op->b), use(f, &op->c), use(f, &op->e), def(f, &op->d);
        return;
    }
    switch (op->code) {
    case LW_OP_add_xor_rotl:
        use(f, &op->a), use(f, &op->b), use(f, &op->c), def(f, &op->d), def(f, &op->e);
        break;
    case LW_OP_add_setp: use(f, &op->a), use(f, &op->b), def(f, &op->d), def(f, &op->e); break;
    case LW_OP_bra_if:
    case LW_OP_brx:
    case LW_OP_call_indirect:
    case LW_OP_note:
    case LW_OP_guard: use(f, &op->b); break;
    case LW_OP_warp_sync: use(f, &op->a); break;
    case LW_OP_barrier: use(f, &op->a), use(f, &op->b), use(f, &op->e), def(f, &op->d); break;
    case LW_OP_predicate:
    case LW_OP_select_16:
    case LW_OP_select_32:
    case LW_OP_select_64: use(f, &op->a), use(f, &op->b), use(f, &op->c), def(f, &op->d); break;
    case LW_OP_special:
    case LW_OP_local_base:
    case LW_OP_pattern:
    case LW_OP_beyond:
    case LW_OP_activemask: def(f, &op->d); break;
    case LW_OP_vshift: use(f, &op->a), use(f, &op->b), use(f, &op->c), use(f, &op->e), def(f, &op->d); break;
    case LW_OP_shift_check: use(f, &op->a), use(f, &op->b); break;
    case LW_OP_ld: use(f, &op->a), data_fields(lists, op, f, def); break;
    case LW_OP_st: use(f, &op->a), data_fields(lists, op, f, use); break;
    case LW_OP_ld_row:
        row_fields(op, f), def(f, &op->d);
        f->keeps = op->e != LW_NO_SLOT && !(op->flags & LW_OP_ZERO);
        break;
    case LW_OP_st_row: row_fields(op, f), use(f, &op->d); break;
    case LW_OP_atom: use(f, &op->a), use(f, &op->b), use(f, &op->e), def(f, &op->d); break;
    case LW_OP_isspacep: use(f, &op->a), def(f, &op->d); break;
    case LW_OP_shuffle: use(f, &op->b), use(f, &op->a), use(f, &op->c), def(f, &op->d), def(f, &op->e); break;
    case LW_OP_vote:
    case LW_OP_redux: use(f, &op->b), use(f, &op->a), def(f, &op->d); break;
    case LW_OP_match: use(f, &op->b), use(f, &op->a), def(f, &op->d), def(f, &op->e); break;
    case LW_OP_elect: use(f, &op->a), def(f, &op->d), def(f, &op->e); break;
    default:
        break; /* block bra call ret exit unguard trap yield fence: no fields; calls are handled through their site */
    }
}
