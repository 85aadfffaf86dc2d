// The ways of a peer beside one measured problem: checked against the oracle, then timed in turns.
#pragma once
#include <string>
#include <vector>

#include "mt/harness/bench.h"

namespace mt {

/// The ways of a peer that gave the right outputs, and their samples.
class PeerTrials {
 public:
  /// Nothing where `peer` is null. Whatever goes wrong with it stands in its results.
  PeerTrials(Peer* peer, const KernelEntry& entry, const Call& call, const std::map<std::string, HostTensor>& inputs,
             const ExpectedOutputs& expected, std::size_t copies);
  /// One of each way.
  void sample();
  /// Appends a result for each way, with as many samples as a median needs.
  void finish(std::vector<PeerResult>& results);

 private:
  struct Way {
    std::string name;
    std::vector<double> samples;
    std::string error;
  };
  template <class F>
  void guarded(Way& w, F&& f);
  Peer* peer_;
  std::vector<Way> ways_;
  std::string error_;  // of all ways
};

}  // namespace mt
