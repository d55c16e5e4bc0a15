/* uniform.c: which registers have one value for all lanes, before every block: a data flow from the first one on, where
 * nothing has.
 *
 * What lanes compute alike from what they have alike they have alike, as long as they do it together: so it holds only
 * where no branch, guard or call can part them. */
#include "middle/facts.h"

/* ---- One operation --------------------------------------------------------------------------------------------- */

bool lw_is_parameter_at(const lw_program *program, lw_memory_form form, uint64_t at) {
    if (form.window != LW_WINDOW_param || form.frame || form.vector) return false;
    const uint64_t bytes = 1ull << form.size;
    return at % bytes == 0 && bytes <= program->param_bytes && at <= program->param_bytes - bytes;
}

bool lw_is_parameter(const lw_program *program, const lw_code *code, const lw_op *op, uint64_t *at) {
    if (op->code != LW_OP_ld) return false;
    const lw_memory_form form = lw_memory_unpack(op->c);
    if (form.address && !code->registers[op->a].is_const) return false;
    *at = op->imm + (form.address ? code->registers[op->a].value : 0);
    if (form.address == 1) *at = (uint32_t)*at;
    return lw_is_parameter_at(program, form, *at);
}

static bool is_alike(const lw_uniform *u, const lw_op *op) {
    uint64_t at;
    return lw_op_does(op, LW_DOES_ALIKE) || (u->nobody_beyond && op->code == LW_OP_beyond) ||
           lw_is_parameter(u->program, u->code, op, &at);
}

/* In a called function some of its lanes may go on while others wait for lanes that are elsewhere. */
bool lw_uniform_over(const lw_uniform *u, const lw_op *op, uint64_t *set) {
    const lw_op_row *row = lw_row_of(op->code);
    bool stays = is_alike(u, op), same = true;
    LW_EACH_READ(u->code, op, at) {
        const bool is = u->code->registers[*at].is_const || lw_set_has(set, *at);
        stays &= is;
        for (uint32_t k = 0; k < LW_FIELDS; k++) same &= is || at != &op->d + k || !(row->parts_by >> k & 1);
    }
    LW_EACH_WRITTEN(u->code, op, at) {
        if (stays) lw_set_add(set, *at);
        else lw_set_remove(set, *at);
    }
    switch ((lw_parts)row->parts) {
    case LW_PARTS_never: return true;
    case LW_PARTS_differing: return same;
    case LW_PARTS_called: return same && u->code->is_entry;
    case LW_PARTS_always: return false;
    }
    lw_bug("nobody says whether lanes part at operation code %u", op->code);
}

/* ---- All of them ----------------------------------------------------------------------------------------------- */

static uint64_t *set_of(const lw_uniform *u, uint32_t block) { return u->in + (size_t)block * u->words; }

/* What flows into a block: less and less, from everything. */
static bool narrow(const lw_uniform *u, uint32_t block, const uint64_t *set) {
    uint64_t *in = set_of(u, block);
    bool changed = false;
    for (uint32_t w = 0; w < u->words; w++) {
        changed |= (in[w] & ~set[w]) != 0;
        in[w] &= set[w];
    }
    return changed;
}

/* True: there is more to look at. */
static bool pass(lw_uniform *u) {
    const lw_code *code = u->code;
    uint64_t *set = set_of(u, code->block_count);
    bool changed = false;
    for (uint32_t b = 0; b < code->block_count && !u->parts; b++) {
        memcpy(set, set_of(u, b), u->words * sizeof *set);
        for (uint32_t n = code->blocks[b].first; n < lw_block_end(code, b); n++)
            u->parts |= !lw_uniform_over(u, &code->ops[n], set);
        for (uint32_t k = 0; k < code->blocks[b].successor_count; k++)
            changed |= narrow(u, code->blocks[b].successors[k], set);
    }
    return changed && !u->parts;
}

void lw_uniform_solve(lw_uniform *u, uint64_t *sets) {
    const size_t size = (size_t)u->words * u->code->block_count;
    u->in = sets;
    memset(sets, 0xff, size * sizeof *sets);
    memset(sets, 0, u->words * sizeof *sets);
    while (pass(u)) continue;
    if (u->parts) memset(sets, 0, size * sizeof *sets);
}
