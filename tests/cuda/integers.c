/* integers.c: textures of integers that are read as integers, by a linear filter. The manual has no words for it, the
 * driver takes it, and FFmpeg's filters use it. What an H200 (580.159.04) found: 8 and 16 bits are rounded, halves up;
 * of 32 bits the fraction is cut off. */
#include "expect.h"

enum { LANES = 16, SIDE = 4, PITCH = 512 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry look(.param .u64 texture, .param .u64 places, .param .u64 out)\n{\n"
    ".reg .b64 %h, %i, %o, %w;\n.reg .f32 %x, %y;\n.reg .b32 %t, %a<4>;\nld.param.u64 %h, [texture];\n"
    "ld.param.u64 %i, [places];\nld.param.u64 %o, [out];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %w, %t, 8;\n"
    "add.u64 %i, %i, %w;\nld.global.v2.f32 {%x, %y}, [%i];\n"
    "tex.2d.v4.u32.f32 {%a0, %a1, %a2, %a3}, [%h, {%x, %y}];\n"
    "mul.wide.u32 %w, %t, 4;\nadd.u64 %o, %o, %w;\nst.global.u32 [%o], %a0;\nret;\n}\n";

static const struct {
    CUarray_format format;
    unsigned mode;
    unsigned found[LANES];
} recorded[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0xe9, 0x80, 0x8a, 0xb4, 0x7b, 0x58, 0x64, 0x4d, 0x4c, 0x67, 0x92, 0x9a, 0xb4, 0x6d, 0x2a, 0xb0}},
    {CU_AD_FORMAT_UNSIGNED_INT8,
     CU_TR_ADDRESS_MODE_BORDER,
     {0x3a, 0x48, 0x78, 0xaa, 0x25, 0x46, 0x64, 0x4d, 0x4c, 0x67, 0x8a, 0x2e, 0x90, 0x4b, 0x10, 0xb}},
    {CU_AD_FORMAT_UNSIGNED_INT16,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0x7325, 0x8100, 0x5de6, 0x3927, 0x61af, 0xa454, 0x6993, 0x3e71, 0xbf5e, 0xdba0, 0xa2c7, 0x7b8a, 0x8ec6, 0xa540,
      0xba82, 0x9250}},
    {CU_AD_FORMAT_UNSIGNED_INT16,
     CU_TR_ADDRESS_MODE_BORDER,
     {0x1cd4, 0x4890, 0x5242, 0x3679, 0x1d21, 0x83bd, 0x6993, 0x3e71, 0xbf5e, 0xdba0, 0x9a93, 0x2521, 0x7255, 0x7199,
      0x45e1, 0x925}},
    {CU_AD_FORMAT_UNSIGNED_INT32,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0x2a240525, 0xb07b40ff, 0xca14a9e5, 0x93dd0207, 0x7b6a795a, 0x95d96e15, 0x9dcc1ff5, 0x976aa1b7, 0x903f2b92,
      0x9a8d7b28, 0x803d9ebe, 0x6ddad893, 0xfb3cd697, 0x96081684, 0x2a497f72, 0x92a1645f}},
    {CU_AD_FORMAT_UNSIGNED_INT32,
     CU_TR_ADDRESS_MODE_BORDER,
     {0xaf097d4, 0x6345548f, 0xb0e28442, 0x8c388efa, 0x25462427, 0x77ee9b56, 0x9dcc1ff5, 0x976aa1b7, 0x903f2b92,
      0x9a8d7b28, 0x79c1d864, 0x210725c9, 0xc92fb7d6, 0x6733a42d, 0x1003ca5a, 0x92a1645}},
    {CU_AD_FORMAT_SIGNED_INT8,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0x3, 0x40, 0x24, 0xffffffe4, 0xfffffffb, 0x58, 0x52, 0x3e, 0x1c, 0xfffffff7, 0xffffff92, 0xffffff9a, 0xffffffb4,
      0xffffffe0, 0x10, 0xfffffff0}},
    {CU_AD_FORMAT_SIGNED_INT8,
     CU_TR_ADDRESS_MODE_BORDER,
     {0x1, 0x24, 0x1f, 0xffffffe5, 0xfffffffe, 0x46, 0x52, 0x3e, 0x1c, 0xfffffff7, 0xffffff97, 0xffffffe1, 0xffffffc3,
      0xffffffea, 0x6, 0xffffffff}},
    {CU_AD_FORMAT_SIGNED_INT16,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0x5925, 0xffffc100, 0xffffc3e6, 0x927, 0xffffe1af, 0xffffd454, 0xffffee93, 0x2471, 0xffffff5e, 0xffffe1a0, 0x2c7,
      0x2b8a, 0xffff8ec6, 0xffffa540, 0xffffba82, 0xffff9250}},
    {CU_AD_FORMAT_SIGNED_INT16,
     CU_TR_ADDRESS_MODE_BORDER,
     {0x15d4, 0xffffdc90, 0xffffcb42, 0x879, 0xfffff721, 0xffffdcbd, 0xffffee93, 0x2471, 0xffffff5e, 0xffffe1a0, 0x293,
      0xd21, 0xffffa555, 0xffffc199, 0xffffe5e1, 0xfffff925}},
    {CU_AD_FORMAT_SIGNED_INT32,
     CU_TR_ADDRESS_MODE_CLAMP,
     {0x10240525, 0xf07b40ff, 0xca14a9e5, 0xc3dd0207, 0xfb6a795a, 0x95d96e15, 0xbdcc1ff5, 0xfc6aa1b7, 0xc03f2b92,
      0xa08d7b28, 0xe03d9ebe, 0x1ddad893, 0xfb3cd697, 0x9081684, 0x10497f72, 0xd2a1645f}},
    {CU_AD_FORMAT_SIGNED_INT32,
     CU_TR_ADDRESS_MODE_BORDER,
     {0x3f097d4, 0xf745548f, 0xd0e28442, 0xc7388efa, 0xfe462427, 0xaaee9b56, 0xbdcc1ff5, 0xfc6aa1b7, 0xc03f2b92,
      0xa08d7b28, 0xe1c1d864, 0x90725c9, 0xfc2fb7d6, 0x633a42d, 0x603ca5a, 0xfd2a1645}},
};

