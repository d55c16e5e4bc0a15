#!/bin/sh
# unchecked.sh INCLUDE COMPILER…: a status that nobody looks at is a warning, in C and in C++; one that somebody does is none.
set -eu
include=$1
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
text='#include "lanewise/lanewise.h"
void f(lw_context *c) { CALL }'
seen=0
for compiler; do
    command -v "$compiler" >/dev/null || continue
    for dialect in "c -std=c17" "c -std=gnu2x" "c++ -std=c++11" "c++ -std=c++17"; do
        compile() { printf '%s\n' "$text" | sed "s/CALL/$1/" | "$compiler" -x $dialect -I"$include" -Wall -Wextra -Werror -c -o "$work/out" - 2>"$work/errors"; }
        compile '(void)c;' || continue # the compiler does not know the dialect, or has no C++
        compile 'if (lw_memory_free(c, 1) != LW_OK) return;' || { cat "$work/errors"; echo "$compiler -x $dialect: a status that is looked at is refused"; exit 1; }
        ! compile 'lw_memory_free(c, 1);' || { echo "$compiler -x $dialect: a status that nobody looks at passes"; exit 1; }
        grep -q 'unused\|nodiscard\|discard' "$work/errors" || { cat "$work/errors"; exit 1; }
        seen=$((seen + 1))
    done
done
[ $seen -gt 0 ] || { echo "no compiler"; exit 1; }
echo "$seen dialects"
