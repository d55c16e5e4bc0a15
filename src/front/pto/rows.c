/* rows.c: the tables of isa/pto as data. */
#include "front/pto/pto.h"

const lw_pto_scalar_info lw_pto_scalars[LW_PTO_SCALAR_COUNT] = {
    [LW_PTO_none] = {"none", 0, 0},
#define SCALAR(name, bits, kind) [LW_PTO_##name] = {#name, bits, kind},
#include "pto/types.def"
};

const char *const lw_pto_words[LW_PTO_WORD_COUNT] = {
    [LW_PTO_NO_WORD] = "",
#define VCMP(word) [LW_PTO_VCMP_##word] = #word,
#define CMPI(word) [LW_PTO_CMPI_##word] = #word,
#include "pto/words.def"
};

const lw_pto_profile_row lw_pto_profiles[LW_PTO_PROFILE_COUNT] = {
#define PROFILE(name, width, title, status) {#name, title, status, width},
#include "pto/profiles.def"
};

bool lw_pto_profile_find(const char *name, lw_pto_profile *profile) {
    for (int i = 0; i < LW_PTO_PROFILE_COUNT; i++)
        if (!strcmp(name, lw_pto_profiles[i].name)) return *profile = (lw_pto_profile)i, true;
    return false;
}

#define PAGE_ALL     LW_PTO_PAGE_ALL
#define PAGE_NAME    LW_PTO_PAGE_NAME
#define PAGE_MLIR    LW_PTO_PAGE_MLIR
#define WORD_VCMP    LW_PTO_WORD_VCMP
#define WORD_CMPI    LW_PTO_WORD_CMPI
#define LITERAL_INT  LW_PTO_LITERAL_INT
#define LITERAL_BITS LW_PTO_LITERAL_BITS
#define COST_PAGE    LW_PTO_COST_PAGE
#define COST_LIKE    LW_PTO_COST_LIKE

const lw_pto_row lw_pto_rows[LW_PTO_OP_COUNT] = {
#define OP(id, text, ins, outs, ...) [LW_PTO_##id] = {.name = text, .operands = ins, .results = outs, __VA_ARGS__},
#include "pto/ops.def"
};

/* ---- Signatures ----------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    lw_pto_shape shape;
} shapes[] = {
    {"m", LW_PTO_SHAPE_MASK}, {"t", LW_PTO_SHAPE_ELEMENT}, {"mem", LW_PTO_SHAPE_MEMORY}, {"i", LW_PTO_SHAPE_INDEX},
    {"b", LW_PTO_SHAPE_BOOL}, {"n", LW_PTO_SHAPE_SAME},    {"x", LW_PTO_SHAPE_INTEGER},  {"any", LW_PTO_SHAPE_ANY},
};

static lw_pto_shape shape_of(const char *text, size_t size) {
    for (size_t i = 0; i < LW_COUNT(shapes); i++)
        if (strlen(shapes[i].text) == size && !memcmp(shapes[i].text, text, size)) return shapes[i].shape;
    lw_bug("isa/pto: no operand kind '%.*s'", (int)size, text);
}

static uint8_t read_slots(const char *text, lw_pto_slot *slots, uint8_t room) {
    uint8_t count = 0;
    for (const char *at = text; *at; at += strspn(at, ", ")) {
        if (count == room) lw_bug("isa/pto: too many operands in '%s'", text);
        lw_pto_slot *slot = &slots[count++];
        *slot = (lw_pto_slot){.name = at, .name_size = (uint8_t)strcspn(at, ":,?!")};
        at += slot->name_size;
        if (*at == ':') {
            size_t size = strcspn(++at, ",?!");
            slot->shape = shape_of(at, size);
            at += size;
        }
        for (; *at == '?' || *at == '!'; at++) *(*at == '?' ? &slot->optional : &slot->written) = true;
    }
    return count;
}

void lw_pto_signature_read(lw_pto_op_id id, lw_pto_signature *s) {
    *s = (lw_pto_signature){0};
    s->in_count = read_slots(lw_pto_rows[id].operands, s->in, LW_PTO_OPERANDS_MAX);
    s->out_count = read_slots(lw_pto_rows[id].results, s->out, LW_PTO_RESULTS_MAX);
    for (uint8_t i = 0; i < s->in_count; i++) s->least += !s->in[i].optional;
}

const lw_pto_signature *lw_pto_signature_of(lw_pto_module *module, lw_pto_op_id id) {
    const lw_pto_signature **kept = &module->signatures[id];
    if (LW_LIKELY(*kept)) return *kept;
    lw_pto_signature *made = LW_NEW(module->arena, lw_pto_signature);
    lw_pto_signature_read(id, made);
    return *kept = made;
}
