// Rows of a table by index: embeddings. An index outside the table gives a row of zeros.
#include "kernels/lib/row.h"
#include "mt/oracle/movement.h"

namespace mt {
namespace {

template <Storage T>
struct Gather {
  In<T> table{"table", {"vocab", "n"}};
  In<u32> indices{"indices", {"rows"}, Fill::index("vocab", 2)};
  Out<T> out{"out", {"rows", "n"}};
  Size n{"n"}, vocab{"vocab"};
  Tunable threads{"threads", 256, {32, 64, 128, 256, 512, 1024}};
  Tunable width{"width", 4, {1, 2, 4, 8}};  // elements a thread takes at a time

  void plan(const Problem& p, TargetTraits traits) {
    threads = row_threads(p["n"], traits);
    width = 16 / size_of(dtype_of<T>);
  }
  Launch launch(const Problem& p) const {
    require(p["vocab"] > 0 || p["rows"] == 0, "the table must have at least one row: vocab > 0");
    return row_launch(p, threads);
  }

  void body() const {
    const U32 index = indices.load(group_id());
    const auto row = table.row(min(index, as_value(vocab) - 1));
    const auto result = out.row(group_id());
    const Bool inside = index < vocab;
    for_row_(n, width, n.multiple_of(width),
             [&](U32 i, int lanes) { result.store(i, select(inside, row.load(i, lanes), 0.f)); });
  }

  ExpectedOutputs oracle(const Inputs& in) const { return {{"out", oracle::gather_rows(in["table"], in["indices"])}}; }
  Problems tests() const {
    return over({{"rows", 5}, {"vocab", 17}}, "n", {1, 31, 32, 33, 100, 1024, 1025}) +
           Problems{{{"rows", 0}, {"vocab", 3}, {"n", 8}}, {{"rows", 70000}, {"vocab", 9}, {"n", 3}}};
  }
  Problems benches() const { return {{{"rows", 4096}, {"vocab", 32000}, {"n", 4096}}}; }
  Work work(const Problem& p) const {
    const double bytes = static_cast<double>(p["rows"] * p["n"]) * size_of(dtype_of<T>);
    return {.read = bytes + 4 * static_cast<double>(p["rows"]), .written = bytes};
  }
  std::vector<std::string> batch() const { return {"rows"}; }
};

const bool registered = kernel<Gather>("ffai_gather", Floats{});

}  // namespace
}  // namespace mt
