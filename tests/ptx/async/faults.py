#!/usr/bin/env python3
"""What ends a launch that misuses mbarrier objects and asynchronous copies, and what a missing wait shows: kernels of a few lines, the diagnostic and its line."""

import argparse
import pathlib
import re
import subprocess
import sys

HEAD = """.version 8.8
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out)
{
    .reg .pred %p<4>;
    .reg .b16 %h<2>;
    .reg .b32 %t, %r<8>;
    .reg .b64 %in, %out, %x<8>;
    .shared .align 128 .b8 room[256];
    .shared .align 8 .b64 object, other;
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    mov.u32 %t, %tid.x;
    setp.eq.u32 %p0, %t, 0;
"""
# a map of u32[2][16], in `out`, and a copy of it
MAP = "tensormap.replace.tile.%s.global.b1024.b%d [%%out], %s;\n"
ARRAY = "".join(MAP % field for field in (("global_address", 64, "%in"), ("rank", 32, "1"), ("elemtype", 32, "2"), ("global_dim", 32, "0, 16"), ("global_dim", 32, "1, 2"), ("global_stride", 64, "0, 64"),
                                          ("box_dim", 32, "0, 4")))
LOAD = "!cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [room], [%%%s, {%s}], [object];"
STORE = "!cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%%out, {%s}], [room];"
INIT = "@%p0 mbarrier.init.shared.b64 [object], 4;\nbar.sync 0;\n"
# name, threads, text (the line that is to blame has a !), id, words of the message
TRAPS = [
    ("no object", 1, "!mbarrier.arrive.shared.b64 %x0, [object];", 5020, "arrival of the mbarrier.*there is none"),
    ("no object to test", 1, "!mbarrier.test_wait.parity.shared.b64 %p1, [object], 0;", 5020, "test of the mbarrier.*there is none"),
    ("no object to wait for", 1, "!mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;", 5020, "there is none"),
    ("object that was ended", 1, INIT + "mbarrier.inval.shared.b64 [object];\n!mbarrier.inval.shared.b64 [object];", 5020, "invalidation.*there is none"),
    ("init with 0", 1, "mov.b32 %r0, 0;\n!mbarrier.init.shared.b64 [object], %r0;", 5020, "a count is 1 to 1048575"),
    ("init with 2^20", 1, "mov.b32 %r0, 0x100000;\n!mbarrier.init.shared.b64 [object], %r0;", 5020, "a count is 1 to 1048575"),
    ("arrival of 0", 1, INIT + "mov.b32 %r0, 0;\n!mbarrier.arrive.shared.b64 %x0, [object], %r0;", 5020, "a count is"),
    ("more arrivals than are pending", 1, INIT + "!mbarrier.arrive.shared.b64 %x0, [object], 5;", 5020, "more arrive than are pending"),
    ("the fifth of eight lanes, after a drop", 8, INIT + "@%p0 mbarrier.expect_tx.shared.b64 [object], 1;\nbar.sync 0;\n!mbarrier.arrive.shared.b64 %x0, [object];", 5020,
     r"more arrive than are pending(.|\n)*lane 4"),
    ("more leave than are expected", 1, INIT + "mbarrier.arrive_drop.shared.b64 %x0, [object], 3;\nmbarrier.arrive.shared.b64 %x0, [object];\n"
     "mbarrier.arrive.shared.b64 %x0, [object];\n!mbarrier.arrive_drop.shared.b64 %x0, [object], 2;", 5020, "more arrive than are pending"),
    ("noComplete that completes", 1, INIT + "!mbarrier.arrive.noComplete.shared.b64 %x0, [object], 4;", 5020, ".noComplete completes the phase"),
    ("too many transactions", 1, INIT + "mbarrier.expect_tx.shared.b64 [object], 1048575;\n!mbarrier.expect_tx.shared.b64 [object], 1;", 5020, "more transactions"),
    ("too many completions", 1, INIT + "mbarrier.complete_tx.shared.b64 [object], 1048575;\n!mbarrier.complete_tx.shared.b64 [object], 1;", 5020, "more transactions"),
    ("object in global memory", 1, "!mbarrier.init.b64 [%out], 1;", 5020, "not in shared memory"),
    ("object on an odd address", 1, "mov.u32 %r0, object;\n!mbarrier.init.shared.b64 [%r0+4], 1;", 5001, "no multiple of 8"),
    ("object beyond shared memory", 1, "mov.u32 %r0, 65536;\n!mbarrier.init.shared.b64 [%r0], 1;", 5000, "shared memory"),
    ("copy from nowhere", 1, "mov.b64 %x0, 16;\n!cp.async.ca.shared.global [room], [%x0], 16;", 5000, "load of 16 bytes"),
    ("copy to nowhere", 1, "mov.b32 %r0, 0x10000;\n!cp.async.ca.shared.global [%r0], [%in], 16;", 5000, "store of 16 bytes"),
    ("copy from an odd address", 1, "!cp.async.ca.shared.global [room], [%in+4], 8;", 5001, "no multiple of 8"),
    ("copy to an odd address", 1, "mov.u32 %r0, room;\n!cp.async.ca.shared.global [%r0+8], [%in], 16;", 5001, "no multiple of 16"),
    ("copy by the last lane alone", 32, "mov.b64 %x0, %in;\nsetp.eq.u32 %p1, %t, 31;\n@%p1 mov.b64 %x0, 0;\n!cp.async.ca.shared.global [room], [%x0], 4;", 5000, "lane 31"),
    ("arrival of copies at no object", 1, "!cp.async.mbarrier.arrive.shared.b64 [object];", 5020, "there is none"),
    ("bulk copy of 24 bytes", 1, "mov.b32 %r0, 24;\n!cp.async.bulk.global.shared::cta.bulk_group [%out], [room], %r0;", 5021, "24 bytes are no multiple of 16"),
    ("bulk copy from an odd address", 1, "!cp.async.bulk.global.shared::cta.bulk_group [%out+8], [room], 16;", 5001, "no multiple of 16"),
    ("bulk copy past the end", 1, "mov.b32 %r0, 4096;\n!cp.async.bulk.global.shared::cta.bulk_group [%out], [room], %r0;", 5000, "4096 bytes"),
    ("bulk copy told nobody", 1, "!cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%in], 16, [object];", 5020, "there is none"),
    ("bulk copy to CTAs that are not there", 1, INIT + "mov.b16 %h0, 6;\n!cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
     "[room], [%in], 16, [object], %h0;", 5021, "mask 0x6 names CTAs"),
    ("st.bulk of 12 bytes", 1, "mov.b64 %x0, 12;\n!st.bulk.weak.shared::cta [room], %x0, 0;", 5021, "12 bytes are no multiple of 8"),
    ("st.bulk of global memory", 1, "!st.bulk [%out], 8, 0;", 5021, "not in shared memory"),
    ("st.async on an odd address", 1, INIT + "mov.u32 %r0, room;\n!st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r0+4], {%r1, %r1, %r1, %r1}, [object];",
     5001, "no multiple of 16"),
    # tensor maps
    ("no map", 1, INIT + LOAD % ("in", "0, 0"), 5021, "tensor load: there is no tensor map at"),
    ("bytes that are 0 are no map", 1, INIT + LOAD % ("out", "0, 0"), 5021, "there is no tensor map at"),
    ("a map in shared memory", 1, INIT + "mov.u64 %x0, room;\ncvta.shared.u64 %x0, %x0;\n" + LOAD % ("x0", "0, 0"), 5021, "there is no tensor map at"),
    ("a map at an odd address", 1, INIT + ARRAY + "add.u64 %x0, %out, 8;\n" + LOAD % ("x0", "0, 0"), 5001, "no multiple of 64"),
    ("a field of no map", 1, "!tensormap.replace.tile.rank.global.b1024.b32 [%in], 1;", 5021, "there is no tensor map at"),
    ("a rank of 6", 1, "mov.b32 %r0, 5;\n!tensormap.replace.tile.rank.global.b1024.b32 [%out], %r0;", 5021, "no tensor map can have the value 5 there"),
    ("a map of three dimensions", 1, INIT + ARRAY + MAP % ("rank", 32, "2") + LOAD % ("out", "0, 0"), 5021, "the tensor map has 3 dimensions, not 2"),
    ("a row of 12 bytes", 1, INIT + ARRAY + MAP % ("box_dim", 32, "0, 3") + LOAD % ("out", "0, 0"), 5021, "of the tensor map at .* the bytes of a row of the box are no multiple of 16"),
    ("a first coordinate between", 1, INIT + ARRAY + LOAD % ("out", "1, 0"), 5021, "the first coordinate is no multiple of 16 bytes"),
    ("a store below 0", 1, INIT + ARRAY + STORE % "0, -1", 5021, "tensor store: a coordinate to store at is below 0"),
    ("a box at an odd place", 1, INIT + ARRAY + LOAD.replace("[room]", "[room+16]") % ("out", "0, 0"), 5001, "no multiple of 128"),
    ("an array that ends before its map", 1, INIT + ARRAY + MAP % ("global_dim", 32, "1, 5") + LOAD % ("out", "0, 4"), 5000, "."),
    ("a sum of bytes", 1, INIT + ARRAY + MAP % ("elemtype", 32, "0") + MAP % ("box_dim", 32, "0, 16") +
     "!cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%out, {0, 0}], [room];", 5021, "elements have no such operation"),
    ("four rows of a box that has two", 1, INIT + ARRAY + MAP % ("box_dim", 32, "1, 2") +
     "!cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [room], [%out, {0, 0, 0, 0, 0}], [object];", 5021,
     "of the tensor map at .* the box has more than one row"),
    ("four rows, one to store below 0", 1, ARRAY + "!cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%out, {0, 0, 1, -1, 1}], [room];", 5021,
     "a coordinate to store at is below 0"),
    ("pixels of a box", 1, INIT + ARRAY + "!cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [room], [%out, {0, 0, 0}], [object], {511, 31};", 5021,
     "the tensor map has 2 dimensions, not 3"),
    ("a halo of 512", 1, INIT + "!cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [room], [%in, {0, 0, 0}], [object], {512, 0};", 5021,
     "tensor load: a halo is below 512 pixels"),
    ("a halo of 32 behind each 32", 1, INIT + "!cp.async.bulk.tensor.3d.shared::cta.global.im2col::w::128.mbarrier::complete_tx::bytes [room], [%in, {0, 0, 0}], [object], {32, 0};", 5021,
     "tensor load: a halo is below 512 pixels, or below 32"),
    ("an offset of 32", 1, INIT + "!cp.async.bulk.tensor.3d.shared::cta.global.im2col::w.mbarrier::complete_tx::bytes [room], [%in, {0, 0, 0}], [object], {0, 32};", 5021,
     "an offset along dimension 1 is below 32"),
    ("a swizzle that swaps 8 bytes", 1, INIT + ARRAY + MAP % ("swizzle_mode", 32, "3") + MAP % ("swizzle_atomicity", 32, "2") + LOAD % ("out", "0, 0"), 5021, "of which no text says which"),
    ("a mask of CTAs that there are not", 1, INIT + ARRAY + "mov.b16 %h0, 2;\n" +
     "!cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [room], [%out, {0, 0}], [object], %h0;", 5021, "CTAs that the cluster does not have"),
    # memory of several devices: there is none without a driver
    ("multimem of an allocation", 32, "!multimem.st.global.v4.f32 [%out], {0f00000000, 0f3F800000, 0f40000000, 0f40400000};", 5029, "multimem store at .* which stands for no memory of several devices"),
    ("multimem of nothing", 1, "mov.b64 %x0, 64;\n!multimem.ld_reduce.add.u32 %r0, [%x0+4];", 5029, "multimem load at 0x44"),
    ("multimem of half a vector", 1, "!multimem.red.add.v2.f32 [%out+4], {0f00000000, 0f00000000};", 5001, "multimem reduction of 8 bytes .* no multiple of 8"),
    # what is told when the copy is done, to an object that is no more; the copy is to blame
    ("copy told an object that was ended", 1, INIT + "!cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%in], 16, [object];\n"
     "mbarrier.inval.shared.b64 [object];\nret;", 5020, "completion of the mbarrier.*there is none"),
    # nobody can ever complete the phase
    ("a phase that never ends", 64, INIT + "again: !mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;\n@!%p1 bra again;", 5005, "none of the 64 threads"),
    ("a phase that never ends, behind a sleep", 64, INIT + "again: nanosleep.u32 20;\n!mbarrier.try_wait.parity.shared.b64 %p1, [object], 0, 100000;\n@!%p1 bra again;", 5005,
     "waits for a phase of the mbarrier"),
    ("a barrier that waits for a phase", 64, INIT + "setp.ge.u32 %p1, %t, 32;\n@%p1 bra far;\nagain: !mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;\n@!%p1 bra again;\n"
     "far: bar.sync 0;", 5005, "deadlock"),
]
# what is undefined, counted, and ends a strict launch
NOTES = [("a source that is too large", 32, "mov.b32 %r0, 9;\n!cp.async.ca.shared.global [room], [%in], 8, %r0;\ncp.async.wait_all;", 5120)]
COPY = "@%p0 cp.async.ca.shared.global [room], [%in], 4;\n"
BULK = "@%p0 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [room], [%in], 16, [object];\n"
ANSWER = "ld.shared.u32 %r7, [room];\n@%p0 st.global.u32 [%out], %r7;"
WAIT = "again: mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;\n@!%p1 bra again;\n"
ONE = "@%p0 mbarrier.init.shared.b64 [object], 1;\nbar.sync 0;\n@%p0 mbarrier.arrive.expect_tx.shared.b64 %x0, [object], 16;\n"
# name, threads, text, what is in out[0]: input begins with 1
RUNS = [
    ("a missing wait gives what was there before", 64, COPY + "bar.sync 0;\n" + ANSWER, 0),
    ("a barrier of the CTA is no wait", 64, COPY + "cp.async.commit_group;\nbar.sync 0;\n" + ANSWER, 0),
    ("a wait that leaves the group out", 64, COPY + "cp.async.commit_group;\ncp.async.wait_group 1;\nbar.sync 0;\n" + ANSWER, 0),
    ("what is in no group is not waited for", 64, "cp.async.commit_group;\n" + COPY + "cp.async.wait_group 0;\nbar.sync 0;\n" + ANSWER, 0),
    ("another thread's wait is none", 64, COPY + "@!%p0 cp.async.wait_all;\nbar.sync 0;\n" + ANSWER, 0),
    ("every other lane waits", 64, "mov.u32 %r0, room;\nshl.b32 %r1, %t, 2;\nadd.u32 %r0, %r0, %r1;\ncvt.u64.u32 %x0, %r1;\nadd.u64 %x0, %in, %x0;\n"
     "cp.async.ca.shared.global [%r0], [%x0], 4;\ncp.async.commit_group;\nand.b32 %r2, %t, 1;\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 cp.async.wait_group 0;\nbar.sync 0;\n"
     "ld.shared.u32 %r7, [%r0];\nadd.u32 %r3, %t, 1;\nmul.lo.u32 %r3, %r3, %r2;\nsetp.eq.u32 %p2, %r3, %r7;\n@%p2 red.global.add.u32 [%out], 1;", 64),
    ("the wait", 64, COPY + "cp.async.wait_all;\nbar.sync 0;\n" + ANSWER, 1),
    ("waiting for all takes what is in no group", 64, "cp.async.commit_group;\n" + COPY + "cp.async.wait_all;\nbar.sync 0;\n" + ANSWER, 1),
    ("an ignored source may be anywhere", 1, "mov.b64 %x0, 0;\nsetp.eq.u32 %p1, %r0, %r0;\nst.shared.u32 [room], 7;\ncp.async.ca.shared.global [room], [%x0], 16, %p1;\n"
     "cp.async.ca.shared.global [room+16], [%x0], 16, 0;\ncp.async.wait_all;\nld.shared.u32 %r7, [room];\nadd.u32 %r7, %r7, 5;\nst.global.u32 [%out], %r7;", 5),
    ("a bulk copy that nobody waits for", 64, ONE + BULK + "bar.sync 0;\n" + ANSWER, 0),
    ("a bulk copy", 64, ONE + BULK + WAIT + ANSWER, 1),
    ("a tensor copy that nobody waits for", 1, ONE + ARRAY + LOAD.lstrip("!") % ("out", "0, 0") + "\n" + ANSWER, 0),
    ("a tensor copy", 1, ONE + ARRAY + LOAD.lstrip("!") % ("out", "0, 0") + "\n" + WAIT + ANSWER, 1),
    ("a bulk copy that polls memory", 64, ONE + BULK + "poll: ld.volatile.shared.u32 %r0, [room];\nsetp.ne.u32 %p1, %r0, 1;\n@%p1 bra poll;\n" + ANSWER, 1),
    ("a bulk copy that the exit brings", 64, "@%p0 st.shared.u32 [room], 9;\n@%p0 cp.async.bulk.global.shared::cta.bulk_group [%out], [room], 16;", 9),
    ("the time is up where nobody comes", 64, INIT + "mov.b32 %r7, 3;\n@%p0 mbarrier.try_wait.parity.shared.b64 %p1, [object], 0, 10;\n@!%p0 bra end;\n@!%p1 mov.b32 %r7, 4;\n"
     "st.global.u32 [%out], %r7;\nend: bar.sync 0;", 4),
    ("a wait of a thousand times goes on", 32, INIT + "mov.b32 %r7, 0;\nagain: mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;\nadd.u32 %r7, %r7, 1;\n"
     "setp.lt.u32 %p1, %r7, 1000;\n@%p1 bra again;\n@%p0 st.global.u32 [%out], %r7;", 1000),
    ("a test waits for other warps", 128, INIT + "setp.lt.u32 %p1, %t, 96;\n@%p1 bra ask;\nrem.u32 %r0, %t, 8;\nsetp.eq.u32 %p2, %r0, 0;\n@%p2 mbarrier.arrive.shared.b64 %x0, [object];\n"
     "ask: mbarrier.test_wait.parity.shared.b64 %p1, [object], 0;\n@!%p1 bra ask;\n@%p0 st.global.u32 [%out], 8;", 8),
    ("a wait of half a warp for the other half", 32, INIT + "setp.lt.u32 %p1, %t, 16;\n@%p1 bra ask;\nrem.u32 %r0, %t, 4;\nsetp.eq.u32 %p2, %r0, 0;\n"
     "@%p2 mbarrier.arrive.shared.b64 %x0, [object];\nbra end;\nask: mbarrier.try_wait.parity.shared.b64 %p1, [object], 0;\n@!%p1 bra ask;\n@%p0 st.global.u32 [%out], 6;\n"
     "end: bar.warp.sync 0xffffffff;", 6),
    ("who waits in a function goes on there", 64, INIT + "call wait, (%t);\n@%p0 st.global.u32 [%out], 2;", 2),
]
FUNCTION = """.func wait(.reg .b32 t)
{
    .reg .pred p;
    .reg .b32 r;
    .reg .b64 s;
    .shared .align 8 .b64 inner;
    setp.eq.u32 p, t, 0;
    @p mbarrier.init.shared.b64 [inner], 64;
    bar.sync 0;
    mbarrier.arrive.shared.b64 s, [inner];
again:
    mbarrier.try_wait.shared.b64 p, [inner], s;
    @!p bra again;
    ret;
}
"""


