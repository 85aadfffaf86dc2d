#include "backends/clike/matrix_words.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "mt/ir/edit.h"

namespace mt::clike {
namespace {

class Finder {
 public:
  explicit Finder(const Kernel& k) : k_(k), words_(k.values.size()) {}

  std::vector<bool> run() {
    do {
      changed_ = false;
      walk(k_, RegionId::Root, [&](InstId i) { inst(k_.at(i)); });
    } while (changed_);
    loads();
    return std::move(words_);
  }

 private:
  void mark(ValueId v) {
    const Type t = k_.type(v);
    if (words_[index_of(v)] || size_of(t.dtype) != 2 || !is_float(t.dtype) || t.lanes < 2) return;
    words_[index_of(v)] = true;
    changed_ = true;
  }
  /// All of a slot, or none.
  void together(const std::vector<ValueId>& slot) {
    if (std::any_of(slot.begin(), slot.end(), [&](ValueId v) { return words_[index_of(v)]; }))
      for (const ValueId v : slot) mark(v);
  }
  void inst(const Inst& i) {
    switch (i.op) {
      case Op::LoadMatrix:
        return mark(i.out[0]);
      case Op::MmaBlock:
        mark(i.in[1]);
        return mark(i.in[2]);
      case Op::MmaTeam:
      case Op::MmaWait:
        for (std::size_t n = 0; n + i.out.size() < i.in.size(); ++n) mark(i.in[n]);
        return;
      case Op::If:
        for (std::size_t n = 0; n < i.out.size(); ++n)
          together({i.out[n], k_.at(i.regions[0]).yields[n], k_.at(i.regions[1]).yields[n]});
        return;
      case Op::For: {
        const Region& body = k_.at(i.regions[0]);
        for (std::size_t n = 0; n < i.out.size(); ++n)
          together({i.out[n], i.in[n + 3], body.args[n + 1], body.yields[n]});
        return;
      }
      case Op::While: {
        const Region &test = k_.at(i.regions[0]), &body = k_.at(i.regions[1]);
        for (std::size_t n = 0; n < i.in.size(); ++n) together({i.in[n], test.args[n], body.yields[n]});
        for (std::size_t n = 0; n < i.out.size(); ++n) together({i.out[n], test.yields[n + 1], body.args[n]});
        return;
      }
      default:
        return;
    }
  }

  /// Loads whose elements all go, in pairs as they stand, into packs of words.
  void loads() {
    const std::vector<int> uses = count_uses(k_);
    std::unordered_map<ValueId, int> paired;
    walk(k_, RegionId::Root, [&](InstId id) {
      const Inst& i = k_.at(id);
      if (i.op != Op::Pack || !words_[index_of(i.out[0])]) return;
      for (std::size_t n = 0; n + 1 < i.in.size(); n += 2) {
        const Inst *a = k_.def(i.in[n]), *b = k_.def(i.in[n + 1]);
        if (!a || !b || a->op != Op::Extract || b->op != Op::Extract || a->in[0] != b->in[0]) continue;
        if (a->index % 2 != 0 || b->index != a->index + 1) continue;
        if (uses[index_of(i.in[n])] == 1 && uses[index_of(i.in[n + 1])] == 1) paired[a->in[0]] += 2;
      }
    });
    for (const auto& [v, count] : paired) {
      const Inst* def = k_.def(v);
      if (def && def->op == Op::Load && count == uses[index_of(v)]) mark(v);
    }
  }

  const Kernel& k_;
  std::vector<bool> words_;
  bool changed_ = false;
};

}  // namespace

std::vector<bool> find_matrix_words(const Kernel& kernel) { return Finder(kernel).run(); }

}  // namespace mt::clike
