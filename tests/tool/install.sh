#!/bin/sh
# install.sh BUILD SOURCE CMAKE CC: installs into a new prefix, moves it, and builds the embedding example against it in the two
# ways that a user has. The example checks its own answers.
set -eu
build=$1 source=$2 cmake=$3 cc=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$cmake" --install "$build" --prefix "$work/first" >"$work/log" || { cat "$work/log"; exit 1; }
mv "$work/first" "$work/prefix" # nothing installed may hold the place of installation
prefix=$work/prefix

libdir=$(dirname "$(find "$prefix" -name liblanewise.a)")
for file in "$prefix/bin/lanewise" "$libdir/liblanewise.so" "$libdir/pkgconfig/lanewise.pc" \
            "$libdir/cmake/lanewise/lanewiseConfig.cmake" "$prefix/include/lanewise/lanewise.h" \
            "$libdir/lanewise/cuda/libcuda.so.1" "$libdir/lanewise/cuda/libcudart.so" "$libdir/lanewise/cuda/libcudart.so.12" \
            "$libdir/lanewise/cuda/libcudart.so.13" "$libdir/lanewise/cuda/libcudart_static.a"; do
    [ -e "$file" ] || { echo "not installed: ${file#"$prefix/"}"; exit 1; }
done
if grep -rlF -e "$build" -e "$source" "$prefix/include" "$libdir/pkgconfig" "$libdir/cmake"; then
    echo "the files above name the build tree"
    exit 1
fi
"$prefix/bin/lanewise" version
[ "$("$prefix/bin/lanewise" exec --folder)" = "$libdir/lanewise/cuda" ] || { echo "exec does not find the installed driver"; exit 1; }

echo "pkg-config:"
export PKG_CONFIG_PATH="$libdir/pkgconfig"
[ "$(pkg-config --modversion lanewise)" = "$("$prefix/bin/lanewise" version | sed -n '1s/^lanewise //p')" ] ||
    { echo "lanewise.pc and lanewise version disagree"; exit 1; }
# The flags are words without quotes, so they may split.
# shellcheck disable=SC2046
"$cc" -Wall -Wextra -Werror -o "$work/embed" "$source/examples/embed/embed.c" $(pkg-config --cflags --libs lanewise)
LD_LIBRARY_PATH=$libdir "$work/embed"

echo "find_package:"
"$cmake" -S "$source/examples/embed" -B "$work/embed-build" -G Ninja -DCMAKE_C_COMPILER="$cc" \
         -DCMAKE_PREFIX_PATH="$prefix" >"$work/log" 2>&1 && "$cmake" --build "$work/embed-build" >>"$work/log" 2>&1 ||
    { cat "$work/log"; exit 1; }
LD_LIBRARY_PATH=$libdir "$work/embed-build/embed"
"$work/embed-build/embed_static"