def text_of(body):
    """The kernel, and the number of the line with the !."""
    head = HEAD.replace(".visible .entry", FUNCTION + ".visible .entry") if "call wait" in body else HEAD
    lines = (head + body).split("\n")
    blamed = next((k + 1 for k, line in enumerate(lines) if re.match(r"(\w+: )?(@!?%p\d )?!", line)), None)
    return re.sub(r"^((\w+: )?(@!?%p\d )?)!", r"\1", "\n".join(lines), flags=re.M) + "\nret;\n}\n", blamed


def run(options, body, threads, *more):
    text, blamed = text_of(body)
    done = subprocess.run([options.lanewise, "run", "-q", "-L", "ptx", *more, "-b", str(threads), "-a", "u32[64]=range:1", "-a", "u32[64]:print", "-"], input=text,
                          capture_output=True, text=True, timeout=120)
    return done, blamed


def trap_fault(options, name, threads, body, number, words):
    done, blamed = run(options, body, threads)
    place = re.search(r":(\d+):\d+: error\[LW(\d+)\]: (.*)", done.stderr)
    if done.returncode != 3 or not place:
        return f"{name}: exit code {done.returncode}, no trap: {done.stderr}{done.stdout[:60]}"
    if (int(place[1]), int(place[2])) != (blamed, number) or not re.search(words, done.stderr):
        return f"{name}: line {blamed} and LW{number} /{words}/ expected, but: {done.stderr}"
    return None


