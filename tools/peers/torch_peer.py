#!/usr/bin/env python3
"""PyTorch as a peer of `tile bench --peer torch`: the same problems, computed eagerly, through torch.compile, and, for
attention, by the backends of scaled_dot_product_attention. mt/harness/peer.h says what is spoken.

On CUDA a sample is the replay of one graph that holds whole rounds through the sets of tensors, with every output of a
round alive, timed by events. MT_TORCH_WAYS=eager,flash restricts the ways.
"""

import argparse
import json
import math
import os
import sys
import time

import torch
import torch.nn.functional as F

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "u8": torch.uint8, "i8": torch.int8,
          "i16": torch.int16, "i32": torch.int32, "u32": torch.int32, "i64": torch.int64, "u64": torch.int64}

UNARY = {name: getattr(torch, name) for name in
         "abs acos acosh asin asinh atan atanh ceil cos cosh erf erfinv exp exp2 expm1 floor log log10 log1p log2 neg round "
         "rsqrt sigmoid sign sin sinh sqrt square tan trunc relu".split()}
UNARY.update(copy=torch.clone, recip=torch.reciprocal, tanh_op=torch.tanh, silu=F.silu, softplus=F.softplus,
             gelu=lambda a: F.gelu(a, approximate="tanh"))
BINARY = {"sub": torch.sub, "mul": torch.mul, "div": torch.div, "max_elem": torch.maximum, "min_elem": torch.minimum,
          "pow": torch.pow, "atan2": torch.atan2, "logaddexp": torch.logaddexp}
GATED = {"swiglu": lambda gate, up: F.silu(gate) * up,
         "fused_gate_gelu": lambda gate, up: F.gelu(gate, approximate="tanh") * up}
REDUCE = {"": torch.sum, "_max": torch.amax, "_min": torch.amin, "_prod": torch.prod}
SCAN = {"": torch.cumsum, "_prod": torch.cumprod, "_max": lambda x, d: torch.cummax(x, d).values,
        "_min": lambda x, d: torch.cummin(x, d).values}


class Refused(Exception):
    """The peer has no counterpart of this problem."""


def affine(bits):
    def dequantise(w, scales, biases):
        shifts = torch.arange(0, 32, bits, device=w.device, dtype=torch.int32)
        codes = (w[..., None] >> shifts) & ((1 << bits) - 1)
        return codes.reshape(w.shape[0], -1).to(scales.dtype) * scales[:, None] + biases[:, None]
    return dequantise


def plain(kernel, sizes, reals):
    """One function of the tensors that are read, by name."""
    base = kernel.removeprefix("mt_")
    eps = reals.get("eps", 1e-5)
    if kernel == "vector_add":
        return torch.add
    if base in UNARY:
        return UNARY[base]
    if base in BINARY:
        return BINARY[base]
    if base in GATED:
        return GATED[base]
    if base == "select":
        return lambda cond, on_true, on_false: torch.where(cond.bool(), on_true, on_false)
    if base == "cast_to_f32":
        return lambda input: input.float()
    if base == "silu_cast_to_f32":
        return lambda input: F.silu(input.float())
    if base == "softmax":
        return lambda x: F.softmax(x, -1)
    if base == "logsumexp":
        return lambda x: torch.logsumexp(x, -1)
    if base == "rms_norm":
        return lambda x, w: F.rms_norm(x, (x.shape[-1],), w, eps)
    if base == "layer_norm":
        return lambda x, w, b: F.layer_norm(x, (x.shape[-1],), w, b, eps)
    for prefix, table in (("row_reduce", REDUCE), ("scan", SCAN)):
        if base.startswith(prefix) and base.removeprefix(prefix) in table:
            function = table[base.removeprefix(prefix)]
            return lambda x: function(x, -1)
    if base.startswith("all_reduce") and base.removeprefix("all_reduce") in REDUCE:
        function = REDUCE[base.removeprefix("all_reduce")]
        return lambda x: function(x)
    if kernel in ("mt_argmax", "ffai_argmax"):
        return lambda x: torch.argmax(x)
    if kernel == "mt_argmin":
        return lambda x: torch.argmin(x)
    if base == "sort":
        return lambda x: torch.sort(x, -1).values
    if kernel == "ffai_gather":
        return lambda table, indices: F.embedding(indices, table)
    if base == "strided_copy_nd":
        shape = [sizes[f"d{i}"] for i in range(sizes["rank"])]
        strides = [sizes[f"s{i}"] for i in range(sizes["rank"])]
        return lambda src: torch.as_strided(src, shape, strides, sizes.get("offset", 0)).contiguous()
    if base.startswith("affine_dequantize_int") and 32 % int(base[-1]) == 0:
        return affine(int(base[-1]))
    raise Refused(f"no counterpart of {kernel}")


