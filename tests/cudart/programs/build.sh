#!/bin/sh
# build.sh [NVCC]: makes NAME.nvcc of each NAME.cu: the object as nvcc makes it, with PTX in it and no machine code; and one whole program,
# linked with the vendor's shared runtime. They are kept, since those who build Lanewise have no nvcc; whoever changes a program makes
# its object anew.
set -eu
cd "$(dirname "$0")"
nvcc=${1:-nvcc}
for source in *.cu; do
    name=${source%.cu} thread= arch=compute_80
    [ "$name" = per_thread ] && thread="--default-stream per-thread"
    [ "$name" = clusters ] && arch=compute_90
    # As one file they need nothing of C++'s library.
    "$nvcc" -std=c++17 -O1 $thread --no-compress -gencode "arch=$arch,code=$arch" \
        -Xcompiler -Os,-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-fno-asynchronous-unwind-tables -c -o "$name.o" "$source"
    strip --strip-unneeded "$name.o"
    mv "$name.o" "$name.nvcc"
done
"$nvcc" -cudart shared -gencode arch=compute_80,code=compute_80 --no-compress -Xlinker --as-needed,--strip-all -o whole symbols.cu
