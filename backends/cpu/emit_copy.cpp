// Copies to threadgroup memory that may overlap with work elsewhere: here they are done at once.
#include "backends/cpu/emitter.h"

namespace mt::cpu {

/// Where the lanes copy to and from one stretch each and all of it exists it is one copy, else one a lane.
void Emitter::copy_async(const Inst& i) {
  const DType t = kernel_.at(i.memory).dtype;
  const int n = i.index, align = size_of(t);
  const El el = memory_el_of(t);
  const auto stretch = [&](ValueId index) { return follows(shapes_.of(index), n); };
  const std::string done = w_.label("copied");
  if (!mask_ && stretch(i.in[0]) && stretch(i.in[1])) {
    const std::string whole = w_.label("whole"), part = w_.label("part");
    w_.branch(all(w_.cmp("icmp uge", wide(i.in[2]), Writer::integer(El::I32, n, kLanes))), whole, part);
    w_.place(whole);
    const auto first = [&](MemoryId m, ValueId index) {
      const std::int64_t offset = shapes_.offsets(shapes_.of(index).pattern)[0];
      const Ref b = base_index(index);
      return pointer_at(m, offset ? w_.bin("add", b, Writer::integer(El::I64, offset)) : b);
    };
    scope([&] { w_.store(w_.load(el, n * kLanes, first(i.from, i.in[1]), align), first(i.memory, i.in[0]), align); });
    w_.jump(done);
    w_.place(part);
  }
  scope([&] {
    const Ref to = w_.stack(El::Ptr, kLanes), from = w_.stack(El::Ptr, kLanes), exist = w_.stack(El::I32, kLanes);
    w_.set(to, w_.element(address(i.memory), el, wide_index(i.in[0])));
    w_.set(from, w_.element(address(i.from), el, wide_index(i.in[1])));
    w_.set(exist, wide(i.in[2]));
    each_lane([&](const Ref& lane) {
      const Ref target = w_.load(El::Ptr, 1, w_.element(to, El::Ptr, lane), 8);
      const Ref source = w_.load(El::Ptr, 1, w_.element(from, El::Ptr, lane), 8);
      const Ref has = w_.load(El::I32, 1, w_.element(exist, El::I32, lane), 4);
      const std::string whole = w_.label("whole"), part = w_.label("part"), next = w_.label("next");
      w_.branch(w_.cmp("icmp uge", has, Writer::integer(El::I32, n)), whole, part);
      w_.place(whole);
      w_.store(w_.load(el, n, source, align), target, align);
      w_.jump(next);
      w_.place(part);
      w_.store(Writer::zero(el, n), target, align);
      count_up(w_.cast("zext", has, El::I64), 1, [&](const Ref& e) {
        w_.store(w_.load(el, 1, w_.element(source, el, e), align), w_.element(target, el, e), align);
      });
      w_.place(next);
    });
  });
  w_.place(done);
}

}  // namespace mt::cpu
