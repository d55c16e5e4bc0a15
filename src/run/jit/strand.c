/* strand.c: the function that a strand becomes: entries, the warps of the gang one behind the other, blocks and
 * branches.
 *
 * Masks of lanes are words of 32 bits. The lanes at hand go on at a block that is known, unless others are ready at one
 * in front of it; only where the plan says that there may be some does the code look. */
#include "run/jit/strand_word.h"

#include <stdlib.h>

/* ---- Lanes that are ready ---------------------------------------------------------------------------------------- */

static void add_ready(lw_strand *s, uint32_t block, LLVMValueRef lanes) {
    if (!s->ready[block]) s->ready[block] = lw_build_stack(lw_strand_build(s), lw_strand_build(s)->i32);
    lw_set(s, LLVMBuildOr(lw_strand_build(s)->at, lw_get(s, s->ready[block]), lanes, ""), s->ready[block]);
}

static LLVMBasicBlockRef head_of(lw_strand *s, uint32_t block) {
    if (!s->heads[block]) s->heads[block] = lw_build_block(lw_strand_build(s), "block");
    return s->heads[block];
}

/* The warp goes no farther now: all its lanes are ready somewhere. */
static void rest(lw_strand *s) { LLVMBuildBr(lw_strand_build(s)->at, s->tail); }

/* The lanes go on at a block, with others or behind others: `from` is where they come from. */
static void go(lw_strand *s, uint32_t from, uint32_t to, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    for (uint32_t block = from + 1; block < to; block++) {
        if (!lw_set_has(lw_strand_behind(s, from), block)) continue;
        if (!lw_strand_is_here(s, block)) { /* nor is what is behind it */
            add_ready(s, to, lanes);
            rest(s);
            return;
        }
        if (!s->ready[block]) s->ready[block] = lw_build_stack(b, b->i32);
        LLVMBasicBlockRef there = lw_build_block(b, "there"), on = lw_build_block(b, "");
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, lw_get(s, s->ready[block]), lw_word(s, 0)), there, on);
        LLVMPositionBuilderAtEnd(b->at, there);
        add_ready(s, to, lanes);
        lw_set(s, lw_word(s, 0), s->mask);
        LLVMBuildBr(b->at, head_of(s, block));
        LLVMPositionBuilderAtEnd(b->at, on);
    }
    lw_set(s, lanes, s->mask);
    LLVMBuildBr(b->at, head_of(s, to));
}

/* ---- Branches ---------------------------------------------------------------------------------------------------- */

static void branch(lw_strand *s, uint32_t block, const lw_op *op, uint32_t n, LLVMValueRef lanes) {
    const lw_build *b = lw_strand_build(s);
    if (op->flags & LW_OP_BACKWARD) {
        LLVMValueRef cost = lw_build_number(b, 64, (uint64_t)lw_frame_branch_cost(s->u, n));
        LLVMValueRef left = LLVMBuildSub(b->at, lw_get(s, s->budget), cost, "");
        LLVMBasicBlockRef spent = lw_build_block(b, "spent"), on = lw_build_block(b, "");
        lw_set(s, left, s->budget);
        lw_build_often(b,
                       LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntSGE, left, lw_build_number(b, 64, 0)), on, spent));
        LLVMPositionBuilderAtEnd(b->at, spent);
        add_ready(s, op->a, lanes);
        lw_set(s, lw_word(s, 2 * op->a + 1 + (op->flags & LW_OP_SPIN ? 0x80000000 : 0)), s->spent);
        rest(s);
        LLVMPositionBuilderAtEnd(b->at, on);
    }
    go(s, block, op->a, lanes);
}

/* All take it, or none, or the others wait for those that go on at the lower block. */
static void branch_if(lw_strand *s, uint32_t block, const lw_op *op, uint32_t n) {
    const lw_build *b = lw_strand_build(s);
    const bool negated = (op->flags & LW_OP_NEGATE) != 0, back = op->a <= block;
    LLVMBasicBlockRef taken = lw_build_block(b, "taken"), on = lw_build_block(b, "on");
    if (lw_strand_is_uniform(s, op->b)) {
        LLVMBuildCondBr(b->at, lw_strand_base(s, op->b), negated ? on : taken, negated ? taken : on);
        LLVMPositionBuilderAtEnd(b->at, taken);
        branch(s, block, op, n, s->now);
        LLVMPositionBuilderAtEnd(b->at, on);
        go(s, block, block + 1, s->now);
        return;
    }
    LLVMValueRef to = lw_strand_chosen(s, op, s->now), stay = LLVMBuildXor(b->at, to, s->now, "");
    LLVMValueRef first = back ? to : stay; /* those at the lower block, if there are any */
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, first, lw_word(s, 0)), back ? taken : on, back ? on : taken);
    LLVMPositionBuilderAtEnd(b->at, taken);
    if (back) add_ready(s, block + 1, stay);
    branch(s, block, op, n, back ? to : s->now);
    LLVMPositionBuilderAtEnd(b->at, on);
    if (!back) add_ready(s, op->a, to);
    go(s, block, block + 1, back ? s->now : stay);
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

