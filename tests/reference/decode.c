/* decode.c: looks at the words of a mnemonic once. */
#include "reference.h"

static const char *const words[REF_WORD_COUNT] = {
#define WORD(name) #name,
    REF_WORDS(WORD)
#undef WORD
};

static const struct {
    const char *name;
    void (*execute)(ref_thread *, const ref_op *);
} opcodes[] = {
#define OPCODE(name) {#name, ref_do_##name},
    REF_OPCODES(OPCODE)
#undef OPCODE
};

bool ref_knows(const char *opcode) {
    for (size_t k = 0; k < LW_COUNT(opcodes); k++)
        if (!strcmp(opcodes[k].name, opcode)) return true;
    return false;
}

static void unknown(ref_thread *t, const ref_op *op) { ref_stop(t, op, REF_UNKNOWN, op->in->mnemonic->text); }

void ref_decode(ref_op *op, const lw_instruction *in, lw_place place) {
    *op = (ref_op){.in = in, .execute = unknown, .place = place};
    for (size_t k = 0; k < LW_COUNT(opcodes); k++)
        if (!strcmp(opcodes[k].name, in->words[0]->text)) op->execute = opcodes[k].execute;
    for (uint32_t w = 1; w < in->word_count; w++) {
        const lw_symbol *word = in->words[w];
        lw_type type = lw_type_find(word->text, word->size);
        if (type && op->type_count < LW_COUNT(op->types)) op->types[op->type_count++] = op->type = type;
        for (size_t k = 0; k < REF_WORD_COUNT; k++)
            if (!strcmp(words[k], word->text)) op->words[k / 64] |= (uint64_t)1 << k % 64;
    }
}
