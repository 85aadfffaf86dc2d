// Stand-ins for Apple's headers: the declarations that metal-cpp names, so that a compiler elsewhere can read what uses
// it.
#pragma once
#include <math.h>
using CFTimeInterval = double;