static void add_to(const lw_strand *s, LLVMValueRef place, LLVMValueRef value) {
    lw_set(s, LLVMBuildAdd(lw_strand_build(s)->at, lw_get(s, place), value, ""), place);
}

static LLVMValueRef count_lanes(const lw_strand *s, LLVMValueRef lanes) {
    return LLVMBuildZExt(lw_strand_build(s)->at, lw_build_bits(lw_strand_build(s), "llvm.ctpop", lanes),
                         lw_strand_build(s)->i64, "");
}

static void begin_block(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    lw_strand_begin_way(s, true);
    s->now = lw_get(s, s->mask);
    if (s->ready[block]) {
        s->now = LLVMBuildOr(b->at, s->now, lw_get(s, s->ready[block]), "");
        lw_set(s, lw_word(s, 0), s->ready[block]);
        lw_strand_join(s, lw_unit_live(s->u, s->u->block_at[block]));
    }
    lw_set(s, s->now, s->mask);
}

void lw_strand_count(const lw_strand *s, uint64_t instructions, bool some) {
    const lw_build *b = lw_strand_build(s);
    if (!instructions) return;
    LLVMValueRef each = lw_build_number(b, 64, instructions), of_warp = each;
    if (!some) {
        LLVMValueRef is = lw_build_is(b, LLVMIntNE, s->now, lw_word(s, 0));
        of_warp = LLVMBuildSelect(b->at, is, each, lw_build_number(b, 64, 0), "");
    }
    add_to(s, s->warps_done, of_warp);
    add_to(s, s->lanes_done, LLVMBuildMul(b->at, each, count_lanes(s, s->now), ""));
}

/* Nobody of the warp is ready elsewhere where it must wait at a block. */
static bool stops_together(const lw_strand *s, uint32_t block) {
    const uint64_t *behind = lw_strand_behind(s, block);
    for (uint32_t w = 0; w < s->block_words; w++)
        if (behind[w]) return false;
    return true;
}

static uint64_t later_at(const lw_strand *s, uint32_t block, uint32_t word) {
    return s->later[(size_t)block * s->u->words + word];
}

/* The registers in the room. */
static void put_away(lw_strand *s, bool fold) {
    if (fold) lw_strand_fold(s, s->room);
    else lw_strand_save(s, s->room, s->now);
}

/* What is in the frame already, unless the gang has just entered the function. */
static void save_first(lw_strand *s, uint32_t block, bool fold) {
    const lw_build *b = lw_strand_build(s);
    uint64_t some = 0;
    for (uint32_t w = 0; w < s->u->words; w++)
        some |= s->room[w] = lw_strand_saved(s, block, w) & ~later_at(s, block, w);
    if (!some) return;
    LLVMBasicBlockRef on = lw_build_block(b, "");
    lw_build_if(b, lw_build_is(b, LLVMIntEQ, s->entry, lw_word(s, 0)), on);
    lw_strand_begin_way(s, false);
    put_away(s, fold);
    lw_strand_end_way(s);
    LLVMBuildBr(b->at, on);
    LLVMPositionBuilderAtEnd(b->at, on);
}

static LLVMValueRef warp_word(const lw_strand *s, LLVMValueRef from, size_t offset) {
    return lw_build_load(lw_strand_build(s), lw_strand_build(s)->i32, lw_warp_place(s, from), offset, 4, LW_ALIAS_gang);
}

/* Of the warp there is nobody elsewhere; and is that all it was? */
static void note_whole(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef others = LLVMBuildXor(b->at, s->now, warp_word(s, s->pass, offsetof(lw_pass, lanes)), "");
    lw_set(s, LLVMBuildOr(b->at, lw_get(s, s->apart), others, ""), s->apart);
}

