// error: no 'virtual'
#include <metal_stdlib>
using namespace metal;

struct Shape {
  virtual float area() { return 1; }
};

kernel void k(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  Shape s;
  out[i] = s.area();
}
