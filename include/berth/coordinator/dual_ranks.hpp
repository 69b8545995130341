// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "berth/comm/communicator.hpp"
#include "berth/solver/dual_part.hpp"

namespace berth::coordinator {

/// The ranks that evaluate the smoothed dual of a plan in time: rank 0 minimises by TAO, jobs are
/// in blocks over all ranks. An evaluation is a broadcast of the prices and a reduction of as many
/// fixed-point sums to rank 0: the same bits on any number of ranks.
///
/// On rank 0 only, from construction to destruction, which ends `serve_dual` on the other ranks.
class RootOfDual final : public solver::DualRanks {
 public:
  explicit RootOfDual(const comm::Communicator& comm) : comm_(comm) {}
  ~RootOfDual() override;
  RootOfDual(const RootOfDual&) = delete;
  RootOfDual& operator=(const RootOfDual&) = delete;

  [[nodiscard]] std::size_t size() const override { return static_cast<std::size_t>(comm_.size()); }
  void share(std::vector<std::string> parts) override;
  void sum(std::span<const double> ends, double temperature,
           const std::function<void(std::span<std::int64_t>)>& own,
           std::span<std::int64_t> sums) override;

 private:
  const comm::Communicator& comm_;
};

/// On every other rank: evaluates this rank's part until rank 0 ends. A rank that fails adds zeros
/// from then on, so that no rank waits for it, and throws at the end.
void serve_dual(const comm::Communicator& comm);

}  // namespace berth::coordinator
