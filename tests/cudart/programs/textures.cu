// Textures of all kinds, and surfaces: what an H200 (driver 580.159.04, CUDA 13.0) read and wrote on 2026-11-30, as a number
// for each.
#include "check.h"

enum { W = 32, H = 24, D = 5, OUT_W = 37, OUT_H = 29, OUT = OUT_W * OUT_H };

// ---- Kernels

// Coordinates from outside of the image on one side to outside on the other.
__device__ float along(int i, int n) { return (i - 0.1f * n) / (0.8f * n); }

__global__ void flat(cudaTextureObject_t texture, float4 *to, float scale_x, float scale_y) {
    int x = threadIdx.x, y = blockIdx.x;
    to[y * OUT_W + x] = tex2D<float4>(texture, along(x, OUT_W) * scale_x, along(y, OUT_H) * scale_y);
}

__global__ void single(cudaTextureObject_t texture, float4 *to, float scale_x, float scale_y) {
    int x = threadIdx.x, y = blockIdx.x;
    float value = tex2D<float>(texture, along(x, OUT_W) * scale_x, along(y, OUT_H) * scale_y);
    to[y * OUT_W + x] = make_float4(value, 0, 0, 0);
}

__global__ void integers(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    short2 value = tex2D<short2>(texture, along(x, OUT_W) * W, along(y, OUT_H) * H);
    to[y * OUT_W + x] = make_float4(value.x, value.y, 0, 0);
}

__global__ void layered(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    float value = tex2DLayered<float>(texture, along(x, OUT_W), along(y, OUT_H), y % (D + 2) - 1);
    to[y * OUT_W + x] = make_float4(value, 0, 0, 0);
}

__global__ void line(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    int i = y * OUT_W + x - 10;
    to[y * OUT_W + x] = make_float4(tex1Dfetch<int>(texture, i), 0, 0, 0);
}

__global__ void deep(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    float value = tex3D<float>(texture, along(x, OUT_W) * W, along(y, OUT_H) * H, along(x + y, OUT_W + OUT_H) * D);
    to[y * OUT_W + x] = make_float4(value, 0, 0, 0);
}

__global__ void levels(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    float value = tex2DLod<float>(texture, along(x, OUT_W), along(y, OUT_H), along(x, OUT_W) * 4);
    to[y * OUT_W + x] = make_float4(value, 0, 0, 0);
}

__global__ void cube(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    float value = texCubemap<float>(texture, along(x, OUT_W) - 0.5f, along(y, OUT_H) - 0.5f, (x + y) % 7 * 0.25f - 0.8f);
    to[y * OUT_W + x] = make_float4(value, 0, 0, 0);
}

__global__ void gather(cudaTextureObject_t texture, float4 *to) {
    int x = threadIdx.x, y = blockIdx.x;
    to[y * OUT_W + x] = tex2Dgather<float4>(texture, along(x, OUT_W), along(y, OUT_H), 1);
}

__global__ void blur(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
    int x = threadIdx.x, y = blockIdx.x;
    int sum[4] = {};
    for (int i = -1; i <= 1; i++) {
        uchar4 value = surf2Dread<uchar4>(from, (x + i) * (int)sizeof(uchar4), y, cudaBoundaryModeClamp);
        uchar4 other = surf2Dread<uchar4>(from, x * (int)sizeof(uchar4), y + i, cudaBoundaryModeZero);
        sum[0] += value.x + other.x, sum[1] += value.y + other.y, sum[2] += value.z, sum[3] += other.w;
    }
    uchar4 mean = make_uchar4(sum[0] / 6, sum[1] / 6, sum[2] / 3, sum[3] / 3);
    surf2Dwrite(mean, to, (x + 3) * (int)sizeof(uchar4), y - 2, cudaBoundaryModeZero); // some of it nowhere
}

// ---- What came of them

static float4 *device;

static unsigned hash(const void *data, size_t size) {
    unsigned all = 2166136261u;
    for (size_t i = 0; i < size; i++) all = (all ^ ((const unsigned char *)data)[i]) * 16777619u;
    return all;
}

static void expect(const char *name, unsigned wanted) {
    static float4 got[OUT];
    OK(cudaGetLastError());
    OK(cudaMemcpy(got, device, sizeof got, cudaMemcpyDeviceToHost));
    unsigned is = hash(got, sizeof got);
    printf("%s %08x\n", name, is);
    EXPECT(is == wanted);
    OK(cudaMemset(device, 0xff, sizeof got));
}

static unsigned random_word(unsigned i) {
    i = (i ^ 61) ^ (i >> 16);
    i *= 9, i ^= i >> 4, i *= 0x27d4eb2d;
    return i ^ i >> 15;
}