/* The bytes that were looked at there. */
static void fill(CUdeviceptr texels) {
    unsigned char bytes[SIDE * PITCH];
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof bytes; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    OK(cuMemcpyHtoD_v2(texels, bytes, sizeof bytes));
}

static void place(CUdeviceptr places) {
    float at[LANES][2];
    for (int i = 0; i < LANES; i++) {
        at[i][0] = (float)i * 0.3125f - 0.25f;
        at[i][1] = (float)((i + LANES) % 7) * 0.65f + 0.3f;
    }
    OK(cuMemcpyHtoD_v2(places, at, sizeof at));
}

int main(void) {
    CUcontext context;
    CUmodule module;
    CUfunction look;
    CUdeviceptr texels, places, out;
    OK(cuInit(0));
    OK(cuCtxCreate_v2(&context, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&look, module, "look"));
    OK(cuMemAlloc_v2(&texels, SIDE * PITCH));
    OK(cuMemAlloc_v2(&places, LANES * 2 * sizeof(float)));
    OK(cuMemAlloc_v2(&out, LANES * sizeof(unsigned)));
    fill(texels);
    place(places);
    for (size_t k = 0; k < sizeof recorded / sizeof recorded[0]; k++) {
        const CUDA_RESOURCE_DESC of = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                       .res.pitch2D = {.devPtr = texels,
                                                       .format = recorded[k].format,
                                                       .numChannels = 1,
                                                       .width = SIDE,
                                                       .height = SIDE,
                                                       .pitchInBytes = PITCH}};
        const CUDA_TEXTURE_DESC how = {.addressMode = {recorded[k].mode, recorded[k].mode},
                                       .filterMode = CU_TR_FILTER_MODE_LINEAR,
                                       .flags = CU_TRSF_READ_AS_INTEGER};
        CUtexObject texture = 0;
        unsigned got[LANES];
        OK(cuTexObjectCreate(&texture, &of, &how, NULL));
        OK(cuLaunchKernel(look, 1, 1, 1, LANES, 1, 1, 0, NULL, (void *[]){&texture, &places, &out}, NULL));
        OK(cuMemcpyDtoH_v2(got, out, sizeof got));
        for (int i = 0; i < LANES; i++)
            if (got[i] != recorded[k].found[i])
                faults++, printf("row %zu, lane %d: %#x, not %#x\n", k, i, got[i], recorded[k].found[i]);
        OK(cuTexObjectDestroy(texture));
    }
    OK(cuCtxDestroy_v2(context));
    return faults != 0;
}
