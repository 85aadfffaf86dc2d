#include "mt/harness/mutate.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "mt/base/hash.h"
#include "mt/harness/interrupt.h"
#include "mt/harness/jobs.h"
#include "mt/harness/mutation_bench.h"

namespace mt {
namespace {

/// Places of the mutants to run: all, or those whose hash with the seed is lowest.
std::vector<std::size_t> chosen(std::size_t count, const KernelEntry& entry, const MutateOptions& options) {
  std::vector<std::pair<std::uint64_t, std::size_t>> all;
  for (std::size_t n = 0; n < count; ++n) all.push_back({hash64(fmt::format("{} {}", entry.id(), n), options.seed), n});
  const auto most = static_cast<std::size_t>(options.sample);
  if (most > 0 && most < count) {
    std::sort(all.begin(), all.end());
    all.resize(most);
  }
  std::vector<std::size_t> places;
  for (const auto& [hash, n] : all) places.push_back(n);
  std::sort(places.begin(), places.end());
  return places;
}

}  // namespace

std::string_view name_of(Fate fate) {
  switch (fate) {
    case Fate::Killed:
      return "killed";
    case Fate::Survived:
      return "survived";
    case Fate::Equivalent:
      return "equivalent";
    case Fate::Unchanged:
      return "unchanged";
    case Fate::Refused:
      return "refused";
  }
  MT_ICE("fate out of range");
}

std::string Mutant::id() const {
  const std::string which = number > 1 ? fmt::format("#{}", number) : "";
  return fmt::format("{} {} {} {}{}", kernel->id(), to_string(loc), info(op).name, fault->name, which);
}

std::vector<Mutant> mutate(const std::vector<const KernelEntry*>& entries, const MutateOptions& options,
                           const MutateObserver& observer) {
  std::vector<const Fault*> wanted = options.faults;
  if (wanted.empty())
    for (const Fault& f : faults()) wanted.push_back(&f);
  // Every worker takes a share of each kernel's mutants, so that a single kernel keeps all of them busy.
  const auto shares = static_cast<std::size_t>(std::max(1, options.jobs));
  std::vector<std::vector<std::pair<std::size_t, Mutant>>> found(entries.size());
  std::size_t done = 0;
  std::mutex mutex;
  run_jobs(static_cast<int>(shares), entries.size() * shares, [&] {
    return [&, opened = std::make_shared<OpenDevice>(options.open())](std::size_t unit) {
      const std::size_t e = unit / shares, share = unit % shares;
      MutationBench bench(*entries[e], *opened);
      const std::vector<std::size_t> places = chosen(bench.enumerate(wanted), *entries[e], options);
      for (std::size_t i = share; i < places.size(); i += shares) {
        check_interrupt();
        Mutant m = bench.run(places[i]);
        const std::lock_guard lock(mutex);
        if (observer.after) observer.after(m, done / shares, entries.size());
        found[e].push_back({i, std::move(m)});
      }
      const std::lock_guard lock(mutex);
      ++done;
    };
  });
  std::vector<Mutant> all;
  for (auto& list : found) {
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto& [place, m] : list) all.push_back(std::move(m));
  }
  return all;
}

}  // namespace mt