static cudaArray_t make(const cudaChannelFormatDesc &desc, int width, int height, int depth, unsigned flags, const void *from, int texel) {
    cudaArray_t array;
    OK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(width, height, depth), flags));
    cudaMemcpy3DParms in = {};
    in.srcPtr = make_cudaPitchedPtr((void *)from, width * texel, width, height);
    in.dstArray = array;
    in.extent = make_cudaExtent(width, height, depth ? depth : 1);
    in.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&in));
    return array;
}

static cudaTextureObject_t look(const cudaResourceDesc &of, cudaTextureAddressMode mode, cudaTextureFilterMode filter, cudaTextureReadMode read, bool normalized) {
    cudaTextureDesc how = {};
    cudaTextureObject_t texture = 0;
    how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = mode;
    how.filterMode = filter, how.mipmapFilterMode = filter, how.readMode = read, how.normalizedCoords = normalized;
    how.maxMipmapLevelClamp = 9;
    how.borderColor[0] = 0.25f, how.borderColor[3] = 1;
    OK(cudaCreateTextureObject(&texture, &of, &how, nullptr));
    return texture;
}

static cudaResourceDesc of_array(cudaArray_t array) {
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeArray;
    of.res.array.array = array;
    return of;
}

// ---- Each kind

static unsigned words[W * H * D];
static float floats[W * H * D];

static void flat_ones() {
    static const struct {
        cudaTextureAddressMode mode;
        cudaTextureFilterMode filter;
        bool normalized;
        unsigned is, single;
    } rows[] = {
        {cudaAddressModeClamp, cudaFilterModePoint, false, 0x9625020d, 0x81536feb},  {cudaAddressModeClamp, cudaFilterModeLinear, true, 0xb3d0ee74, 0xe9e3639f},
        {cudaAddressModeWrap, cudaFilterModeLinear, true, 0x9f09e3e9, 0x52fec3cb},   {cudaAddressModeMirror, cudaFilterModeLinear, true, 0x3c56d861, 0x878d4ab3},
        {cudaAddressModeBorder, cudaFilterModePoint, false, 0xd8c63c93, 0xbf7bacf5}, {cudaAddressModeBorder, cudaFilterModeLinear, true, 0xf4437e84, 0xd8fdc222},
    };
    cudaArray_t bytes = make(cudaCreateChannelDesc<uchar4>(), W, H, 0, 0, words, 4);
    cudaArray_t reals = make(cudaCreateChannelDesc<float>(), W, H, 0, 0, floats, 4);
    for (auto &row : rows) {
        float scale_x = row.normalized ? 1 : W, scale_y = row.normalized ? 1 : H;
        cudaTextureObject_t texture = look(of_array(bytes), row.mode, row.filter, cudaReadModeNormalizedFloat, row.normalized);
        flat<<<OUT_H, OUT_W>>>(texture, device, scale_x, scale_y);
        expect("u8x4", row.is);
        OK(cudaDestroyTextureObject(texture));
        texture = look(of_array(reals), row.mode, row.filter, cudaReadModeElementType, row.normalized);
        single<<<OUT_H, OUT_W>>>(texture, device, scale_x, scale_y);
        expect("f32", row.single);
        OK(cudaDestroyTextureObject(texture));
    }
    cudaArray_t shorts = make(cudaCreateChannelDesc<short2>(), W, H, 0, 0, words, 4);
    cudaTextureObject_t texture = look(of_array(shorts), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    integers<<<OUT_H, OUT_W>>>(texture, device);
    expect("s16x2", 0xa7f6114f);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(bytes));
    OK(cudaFreeArray(reals));
    OK(cudaFreeArray(shorts));
}

static void in_memory() {
    int *row;
    size_t pitch;
    cudaResourceDesc of = {};
    OK(cudaMalloc(&row, sizeof words));
    OK(cudaMemcpy(row, words, sizeof words, cudaMemcpyHostToDevice));
    of.resType = cudaResourceTypeLinear;
    of.res.linear.devPtr = row;
    of.res.linear.desc = cudaCreateChannelDesc<int>();
    of.res.linear.sizeInBytes = 1000 * sizeof(int); // fewer than are asked for
    cudaTextureObject_t texture = look(of, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, false);
    line<<<OUT_H, OUT_W>>>(texture, device);
    expect("in a line", 0xd490286e);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(row));
    float *rows;
    OK(cudaMallocPitch(&rows, &pitch, W * sizeof(float), H));
    OK(cudaMemcpy2D(rows, pitch, floats, W * sizeof(float), W * sizeof(float), H, cudaMemcpyHostToDevice));
    of = {};
    of.resType = cudaResourceTypePitch2D;
    of.res.pitch2D.devPtr = rows;
    of.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    of.res.pitch2D.width = W, of.res.pitch2D.height = H, of.res.pitch2D.pitchInBytes = pitch;
    texture = look(of, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
    single<<<OUT_H, OUT_W>>>(texture, device, W, H);
    expect("in rows", 0xe9e3639f);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFree(rows));
}

