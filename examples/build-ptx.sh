#!/bin/sh
# Makes the checked-in PTX here and in bench/ptx again from the CUDA sources. Only needed after a change to a source: using the
# examples needs no CUDA. NVCC names the compiler (nvcc 13 made the files here); with PTXAS set or found
# beside it, every file is also assembled.
set -eu
cd "$(dirname "$0")"
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "build-ptx.sh: no $nvcc; set NVCC to the path of nvcc" >&2; exit 1; }
ptxas=${PTXAS:-$(dirname "$(command -v "$nvcc")")/ptxas}

for source in */*.cu ../bench/ptx/*.cu; do
    (cd "$(dirname "$source")" && name=$(basename "$source" .cu) && "$nvcc" -arch=sm_75 -ptx -o "$name.ptx" "$name.cu")
    ptx=${source%.cu}.ptx
    if command -v "$ptxas" >/dev/null; then
        for arch in sm_75 sm_90; do "$ptxas" -arch=$arch -o /dev/null "$ptx"; done
    fi
    echo "$ptx"
done
