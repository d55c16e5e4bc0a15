#!/bin/sh
# exports.sh LIBRARY HEADER…: the shared library exports exactly what the headers declare.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$1
shift
nm -D --defined-only "$library" | awk '$2 ~ /^[TRDB]$/ {print $3}' | sort >"$work/exported"
# A declaration is one line that begins with LW_API or LW_CHECKED; its name stands before the first parenthesis.
sed -n -E 's/^LW_(API|CHECKED) ([^(]*[ *])?(lw_[a-z_0-9]*)\(.*/\3/p' "$@" | sort >"$work/declared"
[ -s "$work/declared" ] || { echo "no declaration found in $*"; exit 1; }
diff -u --label declared "$work/declared" --label exported "$work/exported"
