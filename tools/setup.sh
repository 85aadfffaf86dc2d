#!/usr/bin/env bash
# Installs what MetalTile builds with, through apt-get, and only what is missing. Works as root or through sudo.
#   tools/setup.sh         what `make`, `make bench` and `make test` need
#   tools/setup.sh --dev   also what contributors and CI need: formatter, linter, a second compiler, and out of MLX's package
#                          metal-cpp in build/metal-cpp, which the metal device is compiled with, and the text of its
#                          kernels in build/mlx-kernels, which a test compares with ours
set -euo pipefail
cd "$(dirname "$0")/.."

required=(g++ cmake ninja-build python3 libfmt-dev libcli11-dev nlohmann-json3-dev libxxhash-dev libgtest-dev)
helpful=(ccache libtbb-dev clang-19) # clang-19: metal-host compiles Metal text with it
llvm=llvm-19-dev
dev=()
for arg in "$@"; do
  case "$arg" in
    --dev) dev=(clang-format-14 clang-tidy-14 clang-14 libclang-rt-14-dev libclang-19-dev libclang-cpp19-dev libc++-19-dev) ;;
    *) echo "setup: unknown argument '$arg'; the only one is --dev" >&2; exit 2 ;;
  esac
done

# Both come in the macOS wheel of mlx-metal, which is unpacked, not installed. Without it tests say that they were skipped.
from_mlx() {
  local cpp=build/metal-cpp kernels=build/mlx-kernels wheel=mlx-metal==0.32.4 scratch
  [[ ! -e $cpp/Metal/Metal.hpp || ! -e $kernels/mlx/include/mlx/backend/metal/kernels/utils.h ]] || return 0
  echo "setup: fetching metal-cpp and MLX's kernels out of $wheel" >&2
  scratch=$(mktemp -d)
  if timeout 300 python3 -m pip --quiet --disable-pip-version-check --retries 2 --timeout 20 download "$wheel" --no-deps \
    --platform macosx_14_0_arm64 --only-binary=:all: --dest "$scratch" </dev/null >&2 &&
    (cd "$scratch" && python3 -m zipfile -e ./*.whl all) && [[ -e $scratch/all/mlx/include/metal_cpp/Metal/Metal.hpp ]]; then
    rm -rf "$cpp" "$kernels"
    mkdir -p "$kernels/mlx/include"
    mv "$scratch/all/mlx/include/metal_cpp" "$cpp"
    mv "$scratch/all/mlx/include/mlx" "$kernels/mlx/include/mlx"
    touch build/packages.stamp
  else
    echo "setup: no $wheel, so the metal device is neither compiled nor tested here, and no kernel is compared with MLX's" >&2
  fi
  rm -rf "$scratch"
}
# A Mac has no apt-get, but it may build the device.
if ((${#dev[@]} > 0)); then
  trap 'from_mlx' EXIT
  python3 -m pip --version >/dev/null 2>&1 || dev+=(python3-pip)
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "setup: no apt-get here, so nothing is installed; MetalTile needs what these Debian packages hold:" >&2
  echo "  ${required[*]} ${helpful[*]} $llvm ${dev[*]}" >&2
  exit 0
fi

present() { [[ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" == installed ]]; }
missing=()
for package in "${required[@]}" "${helpful[@]}" "$llvm" "${dev[@]}"; do
  present "$package" || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  echo "setup: everything is already installed" >&2
  exit 0
fi

root=()
if [[ "$(id -u)" != 0 ]]; then
  if ! command -v sudo >/dev/null; then
    echo "setup: missing ${missing[*]}; run 'apt-get install ${missing[*]}' as root, or install sudo" >&2
    exit 1
  fi
  root=(sudo)
fi
apt() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=120 "$@" </dev/null; }
known() { apt-cache show "$1" >/dev/null 2>&1; }

echo "setup: installing ${missing[*]}" >&2
apt update || echo "setup: apt-get update failed; going on with the package lists that are here" >&2
wanted=()
for package in "${missing[@]}"; do
  if known "$package"; then
    wanted+=("$package")
  elif [[ "$package" == "$llvm" ]]; then
    echo "setup: this system has no $llvm (on Ubuntu enable 'universe', elsewhere see https://apt.llvm.org); without it the cpu" \
      "device cannot compile kernels and only interp and the text targets work" >&2
  elif [[ " ${required[*]} " == *" $package "* ]]; then
    echo "setup: this system has no package $package; install the library from elsewhere, then run make" >&2
    exit 1
  else
    echo "setup: this system has no package $package; going on without it" >&2
  fi
done
if ((${#wanted[@]} > 0)); then
  apt install -y --no-install-recommends "${wanted[@]}" >/dev/null
  mkdir -p build
  touch build/packages.stamp # makes the next build look for libraries again
fi
echo "setup: done" >&2
