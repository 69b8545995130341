// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "distributed_judge.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "berth/comm/communicator.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::pipeline {

/// True when there are few enough jobs and machines for searches that look at all of them some
/// hundred times: 100,000, chosen.
bool few_records(const model::InstanceView& instance);
/// The same for bounds of sets of jobs, which fill a cell for each job and GPU: 5,000,000, chosen.
/// With more, single jobs are small.
bool few_cells(const model::InstanceView& instance);

/// Tasks of one size on one GPU type, which have a premium of their own.
struct TaskSize {
  GpuTypeId type;
  std::int64_t gpus = 0;  ///< of a task
  double share = 0.0;     ///< of the cluster's GPUs that tasks of so many GPUs ask for
};

/// Amounts per GPU that are added to a certificate's prices.
struct Premiums {
  std::vector<double> by_type;  ///< to every GPU price of the type
  std::vector<double> by_size;  ///< to tasks, by index of the TaskSize
  std::vector<double> by_gang;  ///< to gangs in a rack, by index of NearPrices::gangs
};

/// How the bound counts the jobs.
enum class JobCount : std::uint8_t {
  each,  ///< every job at its best, as if quotas and the cluster could be divided
  sets,  ///< sets of whole jobs (Certificate::whole_jobs)
};

/// Certificates near another one, and their bounds.
class NearPrices {
 public:
  /// @param certificate  of no prices of jobs
  NearPrices(const model::InstanceView& instance, model::Objective objective,
             model::Certificate certificate);

  /// Types in ascending order, of each the sizes in ascending order.
  [[nodiscard]] const std::vector<TaskSize>& sizes() const { return sizes_; }
  /// Gangs of whole machines to which a rack may matter, at most 16 kinds, those that ask for most.
  /// Without a premium and a price in the certificate they pay the prices of their tasks.
  [[nodiscard]] const std::vector<model::Certificate::GangPrice>& gangs() const { return gangs_; }
  [[nodiscard]] std::size_t gpu_types() const { return instance_->cluster.gpu_types.size(); }
  [[nodiscard]] Premiums none() const {
    return {std::vector<double>(gpu_types(), 0.0), std::vector<double>(sizes_.size(), 0.0),
            std::vector<double>(gangs_.size(), 0.0)};
  }
  /// The certificate with the premiums added; prices of 0 are left out.
  [[nodiscard]] model::Certificate at(const Premiums& premiums, JobCount count) const;
  /// The bound by prices, unrounded and without the minimum with other bounds.
  [[nodiscard]] double bound(const Premiums& premiums, JobCount count) const;
  [[nodiscard]] const DistributedJudge& judge() const { return judge_; }

 private:
  void list_pools();
  void list_sizes();
  void list_shapes();
  void list_gangs();
  void move_gangs(const Premiums& premiums, model::Certificate& moved) const;

  const model::InstanceView* instance_;
  std::vector<JobId> jobs_;
  comm::Communicator alone_;
  DistributedJudge judge_;
  model::Certificate start_;  ///< with all pools and shapes, without whole jobs
  std::vector<TaskSize> sizes_;
  std::vector<std::size_t> size_of_;  ///< by entry of start_.shapes; sizes_.size(): none
  std::vector<model::Certificate::GangPrice> gangs_;  ///< first those of start_, with its prices
};

}  // namespace berth::pipeline
