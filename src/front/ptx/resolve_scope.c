/* resolve_scope.c: names, ranges of registers and scopes (manual sections 4.4, 5.4.6 and 5.4). */
#include "front/ptx/resolve.h"

#include <stdio.h>

enum { INDEX_DIGITS = 10, SUGGEST_ERRORS = 20, SUGGEST_SIZE = 48, SUGGEST_NAMES = 20000 };

/* ---- Bindings ------------------------------------------------------------------------------------------ */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* The binding under which a range of this name is declared. Registers are mostly first met in a row: %r1, %r2 …. */
static lw_binding *range_key(lw_resolver *r, const char *name, uint32_t size) {
    const lw_symbol *last = r->last_key ? r->last_key->symbol : NULL;
    if (last && last->size == size + 1 && !memcmp(last->text, name, size)) return r->last_key;
    char small[64];
    char *key = size < sizeof small ? small : lw_arena_alloc(r->arena, size + 1);
    memcpy(key, name, size);
    key[size] = '<';
    lw_symbol *symbol = lw_symbol_get(&r->module->symbols, key, size + 1);
    if (!symbol->bound) {
        lw_binding *b = LW_NEW(r->arena, lw_binding);
        b->symbol = symbol;
        symbol->bound = b;
    }
    return r->last_key = symbol->bound;
}

lw_binding *lw_binding_for(lw_resolver *r, const lw_object *o) {
    return o->is_range ? range_key(r, o->name->text, o->name->size) : lw_binding_of(r, o->name);
}

/* The number that stands at the end of `text` from `at` on; false where it is not one that a range can name. */
static bool read_index(const char *text, uint32_t at, uint32_t size, uint32_t *index) {
    if (at == size || size - at > INDEX_DIGITS || (text[at] == '0' && size - at > 1)) return false;
    uint64_t value = 0;
    for (uint32_t i = at; i < size; i++) value = value * 10 + (uint64_t)(text[i] - '0');
    *index = (uint32_t)value;
    return value <= UINT32_MAX;
}

static uint32_t digits_from(const lw_symbol *s) {
    uint32_t at = s->size;
    while (at > 0 && is_digit(s->text[at - 1])) at--;
    return at;
}

/* Only for names that nothing declares: there are many special registers and few uses. */
uint16_t lw_binding_special(lw_binding *b) {
    const lw_symbol *s = b->symbol;
    if (b->special || s->text[0] != '%') return b->special;
    for (uint32_t i = 0; i < LW_SPECIAL_count; i++)
        if (!strcmp(lw_specials[i].text, s->text)) return b->special = (uint16_t)(i + 1);
    return 0;
}

static lw_binding *make_binding(lw_resolver *r, lw_symbol *symbol) {
    lw_binding *b = LW_NEW(r->arena, lw_binding);
    b->symbol = symbol;
    symbol->bound = b;
    uint32_t at = digits_from(symbol);
    if (at > 0 && read_index(symbol->text, at, symbol->size, &b->index)) b->range = range_key(r, symbol->text, at);
    return b;
}

lw_binding *lw_binding_of(lw_resolver *r, lw_symbol *symbol) {
    return LW_LIKELY(symbol->bound != NULL) ? symbol->bound : make_binding(r, symbol);
}

/* Where some range is named like %r1<10>, a name such as %r12 can be cut in several places. The innermost declaration
 * wins, then the longest name. */
static lw_object *find_cut(lw_resolver *r, const lw_symbol *s, lw_object *best, uint32_t scope, uint32_t *index) {
    uint32_t from = digits_from(s);
    for (uint32_t at = s->size - 1; at > from && s->size - at <= INDEX_DIGITS; at--) {
        uint32_t number;
        if (!read_index(s->text, at, s->size, &number)) continue;
        const lw_binding *b = range_key(r, s->text, at);
        if (!b->object || number >= b->object->range || (best && b->scope <= scope)) continue;
        best = b->object;
        scope = b->scope;
        *index = number;
    }
    return best;
}

/* The innermost range under this key that is long enough. */
static lw_object *find_range(const lw_binding *range, uint32_t index, uint32_t *scope) {
    lw_object *o = range->object;
    *scope = range->scope;
    while (o && LW_UNLIKELY(index >= o->range))
        if ((o = o->outer)) *scope = o->scope;
    return o;
}

