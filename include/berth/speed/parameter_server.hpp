// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "berth/speed/model.hpp"

namespace berth::speed {

/// A job that trains with workers and parameter servers, as PD-ORS models it (Yu, Liu et al., IEEE
/// TNSE 2022, section 3: the time of a sample).
struct ParameterServerJob {
  double seconds_per_sample = 0.0;  ///< tau: forward and backward pass of a worker
  double gradient_gbit = 0.0;       ///< g: what a worker pushes, and pulls, in an iteration
  double batch = 1.0;               ///< F: samples of an iteration, all workers
  double workers_per_server = 1.0;  ///< gamma
  double internal_gbps = 1.0;       ///< b(i): between a worker and a server of one machine
  double external_gbps = 1.0;       ///< b(e): of different machines
  double reference = 0.0;  ///< samples/s at which the job takes its `duration`; 0: not such a job

  /// Seconds that a sample costs a worker: q(b) = tau + (gamma / F) (2 g / b).
  [[nodiscard]] double seconds(double gbps) const {
    return seconds_per_sample + workers_per_server / batch * 2.0 * gradient_gbit / gbps;
  }
};

/// Whether workers and servers of a job are all on one machine: only then it has its internal
/// bandwidth, as the slowest pair of worker and server decides.
[[nodiscard]] bool on_one_machine(const RunningJob& running);

/// Rates W / q(b) / reference of W workers, wherever servers are in between. The batch of a running
/// job, when given, replaces F. Jobs without reference, and those without servers, have the rate of
/// `others`.
class ParameterServerModel final : public Model {
 public:
  /// `jobs` by JobId; all are referred to.
  /// @throws std::invalid_argument: an amount that is negative, not finite, or 0 where it divides
  ParameterServerModel(std::span<const ParameterServerJob> jobs, const Model& others);

  [[nodiscard]] bool coupled() const override { return others_->coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    others_->shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override;

 private:
  std::span<const ParameterServerJob> jobs_;
  const Model* others_;
};

}  // namespace berth::speed