def quantised_product(kernel, sizes, dtype, device):
    """Ways to out[m, n] = x times the transpose of a matrix of 4-bit codes: tinygemm's kernel over the matrix in its own
    order, and dequantisation before a product. Each is (what is made of the tensors once, what is timed)."""
    bits = {"mt_qmv": 4, "mt_qmm_mma_b4": 4}.get(kernel)
    if bits is None:
        raise Refused(f"no counterpart of {kernel}")
    group = sizes["group_size"]

    def pack(w, scales, biases, x):
        codes = (w[..., None] >> torch.arange(0, 32, 4, device=w.device, dtype=torch.int32)) & 15
        codes = codes.reshape(w.shape[0], -1)
        # It counts codes from 8 on, and the first of two is the upper half of a byte.
        packed = torch.ops.aten._convert_weight_to_int4pack((codes[:, ::2] << 4 | codes[:, 1::2]).to(torch.uint8), 8)
        zeros = biases.float() + 8 * scales.float()
        return packed, torch.stack([scales.t(), zeros.to(scales.dtype).t()], -1).contiguous(), x

    def dequantised(w, scales, biases, x):
        weights = affine(4)(w.reshape(-1, group // 8), scales.reshape(-1), biases.reshape(-1))
        return x @ weights.reshape(w.shape[0], -1).t()

    def unchanged(*tensors):
        return tensors
    def whole(w, scales, biases, x):
        return affine(4)(w.reshape(-1, group // 8), scales.reshape(-1), biases.reshape(-1)).reshape(w.shape[0], -1).t().contiguous(), x
    ways = {"dequantised": (unchanged, dequantised), "not quantised": (whole, lambda weights, x: x @ weights), "compiled": (unchanged, torch.compile(dequantised, dynamic=False))}
    if device == "cuda" and dtype == "bf16" and group in (32, 64, 128, 256):
        ways["tinygemm"] = (pack, lambda packed, zeros, x: torch.ops.aten._weight_int4pack_mm(x, packed, group, zeros))
    return ways


def product(kernel, reals):
    turn_a, turn_b = kernel.endswith(("_tn", "_tt")), kernel.endswith(("_nt", "_tt"))
    if kernel.endswith("_addmm"):
        return {"eager": lambda a, b, c: torch.addmm(c, a, b, beta=reals.get("beta", 1), alpha=reals.get("alpha", 1))}
    return {"eager": lambda a, b: torch.matmul(a.t() if turn_a else a, b.t() if turn_b else b)}


def whole_attention(kernel, sizes, reals, device):
    """Ways to attention of a sequence; causal ones line up the last query with the last key."""
    causal, scale = kernel == "mt_sdpa_prefill", reals.get("scale")
    if device == "cpu":
        if causal and sizes["q_len"] != sizes["k_len"]:
            raise Refused("no counterpart of causal attention with fewer queries than keys")
        return {"sdpa": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale,
                                                                       enable_gqa=q.shape[1] != k.shape[1])}
    ways = {"flash": lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, causal, False, scale=scale)[0]}
    if not causal or sizes["q_len"] == sizes["k_len"]:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def cudnn(q, k, v):
            with sdpa_kernel([SDPBackend.CUDNN_ATTENTION]):
                return F.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])
        ways["cudnn"] = cudnn
    return ways


