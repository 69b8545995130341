// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "berth/model/instance.hpp"
#include "berth/speed/coded_gang.hpp"
#include "berth/speed/layered_overlap.hpp"
#include "berth/speed/loss_curve.hpp"
#include "berth/speed/model.hpp"
#include "berth/speed/parameter_server.hpp"
#include "berth/speed/ring_contention.hpp"
#include "berth/speed/statistical_efficiency.hpp"
#include "berth/speed/throughput_table.hpp"

namespace berth::speed {

enum class ProfileKind : std::uint8_t {
  none,  ///< `duration` and `speed` of the jobs file
  throughput,
  parameter_server,
  overlap,
  goodput,
  ring,
  coded,
};

/// The profile of one job: which model, and which of its tasks are parameter servers.
struct JobProfile {
  static constexpr std::uint32_t kNoGroup = ~std::uint32_t{0};

  ProfileKind kind = ProfileKind::none;
  std::uint32_t servers = kNoGroup;  ///< index among the job's task groups
  std::int64_t batch = 0;            ///< samples of an iteration; 0: that of the model
};

/// The loss of a job in training. It does not change how fast the job runs.
struct JobLoss {
  LossCurve curve;
  double iterations = 0.0;  ///< of the whole job, > 0; 0: its loss is not known
};

/// Profiles of the jobs of an instance (docs/formats.md). Lists by JobId are empty when no job has
/// such a profile.
struct Profiles {
  std::vector<JobProfile> jobs;
  std::vector<ThroughputTable> tables;
  std::vector<JobThroughput> throughputs;
  std::vector<ParameterServerJob> parameter_servers;
  std::vector<OverlapProfile> overlaps;
  std::vector<ElasticBatchJob> goodputs;
  std::vector<RingJob> rings;
  std::vector<CodedJob> coded;
  std::uint64_t seed = 1;  ///< of drawn rates
  std::vector<JobLoss> losses;
  RingOptions links;

  /// The job's reference rate. @pre it has a profile
  double& reference(JobId job);
  [[nodiscard]] bool has(JobId job) const {
    return !jobs.empty() && jobs[job.index()].kind != ProfileKind::none;
  }
};

/// All models of a set of profiles as one: jobs without profile run as StaticDuration.
class ProfiledSpeeds final : public Model {
 public:
  /// All are referred to. @param interference  loss of jobs that share machines, 0: none
  /// @throws std::invalid_argument as the models
  ProfiledSpeeds(const model::InstanceView& instance, const Profiles& profiles,
                 double interference);

  [[nodiscard]] bool coupled() const override { return top().coupled(); }
  void shared(const RunningJob& job, std::vector<std::uint64_t>& keys) const override {
    top().shared(job, keys);
  }
  void rates(std::span<const RunningJob> running, std::span<Rate> rates) const override {
    top().rates(running, rates);
  }

 private:
  [[nodiscard]] const Model& top() const { return *chain_.back(); }

  std::vector<std::unique_ptr<const Model>> chain_;  ///< each asks the one before it
};

}  // namespace berth::speed
