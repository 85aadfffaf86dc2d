// What people and programs read: tables, the catalogue, the manifest, inspection.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "mt/dsl/dsl.h"
#include "mt/harness/catalogue.h"
#include "mt/harness/fake_backend.h"
#include "mt/harness/inspect.h"
#include "mt/harness/manifest.h"
#include "mt/harness/select.h"
#include "mt/harness/table.h"

namespace mt {
namespace {

template <Storage T>
struct Scale {
  In<T> x{"x", {"rows", "n"}};
  Out<f32> y{"y", {"rows", "n"}};
  Size n{"n"};
  Scalar<f32> factor{"factor", 2};
  Tunable threads{"threads", 64, {32, 64}};
  void plan(const Problem& p, TargetTraits) { threads = p["n"] > 4096 ? 32 : 64; }
  Launch launch(const Problem& p) const { return {.groups = {p["rows"]}, .threads = threads}; }
  void body() const {
    const auto in = x.row(group_id());
    const auto out = y.row(group_id());
    for_row_(n, 4, n.multiple_of(4), [&](U32 i, int lanes) { out.store(i, in.load(i, lanes) * factor); });
  }
  ExpectedOutputs oracle(const Inputs&) const { return {}; }
  Problems tests() const { return {{{"rows", 2}, {"n", 5}}, {{"rows", 1}, {"n", 8}}}; }
  Problems benches() const { return {{{"rows", 16}, {"n", 4096}}}; }
  Work work(const Problem&) const { return {}; }
};

template <class K>
KernelEntry entry_of(DType dtype) {
  return {"scale", dtype, {"/somewhere/kernels/map/scale.cpp", 7}, [] {
            return std::make_unique<detail::Erased<K>>("scale", detail::AsDeclared{});
          }};
}

const std::vector<KernelEntry> entries{entry_of<Scale<f32>>(DType::F32), entry_of<Scale<f16>>(DType::F16)};
const std::vector<const KernelEntry*> all{&entries[0], &entries[1]};

/// A target whose text is the IR.
class TextBackend final : public Backend {
 public:
  std::string_view name() const override { return "text"; }
  std::string_view description() const override { return "IR"; }
  PipelineOptions pipeline() const override { return {}; }
  std::optional<Artefact> artefact(const Kernel& k) const override { return Artefact{"ir", "kernel " + k.name + "\n"}; }
  Result<std::unique_ptr<Device>> open(int) const override { return Error("text only"); }
};

TEST(Report, NumbersReadWell) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(time_text(0.00123), "1.23 ms");
  EXPECT_EQ(time_text(45.6e-6), "45.6 µs");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(4096), "4 KiB");
}

TEST(Report, TablesAlign) {
  Table t({{"name", Table::Align::Left}, {"µs", Table::Align::Right}});
  t.add({"a", "10"});
  t.add({"longer", "5"});
  EXPECT_EQ(t.text(), "name    µs\na       10\nlonger   5\n");
  EXPECT_EQ(t.markdown(), "| name | µs |\n|---|---:|\n| a | 10 |\n| longer | 5 |\n");
}

TEST(Report, TheCatalogueJoinsDtypes) {
  const auto kernels = catalogue(all);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].dtypes, (std::vector<std::string>{"f32", "f16"}));
  EXPECT_EQ(kernels[0].tensors[0].dtype, "T");
  EXPECT_EQ(kernels[0].tensors[1].dtype, "f32") << "not the kernel's own";
  EXPECT_EQ(kernels[0].family, "map");
  EXPECT_EQ(kernels[0].sizes, (std::vector<std::string>{"n", "rows"}));
  const auto j = nlohmann::json::parse(catalogue_json(kernels));
  EXPECT_EQ(j[0]["name"], "scale");
  EXPECT_EQ(j[0]["dtypes"].size(), 2u);
  EXPECT_EQ(j[0]["tests"], 2);
  EXPECT_EQ(j[0]["source"], "kernels/map/scale.cpp:7");
  EXPECT_NE(catalogue_markdown(kernels).find("in T x[rows, n]"), std::string::npos);
  EXPECT_NE(catalogue_text(kernels).find("scale"), std::string::npos);
}