/* The warp has come as a whole, and its registers go to the frame here, not where those of all lanes do that may be
 * ready somewhere. */
static void stop_whole(lw_strand *s, uint32_t block, bool fold) {
    note_whole(s);
    save_first(s, block, fold);
    for (uint32_t w = 0; w < s->u->words; w++) s->room[w] = lw_strand_saved(s, block, w) & later_at(s, block, w);
    put_away(s, fold);
    if (fold) lw_strand_note_fold(s, block);
    lw_set(s, lw_word(s, block), s->stop);
    LLVMBuildBr(lw_strand_build(s)->at, s->stops);
}

/* The warp must wait, or is left to the interpreter for other reasons, at a block's beginning. */
static void stop(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    if (lw_strand_folds_at(s, block)) {
        LLVMBasicBlockRef fold = lw_build_block(b, "fold"), other = lw_build_block(b, "");
        lw_build_often(b, LLVMBuildCondBr(b->at, lw_strand_may_fold(s), fold, other));
        LLVMPositionBuilderAtEnd(b->at, fold);
        lw_strand_begin_way(s, false);
        stop_whole(s, block, true);
        lw_strand_end_way(s);
        LLVMPositionBuilderAtEnd(b->at, other);
    }
    if (stops_together(s, block)) {
        stop_whole(s, block, false);
        return;
    }
    add_ready(s, block, s->now);
    rest(s);
}

static void emit_block(lw_strand *s, uint32_t block) {
    const lw_unit *u = s->u;
    const uint32_t first = u->block_at[block], end = lw_unit_block_end(u, block);
    LLVMPositionBuilderAtEnd(lw_strand_build(s)->at, head_of(s, block));
    begin_block(s, block);
    if (lw_strand_stops_at(s, block)) {
        stop(s, block);
        return;
    }
    lw_strand_count(s, lw_unit_op(u, first)->imm, true);
    const bool is_short = lw_forward_find(s, &s->forward, block);
    for (uint32_t n = first + 1; n < end;) {
        const lw_op *op = lw_unit_op(u, n);
        if (op->code == LW_OP_bra) branch(s, block, op, n++, s->now);
        else if (op->code == LW_OP_bra_if && n == end - 1 && is_short) {
            lw_forward_emit_from(s, &s->forward, op);
            lw_set(s, s->now, s->mask);
            LLVMBuildBr(lw_strand_build(s)->at, head_of(s, s->forward.end));
            return;
        } else if (op->code == LW_OP_bra_if) branch_if(s, block, op, n++);
        else n = lw_strand_op(s, n, end);
    }
    const uint16_t last = lw_unit_op(u, end - 1)->code;
    if (last != LW_OP_bra && last != LW_OP_bra_if) go(s, block, block + 1, s->now);
}

/* Those of the piece, and of others those that lanes go on at. */
static void emit_blocks(lw_strand *s) {
    for (uint32_t block = s->first; block < s->end; block++)
        if (s->reached[block] && !s->forward.inside[block]) emit_block(s, block);
    for (uint32_t block = 0; block < s->u->code->block_count; block++)
        if (!lw_strand_is_here(s, block) && s->heads[block]) emit_block(s, block);
}

/* ---- Warps ------------------------------------------------------------------------------------------------------- */

/* What the block, and those behind it, have to do with, and lanes there have in the frame. */
static void take_registers(lw_strand *s, uint32_t block, const uint32_t *places, uint32_t count,
                           LLVMBasicBlockRef other) {
    const lw_unit *u = s->u;
    uint32_t *who = calloc(u->code->virtual_count + 1, sizeof *who);
    if (!who) {
        u->build->failed = true;
        return;
    }
    const uint64_t *recalled = lw_strand_recalled(s, block);
    uint64_t *taken = s->room + u->words;
    lw_strand_recall(s, recalled, other);
    memset(taken, 0, u->words * sizeof *taken);
    for (uint32_t k = 0; k <= count; k++) {
        const uint64_t *live = lw_unit_live(u, u->block_at[k ? places[k - 1] : block]);
        for (uint32_t w = 0; w < u->words; w++)
            taken[w] |= live[w] & s->wanted[(size_t)block * u->words + w] & ~recalled[w];
        LW_EACH_IN(live, u->words, reg) who[reg] |= 1u << k;
    }
    lw_strand_take(s, block, taken, who, other);
    free(who);
}

