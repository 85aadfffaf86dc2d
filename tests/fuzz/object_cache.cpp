// A file of any bytes in the cache counts as absent or gives the object that was stored.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "backends/object_cache.h"
#include "mt/base/hash.h"

namespace {
/// Gone at the end.
struct Folder {
  Folder() {
    char name[] = "/tmp/mt_fuzz_XXXXXX";
    if (!mkdtemp(name)) std::abort();
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string path;
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Folder folder;
  static const std::string key = mt::hash_hex("a kernel");
  const mt::ObjectCache cache(folder.path);
  std::ofstream(cache.path(key), std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  if (const auto object = cache.find(key); object && object->size() >= size) std::abort();
  return 0;
}
