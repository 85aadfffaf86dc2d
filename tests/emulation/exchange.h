// Collectives of printed text on the host, from one exchange between the lanes of a simdgroup each.
#pragma once
#include <cstring>

#include "tests/emulation/fibers.h"

struct mt_pointer {
  void* p;
  template <class T>
  operator T*() const {
    return static_cast<T*>(p);
  }
};
struct mt_scalar {
  void* p;
  template <class T>
  operator T() const {
    return *static_cast<T*>(p);
  }
};

inline unsigned mt_lane() { return mt_host_ids()->index % 32; }
template <class T>
struct mt_row {
  T at[32];
};
/// The values of all lanes.
template <class T>
mt_row<T> mt_all(T x) {
  static_assert(sizeof(T) <= 8);
  const unsigned char* slots = mt_host_exchange(&x, sizeof x);
  mt_row<T> row;
  for (int l = 0; l < 32; ++l) std::memcpy(&row.at[l], slots + 8 * l, sizeof x);
  return row;
}
template <class T>
T mt_from(T x, unsigned lane, bool inside = true) {
  const mt_row<T> row = mt_all(x);
  return inside ? row.at[lane % 32] : x;
}
/// Halves first, as the reference does.
template <class T, class F>
T mt_reduce(T x, F f) {
  mt_row<T> row = mt_all(x);
  for (int half = 16; half > 0; half /= 2)
    for (int l = 0; l < half; ++l) row.at[l] = f(row.at[l], row.at[l + half]);
  return row.at[0];
}
template <class T, class F>
T mt_scan(T x, bool exclusive, T identity, F f) {
  const mt_row<T> row = mt_all(x);
  T sum = exclusive ? identity : row.at[0];
  for (unsigned l = 1; l <= mt_lane(); ++l) sum = f(sum, row.at[exclusive ? l - 1 : l]);
  return sum;
}
