#!/bin/sh
# make.sh: makes the images of this folder anew. Needs the CUDA toolkit 13 and ar.
set -eu
cd "$(dirname "$0")"
several="-gencode arch=compute_80,code=compute_80 -gencode arch=compute_90,code=compute_90 \
    -gencode arch=compute_90a,code=compute_90a -gencode arch=compute_100,code=compute_100 -gencode arch=compute_100f,code=compute_100f"
for mode in size speed none; do nvcc -fatbin --compress-mode=$mode $several arch.cu -o $mode.fatbin; done
nvcc -fatbin -gencode arch=compute_80,code=sm_80 -gencode arch=compute_120,code=compute_120 arch.cu -o other.fatbin
nvcc -fatbin -rdc=true -gencode arch=compute_90,code=lto_90 arch.cu -o lto.fatbin
nvcc -dc -gencode arch=compute_80,code=compute_80 part.cu -o part.o
nvcc -dc -gencode arch=compute_80,code=compute_80 whole.cu -o whole.o
strip --strip-unneeded part.o whole.o
rm -f parts.a
ar rcsD parts.a part.o whole.o
rm -f part.o whole.o
