/* Every row of isa/lane.def has a function of exactly that type. Built as C11 and as C++ with warnings as
 * errors: compiling it is most of the test, running it checks that no two rows have the same name. */
#include <stdio.h>
#include <string.h>
#include "lanewise/lane.h"

typedef uint8_t u8;
typedef int8_t s8;
typedef uint16_t u16;
typedef int16_t s16;
typedef uint32_t u32;
typedef int32_t s32;
typedef uint64_t u64;
typedef int64_t s64;
typedef float f32;
typedef double f64;
typedef bool p;

#define LANE1(name, D, A)                 static D (*const fn_##name)(A) = lw_##name;
#define LANE2(name, D, A, B, takes)       static D (*const fn_##name)(A, B) = lw_##name;
#define LANE3(name, D, A, B, C, takes)    static D (*const fn_##name)(A, B, C) = lw_##name;
#define LANE4(name, D, A, B, C, E, takes) static D (*const fn_##name)(A, B, C, E) = lw_##name;
#include "lane.def"

struct row {
    const char *name;
    bool present;
};

static const struct row rows[] = {
#define LANE1(name, D, A)                 {#name, fn_##name != NULL},
#define LANE2(name, D, A, B, takes)       {#name, fn_##name != NULL},
#define LANE3(name, D, A, B, C, takes)    {#name, fn_##name != NULL},
#define LANE4(name, D, A, B, C, E, takes) {#name, fn_##name != NULL},
#include "lane.def"
};

int main(void) {
    const size_t count = sizeof rows / sizeof rows[0];
    int faults = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (!rows[i].present || strcmp(rows[i].name, rows[k].name) == 0)
                faults++, printf("row %s: missing or doubled\n", rows[i].name);
    printf("%zu rows, %d faults\n", count, faults);
    return faults != 0;
}
