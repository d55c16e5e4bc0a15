// A program that ends while kernels run that never would: they end with it.
#include "check.h"

__global__ void wait(volatile int *word) {
    while (!*word) continue;
}

int main() {
    int *word;
    cudaStream_t stream;
    OK(cudaMalloc(&word, sizeof *word));
    OK(cudaMemset(word, 0, sizeof *word));
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    wait<<<1, 1, 0, stream>>>(word);
    wait<<<2, 64>>>(word);
    OK(cudaGetLastError());
    EXPECT(cudaStreamQuery(stream) == cudaErrorNotReady);
    return end("endless");
}