TEST(Report, SelectionNamesTheNearest) {
  EXPECT_EQ(select_kernels(entries, "sca").size(), 2u);
  EXPECT_EQ(select_kernels(entries, "s*e", DType::F16).size(), 1u);
  EXPECT_EQ(select_kernels(entries, "map").size(), 2u) << "no name has it, the folder does";
  EXPECT_EQ(select_kernels(entries, std::vector<std::string>{"sca", "ale"}, {}).size(), 2u) << "each entry once";
  EXPECT_EQ(select_kernels(entries, std::vector<std::string>{}, {}).size(), entries.size());
  EXPECT_THROW(select_kernels(entries, std::vector<std::string>{"scale", "nothing"}, {}), UsageError);
  const auto message = [](std::string_view filter, std::optional<DType> dtype) {
    try {
      select_kernels(entries, filter, dtype);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
    return std::string("found");
  };
  EXPECT_EQ(message("sclae", {}), "no kernel matches 'sclae'; nearest: scale");
  EXPECT_NE(message("zzzzzzzz", {}).find("`tile list`"), std::string::npos);
  EXPECT_NE(message("scale", DType::I8).find("there is f32 and f16"), std::string::npos);
  EXPECT_THROW(dtype_named("f17"), UsageError);
}

TEST(Report, BuildsAreGenericAndAlignedWhereThatDiffers) {
  const TextBackend target;
  const auto built = build_kernel(entries[1], target);
  ASSERT_EQ(built.size(), 2u);
  EXPECT_EQ(built[0].variant, "generic");
  EXPECT_EQ(built[0].file, "text/scale_f16.ir");
  EXPECT_EQ(built[1].file, "text/scale_f16_aligned.ir");
  EXPECT_EQ(built[0].stages[0].kernel.scalars[0].multiple_of, 1);
  EXPECT_GT(built[1].stages[0].kernel.scalars[0].multiple_of, 1);
  const auto j = nlohmann::json::parse(manifest_json(built, "1.2.3"));
  const auto& k = j["kernels"][0];
  EXPECT_EQ(j["kernels"].size(), 1u);
  EXPECT_EQ(k["parameters"][0]["shape"], (nlohmann::json{"rows", "n"}));
  EXPECT_EQ(k["problem"]["n"], 4096);
  EXPECT_EQ(k["planned_for"], nlohmann::json({{"n", 4096}}));
  EXPECT_EQ(k["tunables"]["threads"], 64);
  ASSERT_EQ(k["builds"].size(), 2u);
  EXPECT_EQ(k["builds"][0]["stages"][0]["function"], "scale_f16");
  EXPECT_EQ(k["builds"][0]["stages"][0]["threads"], 64);
  EXPECT_EQ(k["builds"][0]["stages"][0]["groups"][0], 16);
  EXPECT_EQ(k["builds"][0]["hash"].get<std::string>().size(), 32u);
}

TEST(Report, BuildsArePlannedForTheSizesThatAreAskedFor) {
  const TextBackend target;
  const auto kernel = [&](const Problem& changes, const Overrides& overrides) {
    return nlohmann::json::parse(
        manifest_json(build_kernel(entries[0], target, changes, overrides), "1"))["kernels"][0];
  };
  const auto large = kernel({{"n", 8192}}, {});
  EXPECT_EQ(large["planned_for"], nlohmann::json({{"n", 8192}}));
  EXPECT_EQ(large["problem"], nlohmann::json({{"n", 8192}, {"rows", 16}}));
  EXPECT_EQ(large["tunables"]["threads"], 32);
  EXPECT_EQ(large["builds"][0]["stages"][0]["threads"], 32);
  EXPECT_THROW(kernel({{"unknown", 3}}, {}), Error);
  EXPECT_EQ(kernel(Problem{}.with_real("factor", 3), {})["problem"]["factor"], 3);
  EXPECT_EQ(kernel({{"n", 8192}}, {{"threads", 64}})["builds"][0]["stages"][0]["threads"], 64);
}

TEST(Report, InspectionShowsEveryPassThatChanges) {
  const TextBackend target;
  const auto stages = inspect_kernel(entries[0], target, {{"rows", 2}, {"n", 5}}, {});
  ASSERT_EQ(stages.size(), 1u);
  EXPECT_EQ(stages[0].steps.size(), pipeline().size() + 1);
  EXPECT_EQ(artefact_of(stages, target).text, "kernel scale\n");
  const std::string every = ir_text(stages, "all");
  EXPECT_NE(every.find("scale after trace"), std::string::npos);
  for (const Step& s : stages[0].steps)
    EXPECT_EQ(every.find("after " + s.pass + "\n") != std::string::npos,
              std::any_of(stages[0].steps.begin(), stages[0].steps.end(),
                          [&](const Step& other) { return other.pass == s.pass && other.changed; }))
        << s.pass;
  EXPECT_NE(stats_text(stages, target).find("64 threads"), std::string::npos);
  EXPECT_THROW(inspect_kernel(entries[0], target, {{"rows", 2}}, {}), Error);
}

}  // namespace
}  // namespace mt