static void deeper_ones() {
    cudaChannelFormatDesc f32 = cudaCreateChannelDesc<float>();
    cudaArray_t box = make(f32, W, H, D, 0, floats, 4), sheets = make(f32, W, H, D, cudaArrayLayered, floats, 4);
    cudaArray_t sides = make(f32, 8, 8, 6, cudaArrayCubemap, floats, 4);
    cudaArray_t bytes = make(cudaCreateChannelDesc<uchar4>(), W, H, 0, cudaArrayTextureGather, words, 4);
    cudaTextureObject_t texture = look(of_array(box), cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, false);
    deep<<<OUT_H, OUT_W>>>(texture, device);
    expect("3D", 0x02e37284);
    OK(cudaDestroyTextureObject(texture));
    texture = look(of_array(sheets), cudaAddressModeWrap, cudaFilterModePoint, cudaReadModeElementType, true);
    layered<<<OUT_H, OUT_W>>>(texture, device);
    expect("layers", 0x91034896);
    OK(cudaDestroyTextureObject(texture));
    texture = look(of_array(sides), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, true);
    cube<<<OUT_H, OUT_W>>>(texture, device);
    expect("cube", 0x5551b07f);
    OK(cudaDestroyTextureObject(texture));
    texture = look(of_array(bytes), cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeNormalizedFloat, true);
    gather<<<OUT_H, OUT_W>>>(texture, device);
    expect("gathered", 0x1dcf57a0);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeArray(box));
    OK(cudaFreeArray(sheets));
    OK(cudaFreeArray(sides));
    OK(cudaFreeArray(bytes));
}

static void mipmaps() {
    cudaMipmappedArray_t mipmap;
    cudaChannelFormatDesc f32 = cudaCreateChannelDesc<float>();
    OK(cudaMallocMipmappedArray(&mipmap, &f32, make_cudaExtent(W, H, 0), 4, 0));
    for (int i = 0; i < 4; i++) {
        cudaArray_t level;
        OK(cudaGetMipmappedArrayLevel(&level, mipmap, i));
        OK(cudaMemcpy2DToArray(level, 0, 0, floats + 100 * i, (W >> i) * 4, (W >> i) * 4, H >> i, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc of = {};
    of.resType = cudaResourceTypeMipmappedArray;
    of.res.mipmap.mipmap = mipmap;
    cudaTextureObject_t texture = look(of, cudaAddressModeClamp, cudaFilterModePoint, cudaReadModeElementType, true);
    levels<<<OUT_H, OUT_W>>>(texture, device);
    expect("levels, the nearest", 0x734b8e0d);
    OK(cudaDestroyTextureObject(texture));
    texture = look(of, cudaAddressModeClamp, cudaFilterModeLinear, cudaReadModeElementType, true);
    levels<<<OUT_H, OUT_W>>>(texture, device);
    expect("levels, between two", 0xc465927e);
    OK(cudaDestroyTextureObject(texture));
    OK(cudaFreeMipmappedArray(mipmap));
}

static void surfaces() {
    static uchar4 got[W * H];
    cudaArray_t arrays[2];
    cudaSurfaceObject_t objects[2];
    for (int i = 0; i < 2; i++) {
        arrays[i] = make(cudaCreateChannelDesc<uchar4>(), W, H, 0, cudaArraySurfaceLoadStore, words, 4);
        cudaResourceDesc of = of_array(arrays[i]);
        OK(cudaCreateSurfaceObject(&objects[i], &of));
    }
    blur<<<H, W>>>(objects[0], objects[1]);
    blur<<<H, W>>>(objects[1], objects[0]);
    OK(cudaMemcpy2DFromArray(got, W * 4, arrays[0], 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    printf("surfaces %08x\n", hash(got, sizeof got));
    EXPECT(hash(got, sizeof got) == 0x335c8ebb);
    for (int i = 0; i < 2; i++) {
        OK(cudaDestroySurfaceObject(objects[i]));
        OK(cudaFreeArray(arrays[i]));
    }
}

int main() {
    for (unsigned i = 0; i < W * H * D; i++) words[i] = random_word(i), floats[i] = 1 + (random_word(i + 5000) & 0xfff) * 0x1p-12f;
    OK(cudaMalloc(&device, OUT * sizeof *device));
    flat_ones();
    in_memory();
    deeper_ones();
    mipmaps();
    surfaces();
    OK(cudaFree(device));
    return end("textures");
}
