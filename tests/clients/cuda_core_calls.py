"""cuda_core_calls.py: what cuda_core.py runs, each against what numpy says or what CUDA's documents say of the call."""

import ctypes
import sys

import numpy as np
from cuda.bindings import driver
from cuda.core import (Device, DeviceMemoryResource, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, Linker, LinkerOptions, ManagedMemoryResource,
                       ObjectCode, Program, ProgramOptions, StreamOptions, launch)
from cuda.core.graph import GraphBuilder, GraphDefinition

SCALE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 many)
{
    .reg .pred %p;
    .reg .b32 %r<7>;
    .reg .b64 %d<3>;
    ld.param.u64 %d0, [data];
    ld.param.u32 %r0, [factor];
    ld.param.u32 %r1, [many];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.u32 %r5, %r2, %r3, %r4;
    setp.ge.u32 %p, %r5, %r1;
    @%p ret;
    mad.wide.u32 %d1, %r5, 4, %d0;
    ld.global.u32 %r6, [%d1];
    mul.lo.u32 %r6, %r6, %r0;
    st.global.u32 [%d1], %r6;
    ret;
}
"""
CPLUSPLUS = """
template <typename T> __global__ void saxpy(T a, const T *x, T *y, unsigned n)
{
    for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += gridDim.x * blockDim.x)
        y[at] += a * x[at];
}
"""
HALF = "extern __device__ int half(int x); extern \"C\" __global__ void all(int *x) { x[threadIdx.x] = half(x[threadIdx.x]); }"
OTHER = "__device__ int half(int x) { return x / 2; }"
MANY = 1000

device = Device()
device.set_current()
stream = device.create_stream()
pinned = LegacyPinnedMemoryResource()
alive = []


def arch():
    return f"sm_{device.arch}"


def host(many=MANY, kind=np.uint32, memory=pinned):
    """Memory that both sides see, and it as an array of numpy's."""
    buffer = memory.allocate(many * np.dtype(kind).itemsize, stream=stream)
    stream.sync()
    alive.append(buffer)  # what a check gives back is looked at after it
    raw = (ctypes.c_char * buffer.size).from_address(int(buffer.handle))
    return buffer, np.frombuffer(raw, kind)


def scale_kernel():
    return ObjectCode.from_ptx(SCALE.encode()).get_kernel("scale")


CONFIG = LaunchConfig(grid=8, block=128)


def scale(where, data, factor, many=MANY):
    launch(where, CONFIG, scale_kernel(), data, np.uint32(factor), np.uint32(many))


def module_of_ptx():
    data, array = host()
    array[:] = np.arange(MANY)
    scale(stream, data, 7)
    stream.sync()
    return array, np.arange(MANY) * 7


def program_of_cplusplus():
    program = Program(CPLUSPLUS, "c++", ProgramOptions(std="c++17", arch=arch()))
    code = program.compile("ptx", name_expressions=("saxpy<float>", "saxpy<double>"))
    got, right = [], []
    for kind, name in ((np.float32, "saxpy<float>"), (np.float64, "saxpy<double>")):
        x, xs = host(kind=kind)
        y, ys = host(kind=kind)
        xs[:], ys[:] = np.arange(MANY), 1
        launch(stream, LaunchConfig(grid=2, block=64), code.get_kernel(name), kind(0.5), x, y, np.uint32(MANY))
        stream.sync()
        got.append(ys.copy())
        right.append(1 + np.arange(MANY) * kind(0.5))
    return np.concatenate(got), np.concatenate(right)


def linked():
    parts = [Program(text, "c++", ProgramOptions(arch=arch(), relocatable_device_code=True)).compile("ptx") for text in (HALF, OTHER)]
    kernel = Linker(*parts, options=LinkerOptions(arch=arch())).link("cubin").get_kernel("all")
    data, array = host(32, np.int32)
    array[:] = np.arange(-16, 16)
    launch(stream, LaunchConfig(grid=1, block=32), kernel, data)
    stream.sync()
    return array, np.trunc(np.arange(-16, 16) / 2)


def memory_of(resource):
    def check():
        memory = resource()
        inner, (data, array) = memory.allocate(4 * MANY, stream=stream), host()
        array[:] = np.arange(MANY)
        inner.copy_from(data, stream=stream)
        scale(stream, inner, 3)
        inner.copy_to(data, stream=stream)
        stream.sync()
        inner.close(stream)
        return array, np.arange(MANY) * 3
    return check


def managed():
    data, array = host(memory=ManagedMemoryResource())
    array[:] = np.arange(MANY)
    scale(stream, data, 5)
    stream.sync()
    return array, np.arange(MANY) * 5


def filled():
    memory, (data, array) = device.allocate(4 * MANY, stream=stream), host()
    memory.fill(0xab, stream=stream)
    memory.copy_to(data, stream=stream)
    stream.sync()
    return array, np.full(MANY, 0xabababab)


def ordered():
    """Two streams take turns, by events."""
    other = device.create_stream(options=StreamOptions(nonblocking=True))
    data, array = host()
    array[:] = np.arange(MANY)
    for turn in range(20):
        one, two = (stream, other) if turn % 2 else (other, stream)
        scale(one, data, 3)
        two.wait(one.record())
    stream.sync()
    other.sync()
    return array, np.arange(MANY) * pow(3, 20, 1 << 32) & 0xffffffff


