// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/sim/share_policy.hpp"

namespace berth::sim {

/// The policy of make_share_policy.
class ShareRounds final : public policy::Policy {
 public:
  explicit ShareRounds(const SharePolicyOptions& options) : options_(options) {}
  void decide(policy::State& state) override;
  [[nodiscard]] bool starts_all_that_fit() const override { return true; }
  bool save(ByteWriter& writer) const override {
    writer(types_, last_, round_, changed_, present_, share_, owed_, received_);
    return true;
  }
  void restore(ByteReader& reader) override {
    reader(types_, last_, round_, changed_, present_, share_, owed_, received_);
  }

 private:
  /// A job that may have GPUs of a type in this round. The least is served first.
  struct Claim {
    std::int64_t served;  ///< thousandths: time received / time owed
    policy::Micros arrival;
    JobId job;
    std::int64_t preference;  ///< - millionths of the share
    GpuTypeId type;
    auto operator<=>(const Claim&) const = default;
  };

  [[nodiscard]] std::size_t at(JobId job, GpuTypeId type) const {
    return job.index() * types_ + type.index();
  }
  void account(const policy::State& state);
  void note_changes(const policy::State& state);
  void count_room(const policy::State& state);
  void choose_shares(const policy::State& state);
  void choose_shares_of(const policy::State& state, const std::vector<JobId>& jobs);
  [[nodiscard]] std::vector<std::int64_t> open_gpus(const policy::State& state) const;
  [[nodiscard]] std::vector<double> rates_of(const policy::State& state, JobId job,
                                             const std::vector<std::int64_t>& open) const;
  void make_claims(const policy::State& state);
  void give_out(const policy::State& state);
  void serve_round(policy::State& state);
  void fill_idle(policy::State& state);

  SharePolicyOptions options_;
  std::size_t types_ = 0;
  policy::Micros last_ = 0;               ///< until when time is counted
  policy::Micros round_ = 0;              ///< the next one, or in the past
  bool changed_ = false;                  ///< jobs or machines, since the shares were chosen
  std::vector<JobId> present_;            ///< in order of arrival, some ended
  std::vector<double> share_;             ///< by [job x types + type]: part of the time
  std::vector<double> owed_;              ///< the same: integral of the share, microseconds
  std::vector<policy::Micros> received_;  ///< the same
  std::vector<std::int64_t> room_;  ///< by type: thousandths free, or that this round may free
  std::vector<Claim> claims_;
  std::vector<Claim> given_;         ///< claims that have GPUs in this round
  std::vector<std::uint8_t> keeps_;  ///< by job: runs on in this round
};

}  // namespace berth::sim
