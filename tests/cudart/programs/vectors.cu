// Vector sums, with copies and fills of rows, rectangles and boxes.
#include "check.h"

__global__ void add(const float *a, const float *b, float *c, int n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

__global__ void transpose(const int *from, size_t from_pitch, int *to, size_t to_pitch, int width, int height) {
    __shared__ int tile[16][17];
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = from[y * from_pitch / sizeof(int) + x];
    __syncthreads();
    x = blockIdx.y * 16 + threadIdx.x, y = blockIdx.x * 16 + threadIdx.y;
    if (x < height && y < width) to[y * to_pitch / sizeof(int) + x] = tile[threadIdx.x][threadIdx.y];
}

static void sums() {
    enum { N = 10000 };
    static float a[N], b[N], c[N];
    float *d[3];
    for (int i = 0; i < N; i++) a[i] = i * 0.5f, b[i] = N - i;
    for (float *&each : d) OK(cudaMalloc(&each, sizeof a));
    OK(cudaMemcpy(d[0], a, sizeof a, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(d[1], b, sizeof b, cudaMemcpyDefault));
    add<<<16, 128>>>(d[0], d[1], d[2], N);
    OK(cudaGetLastError());
    OK(cudaMemcpy(c, d[2], sizeof c, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < N; i++) wrong += c[i] != a[i] + b[i];
    EXPECT(!wrong);
    for (float *each : d) OK(cudaFree(each));
    OK(cudaFree(nullptr));
    printf("last sum: %g\n", c[N - 1]);
}

static void rectangles() {
    enum { W = 50, H = 30 };
    int from[H][W], to[W][H], *d_from, *d_to, wrong = 0;
    size_t from_pitch, to_pitch;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) from[y][x] = y * 1000 + x;
    OK(cudaMallocPitch(&d_from, &from_pitch, W * sizeof(int), H));
    OK(cudaMallocPitch(&d_to, &to_pitch, H * sizeof(int), W));
    EXPECT(from_pitch >= W * sizeof(int) && from_pitch % 32 == 0);
    OK(cudaMemset2D(d_to, to_pitch, 0xff, H * sizeof(int), W));
    OK(cudaMemcpy2D(d_from, from_pitch, from, sizeof from[0], sizeof from[0], H, cudaMemcpyHostToDevice));
    transpose<<<dim3((W + 15) / 16, (H + 15) / 16), dim3(16, 16)>>>(d_from, from_pitch, d_to, to_pitch, W, H);
    OK(cudaMemcpy2D(to, sizeof to[0], d_to, to_pitch, sizeof to[0], W, cudaMemcpyDeviceToHost));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) wrong += to[x][y] != from[y][x];
    EXPECT(!wrong);
    GIVES(cudaErrorInvalidValue, cudaMemcpy2D(to, 8, d_to, to_pitch, 16, 1, cudaMemcpyDeviceToHost));
    OK(cudaFree(d_from));
    OK(cudaFree(d_to));
}

static void boxes() {
    enum { W = 5, H = 4, D = 3 };
    char box[D][H][W], back[2][2][2];
    cudaPitchedPtr device;
    cudaExtent all = make_cudaExtent(W, H, D), part = make_cudaExtent(2, 2, 2);
    for (int i = 0; i < W * H * D; i++) (&box[0][0][0])[i] = i;
    OK(cudaMalloc3D(&device, all));
    EXPECT(device.xsize == W && device.ysize == H);
    OK(cudaMemset3D(device, 7, all));
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr(box, W, W, H);
    in.dstPtr = device;
    in.extent = all;
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    cudaMemcpy3DParms out = {};
    out.srcPtr = device;
    out.srcPos = make_cudaPos(2, 1, 1);
    out.dstPtr = make_cudaPitchedPtr(back, 2, 2, 2);
    out.extent = part;
    out.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&out));
    int wrong = 0;
    for (int i = 0; i < 8; i++) wrong += back[i >> 2][i >> 1 & 1][i & 1] != box[1 + (i >> 2)][1 + (i >> 1 & 1)][2 + (i & 1)];
    EXPECT(!wrong);
    OK(cudaMemset3D(device, 9, part));
    OK(cudaMemcpy3D(&out));
    EXPECT(back[0][0][0] == box[1][1][2] && back[1][1][1] == box[2][2][3]); // beside what was filled
    OK(cudaFree(device.ptr));
}

int main() {
    sums();
    rectangles();
    boxes();
    return end("vectors");
}