def flash_decode(sizes, reals, device):
    """Ways to attention of the newest tokens where every item has all keys; they give the log of the sums as well."""
    n, scale = sizes["queries"], reals.get("scale")
    groups = sizes["n_q_heads"] // sizes["n_kv_heads"]
    def packed(function):
        def run(q, k, v, lengths):
            rows = q.reshape(q.shape[0], k.shape[1], groups, q.shape[-1])
            out, lse = function(rows, k, v)
            return out.reshape(q.shape), lse.reshape(q.shape[:3])
        return run

    if device == "cpu":
        if n > 1:
            raise Refused("no counterpart of causal attention with fewer queries than keys")

        # Queries of a KV head's heads as rows: much faster than repeating keys for each head.
        return {"packed flash": packed(lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0, False, scale=scale)[:2])}

    def flash(q, k, v, lengths):
        return torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, n > 1, False, scale=scale)[:2]

    def cudnn(q, k, v):
        return torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, False, False, scale=scale)[:2]
    ways = {"flash": flash}
    if n == 1:
        ways["cudnn"] = lambda q, k, v, lengths: cudnn(q, k, v)
        ways["packed flash"] = packed(lambda q, k, v: torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, False, False, scale=scale)[:2])
        ways["packed cudnn"] = packed(cudnn)
    return ways


