#!/usr/bin/env python3
"""Drives `tile metal` and the metal-host device as a user would.

Exit code: 0 all expectations hold, 1 some do not. Without clang 19 it expects the sentence that says how to get it.
"""

import argparse
import json
import pathlib
import struct
import sys

import command_line
from command_line import entries, expect, expect_run, tile

SCALE = """#include <metal_stdlib>
using namespace metal;
constant int mode [[function_constant(0)]];
kernel void scale(device const float* x [[buffer(0)]], device float* out [[buffer(1)]],
                  constant float& by [[buffer(2)]], uint i [[thread_position_in_grid]],
                  uint t [[thread_index_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
  threadgroup float tile[64];
  tile[t] = x[i] * by + float(mode);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = tile[n - 1 - t];
}
kernel void racy(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup float tile[64];
  tile[i] = 1;
  tile[i ^ 1] = 2;
  out[i] = tile[i];
}
kernel void forever(device uint* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  while (out[i] == 0) {
  }
}
kernel void apart(device float* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]]) {
  if (lane < 3) out[lane] = simd_sum(1.0f);
  threadgroup_barrier(mem_flags::mem_device);
}
kernel void private_array(device float* out [[buffer(0)]], constant int& first [[buffer(1)]],
                          uint i [[thread_position_in_grid]]) {
  float own[8];
  for (int k = 0; k < 8; ++k) own[first + k] = float(k);
  out[i] = own[i % 8];
}
kernel void dynamic(device uint* out [[buffer(0)]], threadgroup uint* room [[threadgroup(0)]],
                    uint i [[thread_index_in_threadgroup]]) {
  room[i] = i;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = room[i ^ 3];
}
"""
RUN = ["metal", "run", "scale.metal", "--kernel"]
X = ["--buffer", "0=arange:f32:256", "1=zeros:f32:256", "2=f32:0.5", "--constant", "0=1:i32"]


def running(folder):
    pathlib.Path("scale.metal").write_text(SCALE)
    out, _ = expect_run([*RUN, "scale", "--grid", "4", "--tpg", "64", *X, "--out", "1=y.npy"], 0, "256 threads",
                        "buffer 1: f32 [256]: 1 to 128.5")
    expect("a const buffer is not shown", "buffer 0" not in out, out)
    data = pathlib.Path("y.npy").read_bytes()
    y = struct.unpack("<256f", data[-1024:])
    expect("--out holds the result", y[0] == 32.5 and y[255] == 97.0, y[:3])
    expect_run([*RUN, "scale", "--grid", "1", "--tpg", "64", "--buffer", "0=y.npy", "1=zeros:f32:64", "2=f32:1",
                "--constant", "0=0:i32", "--out", "1=z.bin"], 0)
    expect("raw bytes are written", pathlib.Path("z.bin").stat().st_size == 256)
    expect_run([*RUN, "scale", "--grid", "250", "--threads-total", "--tpg", "64", *X, "--check"], 0, "250 threads",
               "accesses checked")
    for schedule in ("reverse", "random:7"):
        expect_run([*RUN, "scale", "--grid", "4", "--tpg", "64", *X, "--schedule", schedule, "--out", "1=w.npy"], 0)
        expect(f"{schedule}: the same result", pathlib.Path("w.npy").read_bytes() == data)
    expect_run([*RUN, "dynamic", "--grid", "1", "--tpg", "64", "--buffer", "0=zeros:u32:64", "--threadgroup", "0=256",
                "--check"], 0, "first 3, 2, 1, 0")
    document = json.loads(expect_run([*RUN, "scale", "--grid", "4", "--tpg", "64", *X, "--json"], 0)[0])
    expect("--json", document["threads"] == 256 and document["buffers"][0]["index"] == 1, document)


PACKED = """#include <metal_stdlib>
using namespace metal;
kernel void packed(device const packed_float3* x [[buffer(0)]], device packed_char3* y [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
  y[i] = packed_char3(char3(float3(x[i]) + 1.0f));
}
"""


