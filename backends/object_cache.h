// What backends compiled, on disk and by content. Two processes may share it; a damaged or foreign file counts as
// absent.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mt {

class ObjectCache {
 public:
  /// In `folder`, which is made when the first object is stored; the oldest go when it grows beyond `max_bytes`.
  explicit ObjectCache(std::string folder, std::uint64_t max_bytes = 256ull << 20);
  /// In $MT_CACHE_DIR, or $XDG_CACHE_HOME/metaltile, or ~/.cache/metaltile; in each the folder of that backend.
  static std::string standard_folder(std::string_view backend);

  /// The object stored under `key` (hash_hex of what it was made from).
  std::optional<std::string> find(const std::string& key) const;
  /// Stores it whole or not at all. Where that fails (read-only, full) a note goes to stderr once and false comes back.
  bool store(const std::string& key, std::string_view object);
  std::string path(const std::string& key) const { return folder_ + "/" + key + ".o"; }
  const std::string& folder() const { return folder_; }

 private:
  bool give_up(const std::string& what, int error);
  void trim() const;
  std::string folder_;
  std::uint64_t max_bytes_;
  bool noted_ = false;
};

}  // namespace mt
