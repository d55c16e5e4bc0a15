/* cache_key.c: what the compiler may read of a program, as bytes: equal programs have equal bytes in any process, and
 * programs that differ in anything but places in their text have not.
 *
 * It is not asked what the compiler does read: all there is counts, but what follows from the rest (facts.h), where
 * things lie in this process, and what only messages are made of. */
#include "run/cache.h"

#include "lanewise/lanewise.h"

#include <stdio.h>
#include <stdlib.h>

/* Whoever adds a field to one of these says here whether code can depend on it: what is missing below makes wrong
 * results, silently. */
_Static_assert(sizeof(lw_op) == 40 && sizeof(lw_register) == 24 && sizeof(lw_block) == 24 &&
                   sizeof(lw_transfer) == 16 && sizeof(lw_call) == 32 && sizeof(lw_code) == 312 &&
                   sizeof(lw_program) == 192 && sizeof(lw_level) == 64 && sizeof(lw_layout) == 7,
               "put_program must know all fields");

static void put_bytes(lw_text *to, const void *from, size_t size) { lw_text_add(to, from, size); }
static void put(lw_text *to, uint64_t number) { put_bytes(to, &number, sizeof number); }
static void put_words(lw_text *to, const uint32_t *words, uint32_t count) {
    put(to, words ? count : UINT64_MAX);
    if (words) put_bytes(to, words, (size_t)count * sizeof *words);
}
static void put_name(lw_text *to, const char *name) { put_bytes(to, name, strlen(name) + 1); }

/* All of an operation but its step, which the level has. */
static void put_ops(lw_text *to, const lw_code *code) {
    put(to, code->op_count);
    for (uint32_t n = 0; n < code->op_count; n++) put_bytes(to, &code->ops[n].d, sizeof(lw_op) - offsetof(lw_op, d));
}

static void put_registers(lw_text *to, const lw_code *code) {
    put(to, code->registers ? code->virtual_count : 0);
    for (uint32_t v = 0; code->registers && v < code->virtual_count; v++) {
        const lw_register *r = &code->registers[v];
        put(to, (uint64_t)r->class | (uint64_t)r->is_const << 8 | (uint64_t)r->starts_at_0 << 9);
        put(to, (uint64_t)r->defs << 32 | r->uses);
        put(to, r->value);
    }
}

static void put_blocks(lw_text *to, const lw_code *code) {
    put(to, code->block_count);
    for (uint32_t b = 0; b < code->block_count; b++) {
        put(to, (uint64_t)code->blocks[b].first << 32 | code->blocks[b].instructions);
        put_words(to, code->blocks[b].successors, code->blocks[b].successor_count);
    }
}

static void put_transfers(lw_text *to, const lw_transfer *transfers, uint32_t count) {
    put(to, transfers ? count : UINT64_MAX);
    for (uint32_t k = 0; transfers && k < count; k++) {
        const lw_transfer *t = &transfers[k];
        put(to, (uint64_t)t->in_memory | (uint64_t)t->is_open << 8 | (uint64_t)t->size << 32);
        put(to, (uint64_t)t->from << 32 | t->to);
    }
}

static void put_calls(lw_text *to, const lw_code *code) {
    put(to, code->call_count);
    for (uint32_t k = 0; k < code->call_count; k++) {
        const lw_call *call = &code->calls[k];
        put(to, (uint64_t)call->function << 32 | call->return_block);
        put_transfers(to, call->arguments, call->argument_count);
        put_transfers(to, call->results, call->result_count);
    }
}

static void put_code(lw_text *to, const lw_code *code) {
    put_name(to, code->name);
    put(to, (uint64_t)code->number << 32 | code->index);
    put(to, (uint64_t)code->is_entry | (uint64_t)code->lowered << 8);
    put_ops(to, code);
    put_blocks(to, code);
    put_calls(to, code);
    put_registers(to, code);
    put_words(to, code->slots, code->slot_count);
    put_words(to, code->targets, code->target_count);
    put(to, code->constants ? code->constant_count : UINT64_MAX);
    if (code->constants) put_bytes(to, code->constants, code->constant_count * sizeof *code->constants);
    put_transfers(to, code->params, code->param_count);
    put_transfers(to, code->returns, code->return_count);
    put(to, (uint64_t)code->instruction_count << 32 | code->register_count);
    put(to, (uint64_t)code->local_bytes << 32 | code->local_align);
}

static void put_interp(lw_text *to, const lw_code *code, const lw_code *of) {
    put_code(to, code);
    put(to, code->frame_bytes);
    put(to, code->zero_count);
    for (uint32_t k = 0; k < code->zero_count; k++) put(to, (uint64_t)code->zeros[k].at << 32 | code->zeros[k].size);
    put(to, code->fill_count);
    for (uint32_t k = 0; k < code->fill_count; k++) {
        put(to, (uint64_t)code->fills[k].at << 32 | code->fills[k].size);
        put(to, code->fills[k].value);
    }
    put_words(to, code->became, of->op_count);
    put_words(to, code->homes, of->virtual_count);
}

static void put_program(lw_text *to, const lw_program *program) {
    const lw_program_vector *vector = &program->vector;
    put(to, (uint64_t)program->code_count << 32 | program->entry_index);
    put(to, (uint64_t)program->shared_bytes << 32 | program->shared_align);
    put(to, (uint64_t)program->shared_unit << 32 | program->dynamic_shared_offset);
    put(to, (uint64_t)program->param_bytes << 32 | program->hint_count);
    put(to, program->instruction_count);
    put(to, (uint64_t)program->semantics | (uint64_t)program->prints << 8 | (uint64_t)program->has_heap << 16 |
                (uint64_t)program->clusters << 24 | (uint64_t)program->takes_stack << 32 |
                (uint64_t)program->reserves_shared << 40);
    put(to, (uint64_t)vector->lanes | (uint64_t)vector->repeats << 32 | (uint64_t)vector->flat << 40 |
                (uint64_t)vector->ordered << 48);
    put(to, program->notes.count);
    for (uint32_t k = 0; k < program->notes.count; k++) put(to, program->notes.at[k].id);
    for (uint32_t i = 0; i < program->code_count; i++) {
        put_code(to, program->functions[i]);
        put_interp(to, program->codes[i], program->functions[i]);
    }
}

/* Also what the machine is called, since one of another kind may share the folder, and so may another version. */
static void put_level(lw_text *to, const lw_level *level) {
    put_name(to, LW_VERSION);
#if defined(__x86_64__)
    put_name(to, "x86-64");
#elif defined(__aarch64__)
    put_name(to, "aarch64");
#endif
    put_name(to, level->name);
    put_name(to, level->llvm_cpu);
    put(to, (uint64_t)level->vector_bytes << 32 | level->mask_registers);
}

bool lw_cache_key_make(lw_cache_key *key, const lw_program *program, const lw_level *level, lw_layout layout) {
    lw_text all = {0};
    uint8_t digest[LW_DIGEST_BYTES];
    put_level(&all, level);
    put_bytes(&all, &layout, sizeof layout);
    put_program(&all, program);
    *key = (lw_cache_key){.at = all.at, .size = all.size};
    if (all.failed) {
        lw_cache_key_free(key);
        return false;
    }
    lw_digest(digest, &(lw_span){key->at, key->size}, 1);
    for (size_t i = 0; i < (LW_CACHE_NAME - 8) / 2; i++) snprintf(key->name + 2 * i, 3, "%02x", digest[i]);
    strcat(key->name, ".code");
    return true;
}

void lw_cache_key_free(lw_cache_key *key) {
    free(key->at);
    *key = (lw_cache_key){0};
}
