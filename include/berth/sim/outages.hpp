// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/io/profiles_file.hpp"
#include "berth/sim/simulate.hpp"

namespace berth::sim {

/// Times between failures and until repair, both exponential, of each machine by itself.
struct FailureRates {
  double mtbf = 0.0;  ///< mean seconds up, > 0
  double mttr = 0.0;  ///< mean seconds down, > 0
  std::uint64_t seed = 1;
  std::int64_t until = 0;  ///< second after which none begins
};

/// Failures by machine, then time, in whole seconds. A function of the rates and the cluster.
std::vector<io::MachineFailure> draw_failures(const model::Cluster& cluster,
                                              const FailureRates& rates);

/// Failures, and the cluster's windows as planned outages.
std::vector<Closing> closings(const model::Cluster& cluster,
                              const std::vector<io::MachineFailure>& failures);

}  // namespace berth::sim