/* A variable of a range in memory is an object of its own, made when its name is first met. It is kept under a key that
 * is no identifier: where the range stands and the number. */
static lw_object *element_of(lw_resolver *r, lw_object *range, lw_symbol *name, uint32_t index) {
    char key[32];
    int size = snprintf(key, sizeof key, "%u<%u", range->place.at, index);
    lw_symbol *symbol = lw_symbol_get(&r->module->symbols, key, (uint32_t)size);
    if (symbol->bound) return symbol->bound;
    lw_object *o = symbol->bound = lw_arena_copy(r->arena, range, sizeof *range);
    o->name = name;
    o->is_range = false;
    o->range = 0;
    bool of_module = !o->owner || o->space == LW_SPACE_global || o->space == LW_SPACE_const;
    o->number = of_module ? r->module->variables.count : r->variables++;
    if (of_module) LW_PUSH(r->arena, r->module->variables) = o;
    lw_const_count(r, o);
    return o;
}

static lw_object *find_object(lw_resolver *r, lw_symbol *symbol, uint32_t *index) {
    lw_binding *b = lw_binding_of(r, symbol);
    lw_object *found = b->object;
    uint32_t scope = b->scope, range_scope;
    *index = 0;
    lw_object *range = b->range ? find_range(b->range, b->index, &range_scope) : NULL;
    if (range && (!found || range_scope > scope)) {
        found = range;
        scope = range_scope;
        *index = b->index;
    }
    if (LW_UNLIKELY(r->digit_ranges) && is_digit(symbol->text[symbol->size - 1]))
        return find_cut(r, symbol, found, scope, index);
    return found;
}

/* A register of a range whose name nothing else has, as most names are; NULL: look closer. */
static lw_object *find_plain(lw_resolver *r, const lw_symbol *symbol, uint32_t *index) {
    const lw_binding *b = symbol->bound;
    lw_object *range = b && b->range && !b->object && !r->digit_ranges ? b->range->object : NULL;
    if (!range || b->index >= range->range || range->space != LW_SPACE_reg) return NULL;
    *index = b->index;
    return range;
}

lw_object *lw_binding_find(lw_resolver *r, lw_symbol *symbol, uint32_t *index) {
    lw_object *found = find_plain(r, symbol, index);
    if (LW_LIKELY(found != NULL)) return found;
    found = find_object(r, symbol, index);
    if (LW_LIKELY(!found || !found->is_range || found->space == LW_SPACE_reg)) return found;
    found = element_of(r, found, symbol, *index);
    *index = 0;
    return found;
}

/* ---- Scopes -------------------------------------------------------------------------------------------- */

void lw_scope_open(lw_resolver *r) {
    lw_scope *scope = &LW_PUSH(r->arena, r->scopes);
    *scope = (lw_scope){.number = ++r->scope_serial, .undo_count = r->undo.count};
}

/* A register and a range that names it, both of this scope. */
static void check_overlap(lw_resolver *r, const lw_scope *scope) {
    for (uint32_t i = scope->undo_count; i < r->undo.count; i++) {
        const lw_binding *b = r->undo.at[i].binding, *range = b->range;
        if (!range || !range->object || range->scope != scope->number || b->object->kind != LW_OBJ_VARIABLE) continue;
        if (b->index >= range->object->range) continue;
        bool range_first = range->object->place.at < b->object->place.at;
        lw_report_duplicate(r, range_first ? b->object : range->object, range_first ? range->object : b->object);
    }
}

void lw_scope_close(lw_resolver *r) {
    const lw_scope *scope = &r->scopes.at[--r->scopes.count];
    if (scope->has_range) check_overlap(r, scope);
    while (r->undo.count > scope->undo_count) {
        const lw_undo *undo = &r->undo.at[--r->undo.count];
        undo->binding->object = undo->object;
        undo->binding->scope = undo->scope;
    }
}

