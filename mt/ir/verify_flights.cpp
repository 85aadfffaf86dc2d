#include "mt/ir/verify_flights.h"

#include <fmt/format.h>

#include <algorithm>

#include "mt/ir/edit.h"

namespace mt {
namespace {

class Flights {
 public:
  explicit Flights(const Kernel& k) : k_(k), flies_(k.values.size()) {}

  std::vector<std::pair<InstId, std::string>> run() {
    bool any = false;
    walk(k_, RegionId::Root, [&](InstId id) {
      if (k_.at(id).op != Op::MmaTeam) return;
      any = true;
      for (const ValueId v : k_.at(id).out) flies_[index_of(v)] = true;
    });
    if (!any) return {};
    do {
      changed_ = false;
      walk(k_, RegionId::Root, [&](InstId id) { hand_on(k_.at(id)); });
    } while (changed_);
    walk(k_, RegionId::Root, [&](InstId id) { uses(id); });
    return std::move(found_);
  }

 private:
  bool flies(ValueId v) const { return flies_[index_of(v)]; }
  void from_to(const std::vector<ValueId>& from, std::size_t a, const std::vector<ValueId>& to, std::size_t b) {
    for (std::size_t n = 0; a + n < from.size() && b + n < to.size(); ++n)
      if (flies(from[a + n]) && !flies(to[b + n])) flies_[index_of(to[b + n])] = changed_ = true;
  }
  void hand_on(const Inst& i) {
    switch (i.op) {
      case Op::If:
        for (const RegionId r : i.regions) from_to(k_.at(r).yields, 0, i.out, 0);
        return;
      case Op::For: {
        const Region& body = k_.at(i.regions[0]);
        from_to(i.in, 3, body.args, 1);
        from_to(body.yields, 0, body.args, 1);
        return from_to(body.args, 1, i.out, 0);
      }
      case Op::While: {
        const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
        from_to(i.in, 0, test.args, 0);
        from_to(body.yields, 0, test.args, 0);
        from_to(test.yields, 1, body.args, 0);
        return from_to(body.args, 0, i.out, 0);
      }
      default:
        return;
    }
  }
  void uses(InstId id) {
    const Inst& i = k_.at(id);
    if (info(i.op).effect == Effect::Control) return;
    const bool takes = i.op == Op::MmaTeam || i.op == Op::MmaWait;  // its last operands, as many as results
    const std::size_t first = takes ? i.in.size() - std::min(i.in.size(), i.out.size()) : i.in.size();
    if (std::any_of(i.in.begin(), i.in.begin() + static_cast<std::ptrdiff_t>(first),
                    [&](ValueId v) { return flies(v); }))
      found_.emplace_back(
          id, fmt::format("{} uses the sum of a product that may still run; mma_wait gives it", info(i.op).name));
  }

  const Kernel& k_;
  std::vector<bool> flies_;
  bool changed_ = false;
  std::vector<std::pair<InstId, std::string>> found_;
};

}  // namespace

std::vector<std::pair<InstId, std::string>> bad_flights(const Kernel& k) { return Flights(k).run(); }

}  // namespace mt
