#include "mt/harness/interrupt.h"

#include <signal.h>

namespace mt {
namespace {
volatile sig_atomic_t flag = 0;
extern "C" void on_signal(int) { flag = 1; }
}  // namespace

void catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = SIG_IGN;  // a file above the size limit is an error of the write
  action.sa_flags = 0;
  sigaction(SIGXFSZ, &action, nullptr);
}
void interrupt() { flag = 1; }
bool interrupted() { return flag != 0; }
void check_interrupt() {
  if (flag) throw Interrupted{};
}
void clear_interrupt() { flag = 0; }

}  // namespace mt
