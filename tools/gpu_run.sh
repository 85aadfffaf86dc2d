#!/usr/bin/env bash
# Builds MetalTile on a machine with an NVIDIA GPU and runs there what must hold on it. Needs a compiler, cmake, ninja,
# python3 and NVRTC; LLVM and a package registry are not needed (MT_DEPS_DIR, see tools/pack_deps.sh).
#   tools/gpu_run.sh OUT [STEP...]      steps: device unit test bench sanitize; all where none is given
# OUT receives device.json, unit.json, test.jsonl, bench.json, sanitize.txt and a log. Every step runs even after one
# failed; the last line is `N steps passed, N failed`.
# BUILD names the build folder, LIMIT the seconds that tests and benches may take each, PARTS the processes that share the tests, BENCH the kernels to measure (globs),
# BENCH_ARGS further arguments of tile bench.
set -uo pipefail
cd "$(dirname "$0")/.."

out=${1:?usage: tools/gpu_run.sh OUT [STEP...]}
shift
steps=("$@")
((${#steps[@]})) || steps=(device unit test bench sanitize)
build=${BUILD:-build/gpu}
cores=$(nproc)
parts=${PARTS:-$cores}
mkdir -p "$out"
export MT_CACHE_DIR=${MT_CACHE_DIR:-$PWD/$build/cache}

# NVRTC where it lies in no usual place: beside nvcc, or in Python's packages.
if [[ -z "${MT_NVRTC:-}" ]] && ! ls /usr/local/cuda/lib64/libnvrtc.so.1[23] >/dev/null 2>&1; then
  nvcc=$(command -v nvcc || true)
  MT_NVRTC=$(find ${nvcc:+"$(dirname "$(readlink -f "$nvcc")")/.."} /usr/local /opt /usr/lib -name 'libnvrtc.so.1[23]' 2>/dev/null | head -n 1)
  [[ -n "$MT_NVRTC" ]] && export MT_NVRTC || unset MT_NVRTC
fi

passed=0 failed=0
step() {
  local name=$1 start=$SECONDS status=0
  shift
  "$@" || status=$?
  if ((status == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
  echo "== $name: $( ((status == 0)) && echo ok || echo "failed ($status)"), $((SECONDS - start)) s"
}

make_tile() {
  cmake -S . -B "$build" -G Ninja ${MT_DEPS_DIR:+-DMT_DEPS_DIR="$MT_DEPS_DIR"} ${CMAKE_ARGS:-} >"$out/build.log" 2>&1 &&
    cmake --build "$build" -j "$cores" --target tile test_cuda >>"$out/build.log" 2>&1 || {
    tail -n 40 "$out/build.log"
    return 1
  }
}

device() {
  "$build/tile" device && "$build/tile" device --json >"$out/device.json"
}

unit() {
  GTEST_OUTPUT=json:$out/unit.json timeout 300 "$build/test_cuda" --gtest_brief=1
}

# The whole registry, shared among processes: compiling takes most of the time and NVRTC works on one text at a time.
registry() {
  local ids=() status=0 n
  for ((n = 1; n <= parts; ++n)); do
    timeout "${LIMIT:-540}" "$build/tile" test --device cuda --part "$n/$parts" --json "$out/test.$n.jsonl" >"$out/test.$n.txt" 2>&1 &
    ids+=($!)
  done
  for n in "${!ids[@]}"; do
    wait "${ids[$n]}" || status=1
    cat "$out/test.$((n + 1)).txt"
  done
  cat "$out"/test.*.jsonl >"$out/test.jsonl"
  rm -f "$out"/test.*.txt "$out"/test.*.jsonl
  python3 - "$out/test.jsonl" <<'PY' || status=1
import json, sys
cases = [json.loads(line) for line in open(sys.argv[1])]
wrong = [c for c in cases if not c["passed"]]
compared = sum(c["compared"] for c in cases)
kernels = {(c["kernel"], c["dtype"]) for c in cases}
print(f"{len(kernels)} kernels with their dtypes, {len(cases)} cases, {len(wrong)} failed, {compared:,} elements compared")
sys.exit(bool(wrong) or not cases)
PY
  return $status
}

bench() {
  # shellcheck disable=SC2086
  timeout "${LIMIT:-580}" "$build/tile" bench ${BENCH:-} --device cuda ${BENCH_ARGS:-} --json "$out/bench.json"
}

# One case of every kernel under memcheck, and under racecheck (threadgroup memory).
sanitize() {
  command -v compute-sanitizer >/dev/null || { echo "sanitize: compute-sanitizer is not here"; return 1; }
  local tools=${SANITIZERS:-memcheck racecheck} status=0
  "$build/tile" list --json | python3 -c 'import json, sys; [print(k["name"], k["dtypes"][0]) for k in json.load(sys.stdin)]' >"$out/kernels.txt"
  one() {
    read -r kernel dtype tool <<<"$1"
    local log
    log=$(timeout 120 compute-sanitizer --tool "$tool" --error-exitcode 9 "$2/tile" test "$kernel" --dtype "$dtype" --device cuda --first 2>&1)
    echo "$tool $kernel/$dtype exit $? $(grep -E 'ERROR SUMMARY|RACECHECK SUMMARY' <<<"$log" | tail -n 1)"
    grep -qE 'SUMMARY: 0 (errors|hazards)' <<<"$log" || echo "$log" | grep -E '=========' | head -n 20 | sed "s|^|  $kernel: |"
  }
  export -f one
  for tool in $tools; do sed "s/\$/ $tool/" "$out/kernels.txt"; done |
    xargs -P "$parts" -d '\n' -I{} bash -c "one '{}' '$build'" >"$out/sanitize.txt" 2>&1 || status=1
  rm -f "$out/kernels.txt"
  grep -vE ' exit 0 .*SUMMARY: 0 (errors|hazards)' "$out/sanitize.txt" | head -n 60
  echo "sanitize: $(grep -cE ' exit 0 .*SUMMARY: 0 (errors|hazards)' "$out/sanitize.txt") of $(grep -cE '^(memcheck|racecheck) ' "$out/sanitize.txt") runs clean"
  ! grep -qvE ' exit 0 .*SUMMARY: 0 (errors|hazards)' "$out/sanitize.txt" && return $status
}

step build make_tile
for name in "${steps[@]}"; do
  case "$name" in
    device | unit | bench | sanitize) step "$name" "$name" ;;
    test) step test registry ;;
    *) echo "gpu_run: no step '$name'" >&2; failed=$((failed + 1)) ;;
  esac
done
echo "$passed steps passed, $failed failed"
((failed == 0))