def misuse(folder):
    pathlib.Path("scale.metal").write_text(SCALE)
    geometry = ["--grid", "4", "--tpg", "64"]
    short = ["--buffer", "0=arange:f32:200", "1=zeros:f32:256", "2=f32:0.5", "--check", "--out", "1=y.npy"]
    expect_run([*RUN, "scale", *geometry, *short], 1,
               "scale.metal:8: [scale] thread 8 of threadgroup 3 reads 4 bytes at byte 800 of buffer 0 (x), which has "
               "800")
    for first, element in ((1, 8), (-2, -2)):
        expect_run([*RUN, "private_array", "--grid", "1", "--tpg", "4", "--check", "--buffer", "0=zeros:f32:4",
                    f"1=i32:{first}"], 1, f"[private_array] thread 0 of threadgroup 0 takes element {element} of an array "
                   "float[8]")
    expect_run([*RUN, "private_array", "--grid", "1", "--tpg", "4", "--check", "--buffer", "0=zeros:f32:4", "1=i32:0"], 0)
    # Unchecked, the memory beside a buffer traps all the same.
    for index, byte in ((0, 800), (1, 256)):
        size = [256, 256]
        size[index] = byte // 4
        expect_run([*RUN, "scale", *geometry, "--buffer", f"0=zeros:f32:{size[0]}", f"1=zeros:f32:{size[1]}", "2=f32:1"],
                   1, f"touches byte {byte} of buffer {index}", f"which has {byte}", "scale.metal:")
    expect_run([*RUN, "scale", "--grid", "100000", "--tpg", "64", "--buffer", "0=zeros:f32:6400000", "1=zeros:f32:2",
                "2=f32:1"], 1, "of buffer 1 (out), which has 8")
    expect("a run that fails writes nothing", entries(folder) == ["scale.metal"], entries(folder))
    expect_run([*RUN, "racy", "--grid", "1", "--tpg", "64", "--buffer", "0=zeros:f32:64", "--check"], 1,
               "scale.metal:14: [racy] race on byte 4 of threadgroup array tile: thread 1 of threadgroup 0 writes it and "
               "thread 0 wrote it at scale.metal:15 with no barrier for threadgroup memory between")
    expect_run([*RUN, "forever", "--grid", "1", "--tpg", "1", "--buffer", "0=zeros:u32:1", "--budget", "0.2"], 1,
               "[forever] thread 0 of threadgroup 0 has not ended after 0.2 s")
    expect_run([*RUN, "apart", "--grid", "1", "--tpg", "32", "--buffer", "0=zeros:f32:32"], 1,
               "[apart] simd_sum in thread 0 of threadgroup 0 while thread 3 of its simdgroup is at threadgroup_barrier")
    expect_run([*RUN, "scal", *geometry, *X], 1, "no kernel 'scal'", "scale", "racy")
    expect_run([*RUN, "scale", *geometry, "--buffer", "0=arange:f32:256"], 1, "nothing is bound to buffer 1")
    expect_run([*RUN, "scale", *geometry, "--buffer", "0=arange:f16:256", "1=zeros:f32:256", "2=f32:1"], 1,
               "takes f32, not f16")
    # Packed vectors of three have no gap behind them.
    pathlib.Path("packed.metal").write_text(PACKED)
    packed = ["metal", "run", "packed.metal", "--kernel", "packed", "--grid", "1", "--tpg", "2"]
    expect_run([*packed, "--buffer", "0=arange:f32:6", "1=arange:i8:6"], 0, "buffer 1: i8 [6]: 1 to 6")
    expect_run([*packed, "--buffer", "0=arange:f16:6", "1=arange:i8:6"], 1, "takes f32, not f16")
    expect_run([*packed, "--buffer", "0=arange:f32:6", "1=arange:i16:6"], 1, "takes i8, not i16")
    expect_run([*RUN, "scale", "--grid", "1", "--tpg", "1025", *X], 1, "1025 threads")
    expect_run([*RUN, "dynamic", "--grid", "1", "--tpg", "64", "--buffer", "0=zeros:u32:64", "--threadgroup",
                "0=40000"], 1, "32768")
    for wrong, sentence in ((["--grid", "0", "--tpg", "64"], "--grid 0"), (["--grid", "1", "--tpg", "1,2,3,4"], "--tpg"),
                            (["--grid", "1", "--tpg", "1", "--buffer", "zeros:f32:1"], "INDEX=VALUE"),
                            (["--grid", "1", "--tpg", "1", "--buffer", "0=zeros:f32"], "takes a dtype and a shape"),
                            (["--grid", "1", "--tpg", "1", "--schedule", "sideways"], "random:SEED"),
                            (["--grid", "1", "--tpg", "1", "--out", "0=x.npy"], "no --buffer has that index")):
        expect_run([*RUN, "scale", *wrong], 2, sentence)
    expect_run(["metal", "run", "absent.metal", "--kernel", "k", "--grid", "1", "--tpg", "1"], 1, "absent.metal")
    expect_run(["metal"], 2)


