// Which products of tiles four simdgroups can make together, by an operand that lies in panels.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mt/ir/uniformity.h"
#include "mt/passes/tile_layout.h"

namespace mt {

class TileTeams {
 public:
  TileTeams(const Kernel& k, const TileLowering& options);

  /// The loads of the operands that the product reads in place. The lhs may come in registers.
  struct Loads {
    InstId rhs, lhs = InstId::None;
  };
  /// Nothing where each simdgroup multiplies for itself.
  std::optional<Loads> panels_of(InstId mma) const;
  /// Why not, in words; empty where the target has no teams or the operand does not lie in panels.
  std::string why_not(InstId mma) const;
  /// Whether the load is read in place by every product that takes it, and by nothing else.
  bool in_place(InstId load) const { return in_place_[index_of(load)]; }
  /// Whether the value that `loop` carries in slot `n` only adds up products, which may run on from trip to trip: the
  /// author has written products_wait.
  bool runs_on(InstId loop, std::size_t n) const;
  /// The only use of `v`, or nothing.
  std::optional<InstId> only_use(ValueId v) const;

 private:
  void walk_region(RegionId r, Uniformity control);
  std::string judge(InstId mma) const;
  std::string readable(InstId mma, ValueId operand) const;
  bool lhs_in_place(InstId mma) const;
  bool only_products(InstId load) const;
  bool unchanged_between(InstId load, InstId mma) const;
  std::string place(const Inst& load) const;
  std::optional<std::int64_t> by_simd(ValueId v) const;

  const Kernel& k_;
  const TileLowering options_;
  const std::vector<Uniformity> uniformity_;
  const std::vector<std::uint8_t> zeros_;
  std::vector<int> uses_;             // by value, yields counted
  std::vector<InstId> user_;          // by value: one of them
  std::vector<bool> together_;        // by region: the whole threadgroup gets there
  std::vector<std::string> verdict_;  // by instruction, of products: "-" where they are none of a team's
  std::vector<bool> in_place_;        // by instruction
  std::vector<bool> by_panels_;       // by instruction, of a team's products: the lhs is read in place, too
};

}  // namespace mt
