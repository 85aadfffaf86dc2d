#include "backends/cuda/roofs.h"

#include "backends/cuda/program.h"
#include "backends/cuda/recording.h"

namespace mt::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr std::size_t kVector = 16;         // bytes of one access
constexpr std::size_t kReadsPerThread = 4;  // in flight at once
constexpr std::size_t kGrain = kThreads * kVector * kReadsPerThread;
constexpr std::size_t kBytes = std::size_t{512} << 20;  // of each of the two blocks
constexpr int kChains = 8, kSteps = 512;                // of fused multiply-adds
constexpr unsigned kGroupsPerProcessor = 8;

constexpr const char* kText = R"(
struct alignas(16) v4 { unsigned x, y, z, w; };
extern "C" __global__ void __launch_bounds__(256) roof_copy(const v4* __restrict__ from, v4* __restrict__ to) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  to[i] = from[i];
}
extern "C" __global__ void __launch_bounds__(256) roof_read(const v4* __restrict__ from, v4* __restrict__ to) {
  const unsigned long long i = blockIdx.x * 1024ull + threadIdx.x;
  const v4 a = from[i], b = from[i + 256], c = from[i + 512], d = from[i + 768];
  const unsigned all = a.x ^ a.y ^ a.z ^ a.w ^ b.x ^ b.y ^ b.z ^ b.w ^ c.x ^ c.y ^ c.z ^ c.w ^ d.x ^ d.y ^ d.z ^ d.w;
  if (all == 0x5eed5eedu) to[threadIdx.x] = a;
}
extern "C" __global__ void __launch_bounds__(256) roof_write(const v4* __restrict__ from, v4* __restrict__ to) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  to[i] = v4{1, 2, 3, 4};
}
extern "C" __global__ void __launch_bounds__(256) roof_arithmetic(const float* __restrict__ from, float* __restrict__ to) {
  float v[8];
  const float x = from[threadIdx.x], y = from[threadIdx.x + 256];
#pragma unroll
  for (int k = 0; k < 8; ++k) v[k] = x + k;
#pragma unroll 16
  for (int n = 0; n < 512; ++n)
#pragma unroll
    for (int k = 0; k < 8; ++k) v[k] = fmaf(v[k], x, y);
  float all = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) all += v[k];
  if (all == 12345.f) to[threadIdx.x] = all;
}
extern "C" __global__ void __launch_bounds__(256) roof_matrix(const float* __restrict__ from, float* __restrict__ to) {
  float v[8][4];
  unsigned a[4], b[2];
#pragma unroll
  for (int k = 0; k < 4; ++k) a[k] = __float_as_uint(from[threadIdx.x + 256 * k]);
#pragma unroll
  for (int k = 0; k < 2; ++k) b[k] = __float_as_uint(from[threadIdx.x + 256 * k + 1024]);
#pragma unroll
  for (int k = 0; k < 8; ++k)
#pragma unroll
    for (int e = 0; e < 4; ++e) v[k][e] = k;
#if __CUDA_ARCH__ >= 800
#pragma unroll 4
  for (int n = 0; n < 512; ++n)
#pragma unroll
    for (int k = 0; k < 8; ++k)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
          : "+f"(v[k][0]), "+f"(v[k][1]), "+f"(v[k][2]), "+f"(v[k][3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  float all = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) all += v[k][0] + v[k][1] + v[k][2] + v[k][3];
  if (all == 12345.f) to[threadIdx.x] = all;
}
extern "C" __global__ void roof_empty(const float*, float*) {}
)";

}  // namespace

std::string roofs_text() { return kText; }

Roofs::Roofs(std::shared_ptr<Context> context, const std::string& arch, int processors)
    : context_(std::move(context)),
      processors_(static_cast<unsigned>(processors)),
      has_matrix_unit_(arch.size() > 4 && std::stoi(arch.substr(3)) >= 80) {
  const Driver& d = context_->use();
  const Machine code = machine_code(kText, "roofs", arch, cubin_cache());
  context_->check(d.module_load(&module_, code.cubin.data()), "loading what measures the device");
  const auto find = [&](Handle& function, const char* name) {
    context_->check(d.module_function(&function, module_, name), "loading what measures the device");
  };
  find(copy_, "roof_copy");
  find(read_, "roof_read");
  find(write_, "roof_write");
  find(arithmetic_, "roof_arithmetic");
  find(matrix_, "roof_matrix");
  find(empty_, "roof_empty");
  std::size_t left = 0, all = 0;
  context_->check(d.memory_info(&left, &all), "asking for free memory");
  bytes_ = std::min(kBytes, left / 4) / kGrain * kGrain;
  from_ = context_->allocate(bytes_);
  to_ = context_->allocate(bytes_);
  // Bits that differ: some memories are faster on zeros.
  context_->check(d.memory_set(from_, 0x5a, bytes_, context_->stream()), "filling memory");
}

Roofs::~Roofs() {
  if (context_->ended()) return;
  if (from_) context_->free(from_, bytes_);
  if (to_) context_->free(to_, bytes_);
  if (module_) context_->use().module_unload(module_);
}

double Roofs::seconds(Handle function, unsigned groups, int launches) {
  void* arguments[] = {&from_, &to_};
  const auto graph = record(context_, [&] {
    for (int n = 0; n < launches; ++n)
      context_->check(
          context_->use().launch(function, groups, 1, 1, kThreads, 1, 1, 0, context_->stream(), arguments, nullptr),
          "measuring the device");
  });
  graph->run();
  return graph->run() / launches;
}

Ceiling Roofs::measure() {
  const auto bytes = static_cast<double>(bytes_);
  const auto vectors = static_cast<unsigned>(bytes_ / (kThreads * kVector));
  const unsigned full = processors_ * kGroupsPerProcessor;
  Ceiling c;
  c.copy = 2 * bytes / seconds(copy_, vectors, 3);
  c.read = bytes / seconds(read_, static_cast<unsigned>(bytes_ / kGrain), 3);
  c.write = bytes / seconds(write_, vectors, 3);
  c.flops = 2.0 * kChains * kSteps * kThreads * full / seconds(arithmetic_, full, 20);
  // A warp's m16n8k16: 16 x 8 x 16 fused multiply-adds.
  if (has_matrix_unit_)
    c.matrix_flops = 2.0 * 16 * 8 * 16 * kChains * kSteps * (kThreads / 32) * full / seconds(matrix_, full, 5);
  c.launch = seconds(empty_, processors_, 100);
  return c;
}

}  // namespace mt::cuda
