// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/objective.hpp"
#include "berth/model/placement.hpp"

namespace berth::explain {

/// What would have to be different for a waiting job to be in the plan beside the others.
enum class ChangeKind : std::uint8_t {
  none,      ///< nothing: it fits as it is, the plan has a defect
  eviction,  ///< jobs of the plan that move or stop, and the value from which that pays
  domain,    ///< a wider domain
  gpu_type,  ///< GPU types that the job does not list
  count,     ///< fewer tasks
  quota,     ///< a larger quota
  license,   ///< more licenses of one name
};

/// One change, and the plan that it allows: `placement` and `moved` stand beside all jobs of the
/// plan but `stopped` and those that moved.
struct Change {
  ChangeKind kind = ChangeKind::none;
  model::JobPlacement placement = {};           ///< of the job
  model::Placement moved = {};                  ///< jobs of the plan at their new places
  std::vector<JobId> stopped = {};              ///< jobs of the plan that wait instead
  double loss = 0.0;                            ///< of value, by what moves and stops
  model::Level domain = model::Level::cluster;  ///< domain: the narrowest that suffices
  std::uint64_t gpu_types = 0;                  ///< gpu_type: those that suffice, one bit
  std::int32_t count = 0;                       ///< count: most tasks that fit
  QueueId queue = {};                           ///< quota: the one that is too small
  std::int64_t quota = 0;                       ///< quota: GPUs that suffice
  std::uint32_t license = 0;                    ///< license: row of Cluster::licenses
  std::int64_t licenses = 0;                    ///< license: number that suffices, in all
};

/// The cheapest machines of one GPU type at the prices of the certificate.
struct PricedPlace {
  GpuTypeId gpu_type;     ///< invalid: machines without GPUs
  std::string place;      ///< rack or pod, and class of machines
  double value = 0.0;     ///< largest that the job has on the type
  double cost = 0.0;      ///< of all its tasks, and of its queues
  std::int64_t room = 0;  ///< most tasks of its largest group in the free room of one domain
};

struct Explanation {
  JobId job;
  std::vector<PricedPlace> places;  ///< by value less cost, the best first
  std::vector<Change> changes;      ///< of a waiting job; the least change first
};

/// A plan about which questions are asked; adds variants of jobs to its instance meanwhile. O(jobs
/// log jobs) once.
class Explainer {
 public:
  /// @param certificate  its prices; null: none
  Explainer(model::Instance instance, model::Objective objective, model::Placement placement,
            const model::Certificate* certificate);
  ~Explainer();

  /// @pre the job is not pinned. Changes only of a job that is not placed.
  /// O(machines x jobs per machine) a GPU type and level, times log(tasks).
  Explanation explain(JobId job);

  /// As given.
  [[nodiscard]] const model::Instance& instance() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The explanation in words, several lines of at most 80 columns.
std::string text(const model::InstanceView& instance, const Explanation& explanation);

/// What the job needs, one line: "  needs 2 x 'worker' of 4 GPUs, within one rack".
std::string needs_text(const model::InstanceView& instance, JobId job);

/// The change in words, one line: "stop b (24): pays when this job is worth more than 24".
std::string text(const model::InstanceView& instance, JobId job, const Change& change);

}  // namespace berth::explain
