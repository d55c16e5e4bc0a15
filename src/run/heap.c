/* heap.c: malloc and free of kernels: a buddy allocator over one allocation of device memory. Its books are the host's,
 * so that no kernel can spoil them. A piece of order n is 2^n units of 16 bytes, and begins at a multiple of its
 * size. */
#include "run/run.h"

#include <stdlib.h>

enum {
    UNIT = 16,
    ORDERS = 32,
    TAKEN = 0x80,                   /* in `orders`, beside the order of a piece that is not free */
    NOWHERE = TAKEN | (ORDERS - 1), /* no piece begins there: none is so large */
};

bool lw_heap_init(lw_heap *heap) {
    *heap = (lw_heap){0};
    return !pthread_mutex_init(&heap->lock, NULL);
}

void lw_heap_end(lw_heap *heap) {
    free(heap->orders);
    free(heap->given);
    free(heap->next);
    free(heap->previous);
    pthread_mutex_destroy(&heap->lock);
}

/* ---- Lists of free pieces -------------------------------------------------------------------------------------- */

static void put(lw_heap *heap, uint32_t unit, uint32_t order) {
    const uint32_t first = heap->free[order];
    heap->orders[unit] = (uint8_t)order;
    heap->previous[unit] = 0, heap->next[unit] = first;
    if (first) heap->previous[first - 1] = unit + 1;
    heap->free[order] = unit + 1;
}

static void take_out(lw_heap *heap, uint32_t unit) {
    const uint32_t next = heap->next[unit], previous = heap->previous[unit];
    if (next) heap->previous[next - 1] = previous;
    if (previous) heap->next[previous - 1] = next;
    else heap->free[heap->orders[unit]] = next;
}

/* ---- Pieces ---------------------------------------------------------------------------------------------------- */

/* The books of a heap of so many units: all of it free, in pieces as large as their places allow. */
static bool open_books(lw_heap *heap, uint32_t units) {
    heap->orders = malloc(units);
    heap->given = calloc(units / 8 + 1, 1);
    heap->next = malloc(units * sizeof *heap->next);
    heap->previous = malloc(units * sizeof *heap->previous);
    if (!heap->orders || !heap->given || !heap->next || !heap->previous) return false;
    memset(heap->orders, NOWHERE, units);
    for (uint32_t unit = 0; unit < units;) {
        uint32_t order = unit ? (uint32_t)__builtin_ctz(unit) : ORDERS - 2;
        while ((uint64_t)1 << order > units - unit) order--;
        put(heap, unit, order);
        unit += 1u << order;
    }
    return true;
}

static void close_books(lw_heap *heap) {
    free(heap->orders), free(heap->given), free(heap->next), free(heap->previous);
    heap->orders = heap->given = NULL, heap->next = heap->previous = NULL;
    memset(heap->free, 0, sizeof heap->free);
}

static bool make(lw_heap *heap, lw_memory *memory, uint64_t bytes) {
    const uint64_t units = bytes / UNIT;
    if (!units || units > UINT32_MAX / 2) return false;
    if (!open_books(heap, (uint32_t)units) ||
        !lw_memory_take_variable(memory, units * UNIT, false, false, &heap->base)) {
        close_books(heap);
        return false;
    }
    lw_ranges *ranges = lw_memory_hold(memory);
    heap->host = lw_ranges_find(ranges, heap->base, 1)->host;
    lw_ranges_drop(ranges);
    heap->size = units * UNIT;
    return true;
}

bool lw_heap_make(lw_heap *heap, lw_memory *memory, uint64_t bytes) {
    pthread_mutex_lock(&heap->lock);
    const bool made = heap->size || make(heap, memory, bytes);
    pthread_mutex_unlock(&heap->lock);
    return made;
}

static uint32_t order_of(uint64_t bytes) {
    uint32_t order = 0;
    while (order < ORDERS - 1 && ((uint64_t)UNIT << order) < bytes) order++;
    return order;
}

/* The smallest free piece that holds the order, halved until it is of it. 0: none; else 1 + its unit. */
static uint32_t take(lw_heap *heap, uint32_t wanted) {
    uint32_t order = wanted;
    while (order < ORDERS && !heap->free[order]) order++;
    if (order == ORDERS) return 0;
    const uint32_t unit = heap->free[order] - 1;
    take_out(heap, unit);
    while (order > wanted) {
        order--;
        put(heap, unit + (1u << order), order);
    }
    heap->orders[unit] = (uint8_t)(TAKEN | order);
    return unit + 1;
}

uint64_t lw_heap_take(lw_heap *heap, uint64_t bytes) {
    if (bytes > heap->size) return 0;
    const uint32_t order = order_of(bytes);
    pthread_mutex_lock(&heap->lock);
    const uint32_t found = take(heap, order);
    pthread_mutex_unlock(&heap->lock);
    if (!found) return 0;
    memset(heap->host + (uint64_t)(found - 1) * UNIT, 0, (uint64_t)UNIT << order);
    return heap->base + (uint64_t)(found - 1) * UNIT;
}

/* With the other half of a piece of twice the size as long as that is free, too. */
static void give(lw_heap *heap, uint32_t unit, uint32_t order) {
    const uint64_t units = heap->size / UNIT;
    heap->orders[unit] = NOWHERE;
    for (; order < ORDERS - 2; order++) {
        const uint32_t other = unit ^ 1u << order;
        if (other >= units || heap->orders[other] != order) break;
        take_out(heap, other);
        heap->orders[other] = NOWHERE;
        unit &= ~(1u << order);
    }
    put(heap, unit, order);
}

lw_heap_given lw_heap_give(lw_heap *heap, uint64_t address) {
    const uint64_t offset = address - heap->base;
    if (address < heap->base || offset >= heap->size || offset % UNIT) return LW_HEAP_GIVEN_never;
    const uint32_t unit = (uint32_t)(offset / UNIT);
    uint8_t *given = &heap->given[unit / 8], bit = (uint8_t)(1 << unit % 8);
    pthread_mutex_lock(&heap->lock);
    const uint8_t order = heap->orders[unit];
    const bool taken = order & TAKEN && order != NOWHERE, before = *given & bit;
    if (taken) give(heap, unit, order & ~TAKEN), *given |= bit;
    pthread_mutex_unlock(&heap->lock);
    return taken ? LW_HEAP_GIVEN : before ? LW_HEAP_GIVEN_before : LW_HEAP_GIVEN_never;
}
