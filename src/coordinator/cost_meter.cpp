// SPDX-License-Identifier: Apache-2.0
#include "cost_meter.hpp"

#include <algorithm>

namespace berth::coordinator {

RoundCost CostMeter::read() const {
  struct RankCost {
    std::int64_t bytes;
    double work;
  };
  const comm::Traffic now = comm_.traffic();
  const std::chrono::duration<double> elapsed = Clock::now() - begin_;
  const double work = elapsed.count() - (now.seconds - before_.seconds);
  const auto shares = comm_.all_gather(RankCost{now.bytes - before_.bytes, std::max(0.0, work)});
  RoundCost cost{.messages = now.messages - before_.messages};
  for (std::size_t r = 0; r < shares.size(); ++r) {
    cost.bytes += shares[r].bytes;
    cost.mean += shares[r].work / static_cast<double>(shares.size());
    if (shares[r].work <= cost.slowest) continue;
    cost.slowest = shares[r].work;
    cost.slowest_rank = static_cast<int>(r);
  }
  return cost;
}

}  // namespace berth::coordinator
