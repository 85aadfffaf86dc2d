// Everything a kernel author includes.
#pragma once
#include "mt/dsl/collective.h"
#include "mt/dsl/control.h"
#include "mt/dsl/identity.h"
#include "mt/dsl/map.h"
#include "mt/dsl/memory.h"
#include "mt/dsl/spec.h"
#include "mt/dsl/tile.h"
#include "mt/dsl/value.h"
