// error: not supported
#include <metal_stdlib>
using namespace metal;

vertex float4 corner(uint i [[vertex_id]]) { return float4(float(i)); }
