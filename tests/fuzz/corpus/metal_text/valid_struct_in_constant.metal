// valid
#include <metal_stdlib>
using namespace metal;

struct Shape {
  int rows, columns;
  float scale;
  int count() const constant { return rows * columns; }
  int count() const thread { return rows * columns; }
};
constant float kTable[4] = {1, 2, 3, 4};

kernel void k(device float* out [[buffer(0)]], constant Shape& shape [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  Shape local = shape;
  local.scale *= kTable[i & 3];
  if (int(i) < shape.count()) out[i] *= local.scale + float(local.count());
}
