#include "cli/reference/mlx.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "mt/harness/file.h"
#include "mt/harness/select.h"

namespace mt::reference {
namespace {

namespace fs = std::filesystem;
constexpr const char* kKernels = "mlx/backend/metal/kernels";

std::string version_of(const fs::path& root) {
  std::ifstream file(root / "mlx/version.h");
  std::string parts[3];
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string define, name, value;
    words >> define >> name >> value;
    if (define != "#define") continue;
    if (name == "MLX_VERSION_MAJOR") parts[0] = value;
    if (name == "MLX_VERSION_MINOR") parts[1] = value;
    if (name == "MLX_VERSION_PATCH") parts[2] = value;
  }
  for (const std::string& p : parts)
    if (p.empty()) return "of unknown version";
  return fmt::format("{}.{}.{}", parts[0], parts[1], parts[2]);
}

/// Whether `word` stands in the text as a whole word.
bool has_word(const std::string& text, const std::string& word) {
  const auto part = [&](std::size_t at) {
    return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1))
    if ((at == 0 || !part(at - 1)) && !part(at + word.size())) return true;
  return false;
}

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = [] {
    std::vector<Family> some;
    for (auto* list : {&map_families, &row_families, &order_families, &attention_families, &rotary_families,
                       &quantised_families, &product_families, &gather_families})
      for (Family& f : list()) some.push_back(std::move(f));
    return some;
  }();
  return all;
}

const Family* family_of_kernel(const std::string& name) {
  for (const Family& f : families())
    if (std::find(f.kernels.begin(), f.kernels.end(), name) != f.kernels.end()) return &f;
  return nullptr;
}

MlxTree::MlxTree(const std::string& folder) {
  std::error_code none;
  for (const char* below : {"", "include", "mlx/include"}) {
    const fs::path root = *below ? fs::path(folder) / below : fs::path(folder);
    if (!fs::is_regular_file(root / kKernels / "utils.h", none)) continue;
    root_ = root.lexically_normal().string();
    version_ = version_of(root);
    return;
  }
  const std::string wanted =
      "give MLX's source tree, or the include folder of the PyPI package mlx-metal (its macOS wheel can be unpacked "
      "anywhere)";
  if (!fs::exists(folder, none)) throw UsageError(fmt::format("--mlx {}: no such folder; {}", folder, wanted));
  throw UsageError(fmt::format("--mlx {}: no {}/utils.h in it; {}", folder, kKernels, wanted));
}

std::string MlxTree::lacks(const Launch& launch) const {
  for (const std::string& file : launch.files) {
    std::error_code none;
    const fs::path path = fs::path(root_) / kKernels / file;
    if (fs::is_regular_file(path, none)) continue;
    return fmt::format("MLX {} in {} has no {}{}", version_, root_, file,
                       file.ends_with(".metal") ? "; packages hold headers only, MLX's source tree has it" : "");
  }
  const std::string& last = launch.files.back();
  const std::string text = source(last);
  if (!has_word(text, launch.function))
    return fmt::format("{} of MLX {} has no kernel {}", last, version_, launch.function);
  for (const std::string& word : launch.words)
    if (!has_word(text, word))
      return fmt::format("{} of MLX {} knows of no {}, so {} cannot be asked for it", last, version_, word,
                         launch.function);
  return "";
}

bool MlxTree::has_constant(const Launch& launch, int index) const {
  return source(launch.files.back()).find(fmt::format("function_constant({})", index)) != std::string::npos;
}

std::string MlxTree::source(const std::string& file) const {
  return read_file((fs::path(root_) / kKernels / file).string());
}

std::string MlxTree::text(const Launch& launch) {
  std::string all = "#include <metal_stdlib>\nusing namespace metal;\n";
  for (const std::string& file : launch.files) all += fmt::format("#include \"{}/{}\"\n", kKernels, file);
  if (!launch.arguments.empty())
    all += fmt::format("template [[host_name(\"{0}\")]] [[kernel]] decltype({1}<{2}>) {1}<{2}>;\n", launch.host_name,
                       launch.function, launch.arguments);
  return all;
}

std::string mlx_type(DType t) { return t == DType::F32 ? "float" : t == DType::F16 ? "half" : "bfloat16_t"; }
std::string mlx_name(DType t) { return t == DType::F32 ? "float32" : t == DType::F16 ? "float16" : "bfloat16"; }

std::uint32_t count32(std::int64_t n) {
  if (n < 0 || n > std::int64_t{UINT32_MAX}) throw Error(fmt::format("{} is no number of threads", n));
  return static_cast<std::uint32_t>(n);
}

Extent block_of(const Extent& grid) {
  Extent threads{1, 1, 1};
  std::uint32_t left = 1024;
  for (bool grown = true; grown;) {
    grown = false;
    for (std::size_t k = 0; k < 3; ++k)
      if (left > 1 && threads[k] * 2 <= grid[k]) {
        threads[k] *= 2;
        left /= 2;
        grown = true;
      }
  }
  return threads;
}

Allowance in_storage(DType t) {
  if (t == DType::F32) return {};
  return {.storage_arithmetic = true, .why = "MLX computes in the dtype that it stores"};
}

}  // namespace mt::reference
