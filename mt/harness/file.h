// Files that are there as a whole or not at all.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mt {

/// Writes `text` to `path` through a temporary file in the same folder, which is then renamed. A path that exists and
/// is no regular file (a pipe, /dev/stdout) is written directly, and "-" is the standard output. Throws Error with the
/// system's reason; nothing is left behind then.
void write_file(const std::string& path, std::string_view text);

/// The whole file; Error where it can't be read.
std::string read_file(const std::string& path);

/// Several files that appear together: `add` writes temporary ones, `commit` renames them, the destructor removes
/// what was not committed.
class FileSet {
 public:
  explicit FileSet(std::string folder);
  ~FileSet();
  FileSet(const FileSet&) = delete;
  FileSet& operator=(const FileSet&) = delete;
  /// `name` is relative to the folder and may hold folders of its own; missing ones are made. Throws Error.
  void add(const std::string& name, std::string_view text);
  void commit();

 private:
  std::string folder_;
  std::vector<std::pair<std::string, std::string>> files_;  // temporary, final
  std::vector<std::string> made_;                           // folders that did not exist before
};

}  // namespace mt
