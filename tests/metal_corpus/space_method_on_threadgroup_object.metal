// error: cannot initialize object parameter
#include <metal_stdlib>
using namespace metal;

struct Counter {
  float n;
  void add() thread { n += 1; }
};

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  threadgroup Counter c;
  c.add();
  out[i] = c.n;
}
