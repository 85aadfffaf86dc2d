// A Metal of the tests' own behind the stand-in for Objective-C's runtime. It runs the text on the host's cores where
// something here can, and insists on what Metal's own validation insists on.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace mt::objc {

/// What the machine is like and what happens next; tests change it.
struct Machine {
  bool has_gpu = true;
  long system = 15;  // of macOS
  std::uint64_t simd_width = 32, max_threads = 1024;
  bool pipeline_fails = false;
  int buffers_left = 1 << 30;
  // The next command buffer that is waited for fails with these.
  long error_code = 0;
  std::string error_message;
  long encoder_state = 0;
  std::vector<std::string> logs;
  // What was asked.
  int command_buffers = 0, dispatches = 0;
  std::vector<std::string> options, signposts;
};
Machine& machine();

}  // namespace mt::objc