def attention(kernel, sizes, reals, device):
    """Ways to one query token's attention over the first n_kv positions."""
    if sizes.get("queries", 1) != 1 or sizes.get("has_sink", 0) or sizes.get("sink_end", 0) or sizes.get("window_start", 0):
        raise Refused(f"no counterpart of {kernel} with several queries, sinks or windows")
    n, scale = sizes["n_kv"], reals.get("scale")
    groups = sizes["n_q_heads"] // sizes["n_kv_heads"]

    def grouped(q, k, v):
        return F.scaled_dot_product_attention(q[None], k[None, :, :n], v[None, :, :n], scale=scale, enable_gqa=groups > 1)[0]

    def packed(q, k, v):
        heads, _, dim = q.shape
        rows = q.reshape(1, heads // groups, groups, dim)
        return F.scaled_dot_product_attention(rows, k[None, :, :n], v[None, :, :n], scale=scale).reshape(q.shape)

    if device == "cpu":
        return {"sdpa": grouped}
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def by(backend, function):
        def run(q, k, v):
            with sdpa_kernel([backend]):
                return function(q, k, v)
        return run
    return {"flash": by(SDPBackend.FLASH_ATTENTION, grouped), "cudnn": by(SDPBackend.CUDNN_ATTENTION, grouped),
            "packed flash": by(SDPBackend.FLASH_ATTENTION, packed), "packed efficient": by(SDPBackend.EFFICIENT_ATTENTION, packed),
            "maths": by(SDPBackend.MATH, grouped)}


class Problem:
    def __init__(self, message, device):
        self.device, self.graphs = device, {}
        sizes, reals = message["sizes"], message["reals"]
        once = {}  # what a way makes of the tensors before it is timed
        if message["kernel"].startswith("mt_steel_gemm"):
            self.ways = product(message["kernel"], reals)
        elif message["kernel"] == "mt_gemv":
            self.ways = {"eager": torch.mv}
        elif message["kernel"] in ("mt_sdpa_prefill", "mt_sdpa_full"):
            self.ways = whole_attention(message["kernel"], sizes, reals, device)
        elif message["kernel"] == "mt_flash_decode":
            self.ways = flash_decode(sizes, reals, device)
        elif "sdpa" in message["kernel"]:
            self.ways = attention(message["kernel"], sizes, reals, device)
        elif "qmv" in message["kernel"] or message["kernel"].startswith("mt_qmm"):
            both = quantised_product(message["kernel"], sizes, message["dtype"], device)
            once, self.ways = ({name: pair[i] for name, pair in both.items()} for i in (0, 1))
        else:
            function = plain(message["kernel"], sizes, reals)
            self.ways = {"eager": function, "compiled": torch.compile(function, dynamic=False)}
        wanted = os.environ.get("MT_TORCH_WAYS")
        if wanted:
            self.ways = {name: f for name, f in self.ways.items() if name in wanted.split(",")}
        self.outputs = [t for t in message["tensors"] if t["access"] == "out"]
        first = {t["name"]: self.load(t) for t in message["tensors"] if t["access"] == "in"}
        self.sets = [first] + [{n: t.clone() for n, t in first.items()} for _ in range(message["copies"] - 1)]
        self.errors, self.arguments = {}, {}
        for name in list(self.ways):
            try:
                self.arguments[name] = [once[name](*s.values()) if name in once else tuple(s.values()) for s in self.sets]
                self.call(name, 0)
            except Exception as error:  # a backend that does not take this problem
                self.errors[name] = str(error).strip().splitlines()[0][:200]
                print(name, error, file=sys.stderr)
                del self.ways[name]
        if not self.ways:
            raise Refused("; ".join(f"{n}: {e}" for n, e in self.errors.items()) or "no way is left")

    def load(self, tensor):
        count = math.prod(tensor["shape"])
        with open(tensor["file"], "rb") as file:
            data = bytearray(file.read())
        dtype = DTYPES[tensor["dtype"]]
        if not data:
            return torch.empty(tensor["shape"], dtype=dtype, device=self.device)
        return torch.frombuffer(data, dtype=dtype, count=count).reshape(tensor["shape"]).to(self.device)

    def call(self, way, index):
        # Positional: Python functions of torch differ in the names of their arguments.
        result = self.ways[way](*self.arguments[way][index])
        return result if isinstance(result, tuple) else (result,)

    def run(self, way):
        for tensor, result in zip(self.outputs, self.call(way, 0), strict=True):
            flat = result.detach().to(DTYPES[tensor["dtype"]]).contiguous().cpu().reshape(-1)
            if flat.numel() != math.prod(tensor["shape"]):
                raise Refused(f"output {tensor['name']} has {flat.numel()} elements")
            with open(tensor["file"], "wb") as file:
                file.write(flat.view(torch.uint8).numpy().tobytes())

    def capture(self, way, rounds):
        graph, alive = torch.cuda.CUDAGraph(), []
        with torch.cuda.graph(graph):
            for _ in range(rounds):
                for index in range(len(self.sets)):
                    alive.append(self.call(way, index))
                    if len(alive) > len(self.sets):
                        alive.pop(0)
        return graph

    @staticmethod
    def replay(graph):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3

    def time(self, way):
        copies = len(self.sets)
        if self.device == "cpu":
            self.call(way, 0)
            start, calls = time.perf_counter(), 0
            while calls < copies or time.perf_counter() - start < 0.005:
                self.call(way, calls % copies)
                calls += 1
            return (time.perf_counter() - start) / calls
        if way not in self.graphs:
            for _ in range(3):
                self.call(way, 0)
            torch.cuda.synchronize()
            graph, rounds = self.capture(way, 1), 1
            self.replay(graph)
            one = self.replay(graph) / copies
            wanted = max(20.0, 1e-3 / max(one, 1e-7))
            rounds = min(max(1, math.ceil(wanted / copies)), max(1, 4096 // copies))
            if rounds > 1:
                graph = self.capture(way, rounds)
            self.replay(graph)
            self.graphs[way] = (graph, rounds * copies)
        graph, calls = self.graphs[way]
        self.replay(graph)
        return self.replay(graph) / calls


def answer(message, state, device):
    if message["op"] == "hello":
        where = torch.cuda.get_device_name() if device == "cuda" else "the CPU"
        return {"version": f"torch {torch.__version__} on {where}"}
    if message["op"] == "prepare":
        state.pop("problem", None)
        if device == "cuda":
            torch.cuda.empty_cache()
        torch._dynamo.reset()
        state["problem"] = Problem(message, device)
        return {"ways": list(state["problem"].ways)}
    if message["op"] == "run":
        state["problem"].run(message["way"])
        return {}
    if message["op"] == "time":
        return {"seconds": state["problem"].time(message["way"])}
    raise Refused(f"no operation {message['op']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=["cpu", "cuda"], required=True)
    device = parser.parse_args().device
    if device == "cuda" and not torch.cuda.is_available():
        sys.exit("this PyTorch sees no CUDA device")
    torch.set_grad_enabled(False)
    # Whatever libraries print must not mix with answers.
    replies, sys.stdout = sys.stdout, sys.stderr
    state = {}
    for line in sys.stdin:
        try:
            reply = {"ok": True, **answer(json.loads(line), state, device)}
        except Exception as error:
            reply = {"ok": False, "error": f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]}
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
