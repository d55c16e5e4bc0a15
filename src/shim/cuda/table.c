/* table.c: the objects that live, by handle or address: an open hash table with linear probing. */
#include "shim/cuda/driver.h"

#include <stdlib.h>

static size_t place(const lw_cu_table *table, uint64_t key) {
    return (size_t)((key >> 4) * 0x9e3779b97f4a7c15ull >> 32) & (table->room - 1);
}

static void put(lw_cu_table *table, lw_cu_object *object) {
    size_t at = place(table, object->key);
    while (table->slots[at]) at = (at + 1) & (table->room - 1);
    table->slots[at] = object;
}

static bool grow(lw_cu_table *table) {
    lw_cu_table larger = {.room = table->room ? table->room * 2 : 64, .count = table->count};
    larger.slots = calloc(larger.room, sizeof larger.slots[0]);
    if (!larger.slots) return false;
    for (size_t i = 0; i < table->room; i++)
        if (table->slots[i]) put(&larger, table->slots[i]);
    free(table->slots);
    *table = larger;
    return true;
}

bool lw_cu_table_add(lw_cu_table *table, lw_cu_object *object) {
    if (table->count + 1 > table->room / 2 && !grow(table)) return false;
    put(table, object);
    table->count++;
    return true;
}

static size_t slot_of(const lw_cu_table *table, uint64_t key) {
    size_t at = place(table, key);
    while (table->slots[at] && table->slots[at]->key != key) at = (at + 1) & (table->room - 1);
    return at;
}

lw_cu_object *lw_cu_table_find(const lw_cu_table *table, uint64_t key) {
    return table->room ? table->slots[slot_of(table, key)] : NULL;
}

/* What follows in the same run moves up, so that no search stops early. */
void lw_cu_table_remove(lw_cu_table *table, const lw_cu_object *object) {
    if (!table->room) return;
    size_t hole = slot_of(table, object->key), mask = table->room - 1;
    if (table->slots[hole] != object) return;
    for (size_t at = (hole + 1) & mask; table->slots[at]; at = (at + 1) & mask) {
        size_t home = place(table, table->slots[at]->key);
        if (((at - home) & mask) < ((at - hole) & mask)) continue; /* it may not stand before its home */
        table->slots[hole] = table->slots[at];
        hole = at;
    }
    table->slots[hole] = NULL;
    table->count--;
}
