// One instruction of a kernel that a fault changes.
#pragma once
#include <cstddef>

#include "mt/ir/edit.h"

namespace mt {

class Place {
 public:
  Place(Kernel& k, InstId i) : kernel(k), id(i) {}
  Kernel& kernel;
  const InstId id;

  /// Valid until something is emitted.
  Inst& inst() const { return kernel.at(id); }
  Op op() const { return inst().op; }
  ValueId in(std::size_t n) const { return inst().in[n]; }
  Type type() const { return kernel.type(inst().out[0]); }

  /// Emits just before the instruction.
  Builder before() const;
  /// Emits a copy of the instruction before it: its value, while the instruction itself becomes another.
  ValueId copy() const;
  /// Another instruction in its place; what used its result uses the new one's.
  void become(Inst other) const;
  /// What used its result uses `v`, and the instruction is gone.
  void forward(ValueId v) const;
  void erase() const;
  void set_operand(std::size_t n, ValueId v) const { inst().in[n] = v; }

  /// Constant of the type of `v`.
  ValueId like(ValueId v, double value) const;
};

}  // namespace mt
