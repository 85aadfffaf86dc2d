#include "mt/dsl/source_names.h"

#include <gtest/gtest.h>

#include "mt/dsl/dsl.h"

namespace mt {
namespace {

TEST(SourceNames, TheOutermostValueOfADeclarationIsNamed) {
  Signature signature;
  const DeclareScope declare(signature);
  const In<f32> x{"x", {"n"}};
  const Out<f32> y{"y", {"n"}};
  Trace scope(signature, {{"n", 4}}, "k", 32, {});
  const int line = __LINE__ + 1;
  const F32 product = x.load(0) * x.load(1) + 2.f;
  const F32 other = x.load(2);
  y.store(0, product + other);
  static const SourceName names[] = {{"mt/dsl/source_names_test.cpp", line, line, "product"}, {"", 0, 0, ""}};
  EXPECT_TRUE(register_source_names(names));
  const Kernel k = scope.finish();
  int named = 0;
  for (const Inst& i : k.insts)
    if (!i.out.empty() && !k.at(i.out[0]).name.empty()) {
      ++named;
      EXPECT_EQ(k.at(i.out[0]).name, "product");
      EXPECT_EQ(i.op, Op::Add);
      EXPECT_EQ(i.loc.line, line);
    }
  EXPECT_EQ(named, 1);
}

}  // namespace
}  // namespace mt