/* From the frame into the registers, and on to the block. */
static void enter(lw_strand *s, uint32_t block) {
    const lw_build *b = lw_strand_build(s);
    const lw_unit *u = s->u;
    LLVMBasicBlockRef other = lw_build_block(b, "unlike");
    const uint64_t *behind = lw_strand_behind(s, block);
    uint32_t places[LW_PASS_PLACES], count = 0;
    lw_strand_begin_way(s, true);
    for (uint32_t p = block + 1; p < u->code->block_count && count < LW_PASS_PLACES; p++) {
        if (!lw_set_has(behind, p)) continue;
        const size_t at = offsetof(lw_pass, ready) + count * sizeof((lw_pass *)0)->ready[0];
        add_ready(s, p, warp_word(s, s->pass, at));
        places[count++] = p;
    }
    take_registers(s, block, places, count, other);
    lw_set(s, s->now, s->mask);
    LLVMBuildBr(b->at, head_of(s, block));
    LLVMPositionBuilderAtEnd(b->at, other);
    lw_strand_count(s, lw_unit_op(u, u->block_at[block])->imm,
                    true); /* as the interpreter had, before the pass began */
    lw_set(s, lw_frame_op(u, u->block_at[block] + 1), s->left_at);
    lw_set(s, s->now, s->left_lanes);
    lw_set(s, lw_build_number(b, 1, 1), s->left_own);
    LLVMBuildBr(b->at, s->leaves);
}

/* The warp at hand: its number, its slots, those of its lanes that have not exited. */
static void begin_warp(lw_strand *s, LLVMValueRef left) {
    const lw_build *b = lw_strand_build(s);
    s->warp = lw_build_bits(b, "llvm.cttz", left);
    s->base = LLVMBuildMul(b->at, LLVMBuildZExt(b->at, s->warp, b->i64, ""), lw_build_number(b, 64, LW_WARP_LANES), "");
    for (uint32_t k = 0; k < LW_COUNT(s->slots); k++) {
        const uint32_t bits = lw_class_bits((lw_class)k);
        LLVMValueRef bytes = bits == 1 ? LLVMBuildLShr(b->at, s->base, lw_build_number(b, 64, 3), "")
                                       : LLVMBuildMul(b->at, s->base, lw_build_number(b, 64, bits / 8), "");
        s->slots[k] = lw_build_move(b, s->regs, bytes);
    }
    LLVMValueRef stays = LLVMBuildNot(b->at, warp_word(s, b->gang, offsetof(lw_gang, exited)), "");
    s->live = LLVMBuildAnd(b->at, warp_word(s, b->gang, offsetof(lw_gang, exist)), stays, "");
    lw_set(s, LW_GANG_LOAD(b, b->i64, budget), s->budget);
}

/* To the block where the gang has come in. */
static void emit_choice(lw_strand *s, LLVMValueRef entry) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef none = lw_build_block(b, "none");
    LLVMValueRef lanes = warp_word(s, s->pass, offsetof(lw_pass, lanes));
    LLVMValueRef choice = LLVMBuildSwitch(b->at, entry, none, s->u->code->block_count);
    for (uint32_t block = 0; block < s->u->code->block_count; block++) {
        if (!lw_strand_enters(s, block)) continue;
        LLVMBasicBlockRef way = lw_build_block(b, "enter");
        LLVMAddCase(choice, lw_word(s, block), way);
        LLVMPositionBuilderAtEnd(b->at, way);
        if (!block) lw_strand_emit_plain(s, lanes);
        s->now = lanes;
        enter(s, block);
    }
    LLVMPositionBuilderAtEnd(b->at, none);
    LLVMBuildUnreachable(b->at);
}

/* Masks of many blocks stay in memory: as values they would all live everywhere, for which LLVM takes forever. One
 * store that must happen there keeps them. */
static void clear_ready(lw_strand *s) {
    enum { MANY = 32 };
    uint32_t count = 0;
    for (uint32_t block = 0; block < s->u->code->block_count; block++) count += s->ready[block] != NULL;
    for (uint32_t block = 0; block < s->u->code->block_count; block++)
        if (s->ready[block])
            LLVMSetVolatile(LLVMBuildStore(lw_strand_build(s)->at, lw_word(s, 0), s->ready[block]), count > MANY);
}

/* A warp begins with nobody ready anywhere, and registers of which nobody knows anything: nothing that a warp had,
 * which the CPU's registers would else keep for the next one, and what nobody wrote is no matter of chance. Filled once
 * all places are known. */