def note_fault(options, name, threads, body, number):
    done, _ = run(options, body, threads, "--stats=json")
    strict, blamed = run(options, body, threads, "--strict")
    if done.returncode or f"LW{number}" not in done.stderr or not re.search(rf'"lanes": ?{threads}\b|\b{threads}\b', done.stderr):
        return f"{name}: {threads} of LW{number} expected: {done.stderr}"
    if strict.returncode != 3 or f":{blamed}:" not in strict.stderr or "LW5010" not in strict.stderr:
        return f"{name}: strict: {strict.stderr}"
    return None


def run_fault(options, name, threads, body, value):
    done, _ = run(options, body, threads)
    found = re.search(r"arg 1 \S+: (\d+)", done.stdout)
    if done.returncode or not found or int(found[1]) != value:
        return f"{name}: {value} expected: exit code {done.returncode} {done.stdout[:60]} {done.stderr}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lanewise", type=pathlib.Path, required=True, help="the tool")
    options = parser.parse_args()
    faults = [trap_fault(options, *trap) for trap in TRAPS] + [note_fault(options, *note) for note in NOTES] + [run_fault(options, *case) for case in RUNS]
    for fault in filter(None, faults):
        print(fault)
    print(f"{len(faults)} kernels, {sum(map(bool, faults))} wrong")
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
