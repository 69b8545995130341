// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "berth/papers/loss_prediction.hpp"
#include "berth/papers/paper_policies.hpp"
#include "berth/papers/quality_allocation.hpp"

namespace berth::papers {

/// SLAQ in time: at arrivals, ends and every epoch all GPUs are divided anew by predicted loss,
/// over the configurations of elastic jobs (others have one size). It sees of a job's loss what it
/// has trained so far, one report an iteration, and of its speed what each configuration promises.
/// A job with too few reports has the largest size within an equal share. O(jobs (fit +
/// configurations) log jobs) a decision
class SlaqPolicy final : public policy::Policy {
 public:
  static constexpr policy::Micros kEpoch = 3 * policy::kSecond;  ///< not stated for the paper

  /// @throws InputError naming jobs without loss
  explicit SlaqPolicy(const PaperWorld& world);
  void decide(policy::State& state) override;
  /// What it remembers follows from the work that jobs have done.
  bool save(ByteWriter& /*writer*/) const override { return true; }

 private:
  /// The sizes of a job that is there.
  struct Candidate {
    std::vector<SizeOption> options;            ///< ascending GPUs
    std::vector<std::uint32_t> configurations;  ///< of each option
  };
  void report(const policy::State& state, JobId job);
  [[nodiscard]] double iterations(const policy::State& state, JobId job) const;
  Candidate candidate(const policy::State& state, JobId job, double share);

  const PaperWorld world_;
  std::vector<LossHistory> histories_;  ///< by JobId
};

std::unique_ptr<policy::Policy> make_slaq(const PaperWorld& world);

}  // namespace berth::papers
