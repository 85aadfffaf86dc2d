// Header-free CUDA C++: spellings, kernel heads and prelude.
#pragma once
#include "backends/clike/dialect.h"
#include "backends/clike/helpers.h"

namespace mt::cuda {

class CudaDialect final : public clike::Dialect {
 public:
  clike::LegaliseOptions legalise_options() const override { return {1, 8, 16, true}; }
  const std::set<std::string, std::less<>>& reserved() const override;
  std::string type(Type t) const override;
  std::string_view suffix(DType t) const override;
  std::string function(Op op, Type t) const override;
  std::string bitcast(Type from, Type to, const std::string& x, clike::Needs& needs) const override;
  std::string convert(Type from, Type to, const std::string& x, clike::Needs& needs) const override;
  std::string vector_of(Type t, const std::vector<std::string>& lanes, clike::Needs& needs) const override;
  std::string lane(const std::string& vector, int index) const override;
  std::string vector_access(const Memory& m, Type t, const std::string& address, bool write) const override;
  std::string group_id(int axis) const override;
  std::string thread_id() const override { return "threadIdx.x"; }
  std::string simd_id() const override { return "simd"; }
  std::string lane_id() const override { return "lane"; }
  std::string collective(const Inst& inst, DType t, const std::string& x, const std::string& other,
                         clike::Needs& needs) const override;
  std::string atomic(const Kernel& k, const Inst& inst, const std::string& target, const std::string& value,
                     clike::Needs& needs) const override;
  std::string barrier(bool simd) const override { return simd ? "__syncwarp()" : "__syncthreads()"; }
  std::string mma(const Inst& inst, DType operands, const std::vector<std::string>& in,
                  clike::Needs& needs) const override;
  std::string word(DType t, bool rounds, const std::string& low, const std::string& high,
                   clike::Needs& needs) const override;
  std::string load_matrix(const Inst& inst, const std::vector<std::string>& out, const std::string& from,
                          clike::Needs& needs) const override;
  std::string copy_async(int bytes, const std::string& to, const std::string& from, const std::string& exist,
                         clike::Needs& needs) const override;
  std::vector<std::string> mma_team(const clike::TeamProduct& p, clike::Needs& needs) const override;
  std::vector<std::string> mma_wait(int pending, const std::vector<std::string>& sums,
                                    const std::vector<std::string>& held, clike::Needs& needs) const override;
  std::string copy_group(const Inst& inst, clike::Needs& needs) const override;
  std::string head(const Kernel& k, const std::vector<std::string>& names, const std::vector<Op>& ids,
                   const std::vector<bool>& vector_memories, clike::Needs& needs) const override;
  std::string preamble() const override;
  std::string helper(const clike::Need& need, clike::Needs& needs) const override;
};

/// Bytes of threadgroup memory that the launch must give: 0 where the arrays fit into 48 KiB and are static.
std::int64_t dynamic_shared_bytes(const Kernel& kernel);

}  // namespace mt::cuda
