#include "mt/faults/faults.h"

#include "mt/faults/rows.h"

namespace mt {

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = [] {
    std::vector<Fault> list;
    for (const auto& group :
         {detail::control_faults(), detail::arithmetic_faults(), detail::parallel_faults(), detail::memory_faults()})
      list.insert(list.end(), group.begin(), group.end());
    return list;
  }();
  return all;
}

const Fault* find_fault(std::string_view name) {
  for (const Fault& f : faults())
    if (f.name == name) return &f;
  return nullptr;
}

int plant(Kernel& kernel, const std::vector<InstId>& insts, const Fault& fault) {
  int planted = 0;
  for (const InstId i : insts)
    if (fault.fits(kernel, kernel.at(i))) {
      fault.plant(Place(kernel, i));
      ++planted;
    }
  if (planted > 0) compact(kernel);
  return planted;
}

}  // namespace mt
