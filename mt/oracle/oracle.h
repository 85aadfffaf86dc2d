// Everything a kernel's oracle may call: double-precision references that share no code with kernels, DSL or IR.
#pragma once
#include "mt/oracle/attention.h"
#include "mt/oracle/binary.h"
#include "mt/oracle/movement.h"
#include "mt/oracle/norms.h"
#include "mt/oracle/quantise.h"
#include "mt/oracle/reduce.h"
#include "mt/oracle/rope.h"
#include "mt/oracle/softmax.h"
#include "mt/oracle/unary.h"