static void clear_places(lw_strand *s, LLVMBasicBlockRef clear, LLVMBasicBlockRef then) {
    LLVMPositionBuilderAtEnd(lw_strand_build(s)->at, clear);
    clear_ready(s);
    for (size_t k = 0; k < (size_t)s->u->code->virtual_count * LW_STRAND_RUNS; k++)
        for (int own = 0; own < 2; own++) {
            LLVMValueRef place = (own ? s->own : s->places)[k];
            if (place) lw_set(s, LLVMConstNull(LLVMGetAllocatedType(place)), place);
        }
    LLVMBuildBr(lw_strand_build(s)->at, then);
}

/* From warp to warp. */
static void emit_warps(lw_strand *s, LLVMValueRef entry, LLVMValueRef warps) {
    const lw_build *b = lw_strand_build(s);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b->at), loop = lw_build_block(b, "warp"),
                      clear = lw_build_block(b, "clear"), choose = lw_build_block(b, "choose"),
                      next = lw_build_block(b, "next"), end = lw_build_block(b, "end");
    LLVMBuildBr(b->at, loop);
    LLVMPositionBuilderAtEnd(b->at, loop);
    LLVMValueRef left = LLVMBuildPhi(b->at, b->i32, "warps");
    begin_warp(s, left);
    LLVMBuildBr(b->at, clear);
    LLVMPositionBuilderAtEnd(b->at, choose);
    emit_choice(s, entry);
    emit_blocks(s);
    lw_strand_emit_tail(s, next);
    clear_places(s, clear, choose);
    LLVMPositionBuilderAtEnd(b->at, next);
    LLVMValueRef others = LLVMBuildAnd(b->at, left, LLVMBuildSub(b->at, left, lw_word(s, 1), ""), "");
    LLVMAddIncoming(left, (LLVMValueRef[]){warps, others}, (LLVMBasicBlockRef[]){before, next}, 2);
    lw_set(s, lw_strand_least_budget(s), s->least);
    LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, others, lw_word(s, 0)), loop, end);
    LLVMPositionBuilderAtEnd(b->at, end);
    lw_strand_emit_end(s);
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

/* The blocks behind each entry as the core wants them: lw_pass.entries. */
static LLVMValueRef list_entries(const lw_strand *s) {
    const uint32_t blocks = s->u->code->block_count;
    uint32_t count = blocks;
    LLVMValueRef *words = calloc(blocks * (2 + (size_t)LW_PASS_PLACES), sizeof(LLVMValueRef)), list = NULL;
    if (!words) s->u->build->failed = true;
    for (uint32_t block = 0; words && block < blocks; block++) {
        words[block] = lw_word(s, lw_strand_enters(s, block) ? count : 0);
        if (!lw_strand_enters(s, block)) continue;
        const uint32_t at = count++;
        for (uint32_t p = block + 1; p < blocks && count - at <= LW_PASS_PLACES; p++)
            if (lw_set_has(lw_strand_behind(s, block), p)) words[count++] = lw_word(s, p);
        words[at] = lw_word(s, count - at - 1);
    }
    if (words) list = lw_build_words(lw_strand_build(s), "entries", words, count);
    free(words);
    return words ? list : LLVMConstNull(lw_strand_build(s)->bytes);
}

static void make_places(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef *const words[] = {&s->mask, &s->spent, &s->left_lanes, &s->stop, &s->apart}, *const doubles[] = {
                                                                                                  &s->lanes_done,
                                                                                                  &s->warps_done,
                                                                                                  &s->budget,
                                                                                                  &s->least};
    for (size_t k = 0; k < LW_COUNT(words); k++) *words[k] = lw_build_stack(b, b->i32);
    for (size_t k = 0; k < LW_COUNT(doubles); k++) *doubles[k] = lw_build_stack(b, b->i64);
    s->left_at = lw_build_stack(b, b->bytes);
    s->left_own = lw_build_stack(b, b->i1);
    s->pass = LLVMBuildBitCast(b->at, lw_build_stack(b, LLVMArrayType(b->i64, sizeof(lw_pass) / 8)), b->bytes, "");
}

