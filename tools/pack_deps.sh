#!/usr/bin/env bash
# Copies the libraries that MetalTile builds with from this Debian or Ubuntu machine into one folder, for a machine that
# has neither them nor a package registry (a GPU host, say). Only headers and sources, some 6 MB:
#   tools/pack_deps.sh DIR          here
#   cmake -DMT_DEPS_DIR=DIR ...     there
set -euo pipefail

to=${1:?usage: tools/pack_deps.sh DIR}
include=$(printf '%s\n' /usr/local/include /usr/include | while read -r d; do [[ -e $d/fmt/format.h ]] && echo "$d" && break; done) || true
for needed in "${include:-/usr/include}"/{fmt/format.h,CLI/CLI.hpp,nlohmann/json.hpp,xxhash.h} /usr/src/googletest/CMakeLists.txt; do
  if [[ ! -e $needed ]]; then
    echo "pack_deps: $needed is missing; run tools/setup.sh first" >&2
    exit 1
  fi
done
mkdir -p "$to/include"
for part in fmt CLI nlohmann xxhash.h; do cp -rL "$include/$part" "$to/include/"; done
mkdir -p "$to/googletest"
cp -rL /usr/src/googletest/CMakeLists.txt "$to/googletest/"
cp -rL /usr/src/googletest/googletest "$to/googletest/"
rm -rf "$to/googletest/googletest/test" "$to/googletest/googletest/samples" "$to/googletest/googletest/docs"
echo "pack_deps: $to, $(du -sh "$to" | cut -f1)" >&2