def timed():
    options = EventOptions(timing_enabled=True)
    first = stream.record(options=options)
    data, _ = host()
    scale(stream, data, 1)
    last = stream.record(options=options)
    last.sync()
    return [first.is_done, last.is_done, last - first >= 0], [True, True, True]


def kernel_facts():
    kernel = scale_kernel()
    facts = [(about.offset, about.size) for about in kernel.arguments_info]
    return [kernel.num_arguments, *facts[0], *facts[1], *facts[2], kernel.attributes.max_threads_per_block >= 128], [3, 0, 8, 8, 4, 12, 4, True]


def built_graph():
    data, array = host()
    array[:] = np.arange(MANY)
    builder = device.create_graph_builder().begin_building()
    for factor in (2, 3, 5):
        scale(builder, data, factor)
    graph = builder.end_building().complete()
    for _ in range(3):
        graph.launch(stream)
    stream.sync()
    return array, np.arange(MANY) * 27000


def split_graph():
    data, array = host(2 * MANY)
    array[:] = np.arange(2 * MANY)
    builder = device.create_graph_builder().begin_building()
    scale(builder, data, 2, 2 * MANY)
    left, right = builder.split(2)
    scale(left, data, 3)
    launch(right, CONFIG, scale_kernel(), int(data.handle) + 4 * MANY, np.uint32(5), np.uint32(MANY))
    joined = GraphBuilder.join(left, right)
    graph = joined.end_building().complete()
    graph.launch(stream)
    stream.sync()
    few = 8 * 128  # what CONFIG has of threads
    times = np.where(np.arange(2 * MANY) < few, 2, 1)
    return array, np.arange(2 * MANY) * times * np.repeat([3, 5], MANY)


def defined_graph():
    data, array = host()
    definition = GraphDefinition()
    first = definition.memset(int(data.handle), 1, 4 * MANY)
    first.launch(CONFIG, scale_kernel(), data, np.uint32(4), np.uint32(MANY))
    graph = definition.instantiate()
    graph.launch(stream)
    stream.sync()
    return array, np.full(MANY, 0x04040404)


def called_back():
    seen = []
    builder = device.create_graph_builder().begin_building()
    builder.callback(lambda: seen.append(1))
    graph = builder.end_building().complete()
    graph.launch(stream)
    graph.launch(stream)
    stream.sync()
    return seen, [1, 1]


def checked(answer):
    error, *values = answer
    if error != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(str(error))
    return values[0] if len(values) == 1 else values


def by_the_bindings():
    module = checked(driver.cuModuleLoadData(SCALE.encode()))
    function = checked(driver.cuModuleGetFunction(module, b"scale"))
    memory = checked(driver.cuMemAlloc(4 * MANY))
    array = np.arange(MANY, dtype=np.uint32)
    checked(driver.cuMemcpyHtoD(memory, array.ctypes.data, array.nbytes))
    checked(driver.cuLaunchKernel(function, 8, 1, 1, 128, 1, 1, 0, 0, ((memory, 9, MANY), (None, ctypes.c_uint, ctypes.c_uint)), 0))
    checked(driver.cuMemcpyDtoH(array.ctypes.data, memory, array.nbytes))
    checked(driver.cuMemFree(memory))
    checked(driver.cuModuleUnload(module))
    return array, np.arange(MANY) * 9


def errors():
    wrong = driver.cuModuleLoadData(b".version 8.0\n.target sm_80\n.address_size 64\nnothing\n")[0]
    module = checked(driver.cuModuleLoadData(SCALE.encode()))
    missing = driver.cuModuleGetFunction(module, b"other")[0]
    return [wrong, missing, driver.cuMemFree(12345)[0]], [driver.CUresult.CUDA_ERROR_INVALID_PTX, driver.CUresult.CUDA_ERROR_NOT_FOUND,
                                                          driver.CUresult.CUDA_ERROR_INVALID_VALUE]


CHECKS = {
    "a module of PTX": module_of_ptx,
    "C++ by NVRTC, templates": program_of_cplusplus,
    "two programs linked": linked,
    "memory of the device": memory_of(lambda: device.memory_resource),
    "memory of a pool": memory_of(lambda: DeviceMemoryResource(device)),
    "managed memory": managed,
    "memory filled": filled,
    "two streams in order by events": ordered,
    "events with times": timed,
    "facts of a kernel": kernel_facts,
    "a graph of a captured stream": built_graph,
    "a graph with two branches": split_graph,
    "a graph of nodes": defined_graph,
    "a graph that calls the host": called_back,
    "the driver's calls by cuda.bindings": by_the_bindings,
    "errors of the driver": errors,
}


def main():
    for name, check in CHECKS.items():
        try:
            came, right = check()
            equal = np.array_equal(came, right)
            print("passed" if equal else "FAILED", name + ("" if equal else f": {np.asarray(came).ravel()[:8]}, not {np.asarray(right).ravel()[:8]}"), flush=True)
        except Exception as fault:
            print("FAILED", f"{name}: {type(fault).__name__} {str(fault).splitlines()[0] if str(fault) else ''}"[:300], flush=True)


if __name__ == "__main__":
    sys.exit(main())