void lw_binding_put(lw_resolver *r, lw_binding *b, lw_object *o) {
    lw_scope *scope = &r->scopes.at[r->scopes.count - 1];
    if (o->is_range) {
        scope->has_range = true;
        r->digit_ranges |= is_digit(o->name->text[o->name->size - 1]);
        if (!b->reported) LW_PUSH(r->arena, r->ranges) = b;
        b->reported = 1; /* a key is never looked up by a use: the field is free to say that it is in the list */
    }
    LW_PUSH(r->arena, r->undo) = (lw_undo){b, b->object, b->scope};
    o->outer = b->object;
    b->object = o;
    b->scope = scope->number;
    if (o->kind == LW_OBJ_VARIABLE) o->scope = scope->number;
}

bool lw_binding_declare(lw_resolver *r, lw_object *o) {
    lw_scope *scope = &r->scopes.at[r->scopes.count - 1];
    lw_binding *b = lw_binding_for(r, o);
    if (b->object && b->scope == scope->number) {
        lw_report_duplicate(r, o, b->object);
        return false;
    }
    lw_binding_put(r, b, o);
    return true;
}

/* ---- Reports ------------------------------------------------------------------------------------------- */

void lw_report_duplicate(lw_resolver *r, const lw_object *second, const lw_object *first) {
    lw_diag_add(r->diags, LW_D_duplicate, second->place, second->name->text);
    lw_diag_add(r->diags, LW_D_declared_here, first->place, first->name->text);
}

/* Edits that make one text the other, at most 2 counted: 3 means more. */
static uint32_t distance(const char *a, uint32_t a_size, const char *b, uint32_t b_size) {
    uint32_t row[SUGGEST_SIZE + 1];
    if (a_size > SUGGEST_SIZE || b_size > SUGGEST_SIZE || a_size + 2 < b_size || b_size + 2 < a_size) return 3;
    for (uint32_t j = 0; j <= b_size; j++) row[j] = j;
    for (uint32_t i = 1; i <= a_size; i++) {
        uint32_t corner = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b_size; j++) {
            uint32_t change = corner + (a[i - 1] != b[j - 1]);
            corner = row[j];
            uint32_t least = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < least ? change : least;
        }
    }
    return row[b_size] > 3 ? 3 : row[b_size];
}

/* The declared name that is nearest, as text; NULL where none is near. */
static const char *nearest(lw_resolver *r, const lw_symbol *s) {
    uint32_t best = s->size < 4 ? 2 : 3, index, seen = 0;
    const char *text = NULL;
    for (uint32_t i = 0; i < r->undo.count && seen < SUGGEST_NAMES; i++, seen++) {
        const lw_object *o = r->undo.at[i].binding->object;
        if (!o || o->is_range) continue;
        uint32_t edits = distance(s->text, s->size, o->name->text, o->name->size);
        if (edits < best) best = edits, text = o->name->text;
    }
    uint32_t at = digits_from(s);
    for (uint32_t i = 0; i < r->ranges.count && seen < SUGGEST_NAMES; i++, seen++) {
        const lw_object *o = r->ranges.at[i]->object;
        if (!o || !read_index(s->text, at, s->size, &index) || index >= o->range) continue;
        uint32_t edits = distance(s->text, at, o->name->text, o->name->size);
        if (edits < best) best = edits, text = lw_arena_printf(r->arena, "%s%u", o->name->text, index);
    }
    return text;
}

static const char *suggest(lw_resolver *r, const lw_symbol *s) {
    const lw_binding *b = s->bound;
    const lw_object *range = b->range ? b->range->object : NULL;
    if (range && range->range)
        return lw_arena_printf(r->arena, "the range %.100s<%u> ends at %.100s%u", range->name->text, range->range,
                               range->name->text, range->range - 1);
    const char *name = nearest(r, s);
    return name ? lw_arena_say(r->arena, "did you mean '%s'?", name) : NULL;
}

/* Once for each name in a function. */
void lw_report_undeclared(lw_resolver *r, lw_symbol *symbol, lw_place place) {
    lw_binding *b = lw_binding_of(r, symbol);
    if (b->reported == r->function_serial) return;
    b->reported = r->function_serial;
    lw_diag *diag = lw_diag_add(r->diags, LW_D_undeclared, place, symbol->text);
    if (r->diags->errors <= SUGGEST_ERRORS) diag->fix = suggest(r, symbol);
}
