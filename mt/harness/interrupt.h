// Ctrl-C: long work looks at a flag between its steps, so that files stay whole.
#pragma once

namespace mt {

/// Thrown by `check_interrupt`.
struct Interrupted {};

/// From now on SIGINT and SIGTERM only set the flag; a second one ends the process at once.
void catch_interrupts();
/// Sets the flag, as the signal does.
void interrupt();
bool interrupted();
/// Throws Interrupted where the flag is set.
void check_interrupt();
/// Takes the flag back.
void clear_interrupt();

}  // namespace mt
