// What every case includes; precompiled by run.py. A case is a function of device values that is never called.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "mt/dsl/dsl.h"