/* The state that each pass begins with. */
static void clear_state(const lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    LLVMValueRef zero = lw_word(s, 0);
    lw_set(s, zero, s->spent), lw_set(s, zero, s->left_lanes), lw_set(s, zero, s->mask), lw_set(s, zero, s->stop);
    lw_set(s, zero, s->apart);
    lw_set(s, LLVMConstNull(b->bytes), s->left_at), lw_set(s, lw_build_number(b, 1, 0), s->left_own);
    lw_set(s, lw_build_number(b, 64, 0), s->lanes_done), lw_set(s, lw_build_number(b, 64, 0), s->warps_done);
    lw_set(s, lw_build_number(b, 64, INT64_MAX), s->least);
}

/* The gang that the code was called for, and then others that go on behind it. */
static void emit_passes(lw_strand *s) {
    lw_build *b = s->u->build;
    LLVMPositionBuilderAtEnd(b->at, s->passes);
    s->turn = b->gang, b->gang = s->gangs;
    clear_state(s);
    const size_t at = offsetof(lw_pass, block);
    s->entry = lw_build_load(b, b->i32, s->pass, at, 4, LW_ALIAS_gang);
    s->regs = lw_frame_regs(s->u);
    emit_warps(s, s->entry, s->warps);
}

static void emit_entries(lw_strand *s) {
    const lw_build *b = lw_strand_build(s);
    const lw_unit *u = s->u;
    LLVMBasicBlockRef find = lw_build_block(b, "find"), over = lw_build_block(b, "over");
    s->passes = lw_build_block(b, "pass");
    LLVMPositionBuilderAtEnd(b->at, s->passes);
    s->gangs = LLVMBuildPhi(b->at, b->bytes, "gang"), s->warps = LLVMBuildPhi(b->at, b->i32, "warps");
    LLVMPositionBuilderAtEnd(b->at, find);
    make_places(s);
    lw_build_store(b, list_entries(s), s->pass, offsetof(lw_pass, entries), 8, LW_ALIAS_gang);
    LLVMValueRef choice = LLVMBuildSwitch(b->at, lw_frame_entered(u), over, u->code->block_count);
    for (uint32_t block = 0; block < u->code->block_count; block++) {
        if (!lw_strand_enters(s, block)) continue;
        LLVMBasicBlockRef way = lw_build_block(b, "begin");
        LLVMAddCase(choice, lw_build_number(b, 64, lw_frame_number(u, u->block_at[block] + 1)), way);
        LLVMPositionBuilderAtEnd(b->at, way);
        LLVMValueRef arguments[] = {b->gang, b->op, lw_word(s, block), s->pass};
        LLVMValueRef some = lw_host_call(b, LW_HOST_begin, b->pass_begin_type, arguments), gang = b->gang;
        LLVMBuildCondBr(b->at, lw_build_is(b, LLVMIntNE, some, lw_word(s, 0)), s->passes, over);
        LLVMAddIncoming(s->gangs, &gang, &way, 1);
        LLVMAddIncoming(s->warps, &some, &way, 1);
    }
    LLVMPositionBuilderAtEnd(b->at, over);
    lw_frame_refuse(u);
    emit_passes(s);
    LLVMPositionBuilderAtEnd(b->at, b->top);
    LLVMBuildBr(b->at, find);
}

bool lw_strand_emit(lw_strand *s) {
    const lw_unit *u = s->u;
    const size_t registers = u->code->virtual_count, blocks = u->code->block_count;
    s->chunks = LW_WARP_LANES / u->build->chunk;
    s->places = calloc(registers * LW_STRAND_RUNS + 1, sizeof *s->places);
    s->own = calloc(registers * LW_STRAND_RUNS + 1, sizeof *s->own);
    s->values = calloc(registers * LW_STRAND_RUNS + 1, sizeof *s->values);
    s->ways = calloc(registers * LW_STRAND_RUNS + 1, sizeof *s->ways);
    s->heads = calloc(blocks, sizeof *s->heads);
    s->ready = calloc(blocks, sizeof *s->ready);
    const bool good = lw_forward_make(&s->forward, s->u->code->block_count) && s->places && s->own && s->values &&
                      s->ways && s->heads && s->ready;
    if (good) {
        s->tail = lw_build_block(lw_strand_build(s), "tail");
        s->stops = lw_build_block(lw_strand_build(s), "stops");
        s->leaves = lw_build_block(lw_strand_build(s), "leaves");
        s->trapped = lw_build_block(lw_strand_build(s), "trapped");
        emit_entries(s);
        lw_strand_emit_trapped(s);
    }
    free(s->places), free(s->own), free(s->values), free(s->ways), free(s->heads), free(s->ready);
    lw_forward_free(&s->forward);
    return good;
}