def checking(_):
    pathlib.Path("good.metal").write_text(SCALE)
    pathlib.Path("bad.metal").write_text("#include <metal_stdlib>\nusing namespace metal;\n"
                                         "kernel void k(device float* x [[buffer(0)]]) {\n  x[0] = y;\n}\n")
    expect_run(["metal", "check", "good.metal"], 0, "good.metal: good; kernels scale, racy, forever, apart, private_array and dynamic")
    out, err = expect_run(["metal", "check", "bad.metal", "good.metal"], 1, "bad.metal:4: ")
    expect("the other files are checked too", "good.metal: good" in out, out)
    expect("clang's sentence is shown", "undeclared identifier 'y'" in err, err)


def device(kernel):
    expect_run(["device", "--no-measure"], 0, "metal-host", "clang version 19")
    expect_run(["test", kernel, "--device", "metal-host", "--dtype", "f32"], 0, "on metal-host", " 0 failed")
    expect_run(["check", kernel, "--device", "metal-host", "--dtype", "bf16"], 0, "on metal-host", " 0 failed")
    expect_run(["test", kernel, "--device", "metal-host", "--dtype", "f16", "--schedule", "random:3", "--jobs", "1"], 0,
               " 0 failed")
    expect_run(["test", kernel, "--device", "interp", "--schedule", "reverse"], 2, "no switch schedule")
    expect_run(["check", kernel, "--device", "metal-host", "--nan"], 2, "no switch nan_birth")
    expect_run(["check", kernel, "--device", "cpu"], 2, "--device")


def absent(folder):
    """Without clang 19 the target says how to get it, and everything else goes on."""
    pathlib.Path("scale.metal").write_text(SCALE)
    nowhere = {"MT_CLANG": str(folder / "no-clang")}
    for arguments in (["metal", "check", "scale.metal"], ["test", "mt_exp", "--device", "metal-host"]):
        code, out, err = tile(*arguments, env=nowhere)
        expect(f"{arguments[0]} without clang 19", code in (1, 2) and "apt-get install clang-19" in err, f"{code}: {err}")
    expect_run(["device", "--no-measure"], 0, "apt-get install clang-19", env=nowhere)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tile", required=True)
    parser.add_argument("--kernel", default="mt_rms_norm")
    arguments = parser.parse_args()
    command_line.TILE = str(pathlib.Path(arguments.tile).resolve())
    there = "apt-get install clang-19" not in tile("device", "--no-measure")[1]
    steps = [running, misuse, checking, lambda _: device(arguments.kernel)] if there else []
    if not there:
        print("metal host: clang 19 is not here, so no Metal text was run")
    return command_line.in_folders_of_their_own([*steps, absent], "metal host")



if __name__ == "__main__":
    sys.exit(main())
