// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/job_facts.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/placement.hpp"
#include "berth/model/plan.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// Kinds of faults in a plan file.
enum class FaultKind : std::uint8_t {
  missing_entry,         ///< the file lacks a digest, figure, list or the certificate
  wrong_objective_kind,  ///< unknown objective
  other_instance,        ///< made for other input: the instance digest differs
  unknown_job,
  repeated_job,   ///< placed twice, unplaced twice, or both
  lost_job,       ///< neither placed nor unplaced nor pinned
  pinned_job,     ///< the plan has a job that no plan moves
  bad_start,      ///< a snapshot plan starts every job at 0
  unknown_shape,  ///< the job has no task group of that label
  wrong_amounts,  ///< a task takes other amounts than its group asks for
  broken_slice,   ///< a share that is not a whole number of the GPU's slices
  split_gang,     ///< a group has more or fewer tasks than it asks for
  unknown_machine,
  machine_not_up,  ///< drained or reserved
  wrong_type,      ///< a GPU type that the job does not allow
  mixed_types,     ///< one job on two GPU types
  device_out_of_range,
  repeated_device,  ///< one task names a device twice
  device_oversubscribed,
  machine_oversubscribed,  ///< more of a resource than the machine has
  domain_violated,         ///< wider than the job's domain
  too_many_together,       ///< more tasks in one domain than the job's max_tasks_per
  too_few_domains,         ///< fewer than the job's min_domains
  kept_apart,              ///< jobs on one machine against exclusive or not_with
  quota_exceeded,          ///< of a queue that has no over_quota_penalty
  limit_exceeded,          ///< of a rack or a pod: jobs use more than there is
  wrong_required_missing,
  negative_price,
  bad_certificate,  ///< unknown or repeated place, shape or class; level, scale, overflow
  incomplete_tree,  ///< the children of a node do not cover all placements of its job
  wrong_objective,
  bound_too_low,  ///< less than the prices prove
  wrong_bound,    ///< more than the prices prove, or not a number
  wrong_gap,
  wrong_gap_parts,
  wrong_class,  ///< classes by priority: other priorities, jobs, values, or weights without a proof
  wrong_count,  ///< GPUs, thousandths or jobs do not add up
  wrong_plan_digest,
  wrong_proof_digest,
};

/// The enumerator's name, for users and scripts: "device_oversubscribed".
std::string_view name(FaultKind kind);

struct Fault {
  FaultKind kind;
  std::string text;  ///< names the job, machine, device and the values
};

/// Result of judging a plan.
struct CheckResult {
  static constexpr std::size_t kMostFaults =
      20;  ///< faults listed, all are counted; chosen, not tuned

  std::vector<Fault> faults;  ///< the first kMostFaults
  std::int64_t fault_count = 0;
  /// Recomputed. The bound and gap are 0 when the certificate is unusable; all figures leave out
  /// entries that could not be resolved.
  model::Figures figures;
  model::GapParts gap_parts;  ///< of the recomputed bound and objective, if both exist
  model::Objective objective_kind = model::Objective::value;
  std::vector<JobId> required_missing;  ///< ascending, recomputed
  /// Of a plan by priority, recomputed, without weights and prices; bounds as in `figures`.
  std::vector<model::PriorityClass> classes;

  [[nodiscard]] bool valid() const { return fault_count == 0; }
};

/// Judges a plan file against the input alone: every device, CPU, memory, gang, type, domain and
/// machine state; every job once, pinned ones not at all; objective, bound (from the prices), gap,
/// counts and digests. Compares figures with the recomputed ones within one part in 10^12, and only
/// when every job could be placed as stated. Shares no code with the planner. O(input + plan log
/// plan + upper_bound); never throws on the content of the plan.
CheckResult check(const model::InstanceView& instance, const model::RawPlan& plan);

/// Judges a plan piece by piece, on an instance that never has the records of all jobs at once;
/// `check` uses it. Order of calls: `add_records` (pieces of placed jobs may come between, after
/// the records of their jobs), `end_records`, unplaced jobs, `prices`, the classes if any,
/// `checked`. Memory: names of jobs and machines and the load of each device; nothing per
/// placement.
class PlanCheck {
 public:
  enum class Order : std::uint8_t {
    any,      ///< lines of all placed jobs are kept for the plan digest, about 60 bytes a device
    by_name,  ///< placed jobs come in ascending order of their names
  };

  /// @param instance  has all names and the pinned jobs; outlives this, as does `head`
  /// @param head      the plan; its lists of jobs are not read
  PlanCheck(const model::InstanceView& instance, const model::RawPlan& head, Order order);
  ~PlanCheck();

  [[nodiscard]] model::Objective objective() const;

  /// Announces that the instance now has the records of these jobs. Over all calls: every job once,
  /// ascending.
  void add_records(std::span<const JobId> jobs);
  /// Adds placed jobs; returns those that were resolved in full. @pre the instance has the jobs'
  /// records
  model::Placement add(std::span<const model::RawPlacement> placed);
  void end_records();
  void add(std::span<const model::RawUnplacedJob> waiting);

  /// The certificate with its names looked up; call after all jobs. Empty, with a fault, when it is
  /// unusable. @param facts  of all planned jobs
  const std::optional<model::Certificate>& prices(const JobFacts& facts);
  /// True when every job is placed or unplaced validly; faults can then be in the figures only.
  [[nodiscard]] bool feasible() const;
  /// Required jobs that are placed, ascending.
  [[nodiscard]] std::vector<JobId> required_placed() const;
  /// Sums over all placed jobs.
  [[nodiscard]] const PlacementSums& placed() const;

  /// Of a plan by priority with usable weights: the distinct priorities of all jobs, descending,
  /// and for the proof of each class the weights of all. Empty otherwise.
  [[nodiscard]] std::vector<std::int32_t> priorities() const;
  [[nodiscard]] const std::vector<std::vector<model::PriorityWeight>>& class_weights() const;
  /// The certificate of class k, as `prices`.
  /// @param weighted  the instance at the weights of this class
  /// @param facts     of jobs_of_class there
  std::optional<model::Certificate> class_prices(std::size_t k, const model::InstanceView& weighted,
                                                 const JobFacts& facts);
  /// @param bound  that the prices of class k prove for jobs_of_class at its weights
  void add_class(std::size_t k, model::Certificate prices, const Bound& bound);

  /// @param bound  the bound that the prices prove for all jobs; empty without usable prices
  CheckResult checked(const std::optional<Bound>& bound);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace berth::certify
