// What tests of passes share: text in, text out.
#pragma once
#include <gtest/gtest.h>

#include <string>

#include "mt/ir/edit.h"
#include "mt/ir/text.h"
#include "mt/ir/verify.h"
#include "mt/passes/pipeline.h"

namespace mt {

/// A kernel of 64 threads (or `threads`) with inputs x (f32) and i (u32), outputs y (f32) and o (u32), threadgroup
/// memory s (f32) and scalars n (multiple of 4) and m.
inline std::string with_body(const std::string& body, int threads = 64) {
  return "kernel @k threads " + std::to_string(threads) +
         " {\n device in %x: f32 [n]\n device in %i: u32 [n]\n device inout %y: f32 [n]\n device out %o: u32 [n]\n"
         " threadgroup %s: f32 [256]\n scalar %n: u32 multiple 4\n scalar %m: u32\n" +
         body + "\n}\n";
}
inline Kernel parsed(const std::string& text) {
  Result<Kernel> k = parse(text);
  if (!k) ADD_FAILURE() << k.error().what() << "\n" << text;
  return k.take();
}
/// The text without names of values, so that tests name them freely.
inline std::string nameless(Kernel k) {
  for (ValueInfo& v : k.values) v.name.clear();
  return print(k);
}
/// The text after the pass, which must leave a sound kernel and say truly whether it changed anything.
inline std::string after(bool (*pass)(Kernel&, const PipelineOptions&), const std::string& body,
                         const PipelineOptions& options = {}, int threads = 64) {
  Kernel k = parsed(with_body(body, threads));
  const std::string before = nameless(k);
  const bool changed = pass(k, options);
  EXPECT_EQ(verify(k), "") << print(k);
  compact(k);
  std::string text = nameless(k);
  EXPECT_EQ(changed, text != before) << text;
  return text;
}
/// The expected text in the same form.
inline std::string text_of(const std::string& body, int threads = 64) {
  return nameless(parsed(with_body(body, threads)));
}

}  // namespace mt
