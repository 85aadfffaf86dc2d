// Where metal-host stands down no fiber runs, so nothing has to be caught.
#include "backends/metal_host/traps.h"

namespace mt::metal_host {

struct BudgetClock::State {};
BudgetClock::BudgetClock(std::byte*, double) {}
BudgetClock::~BudgetClock() = default;

}  // namespace mt::metal_host
