// error: built for nothing
#include <metal_stdlib>
#if __METAL_VERSION__ >= 310
#error built for nothing
#endif
