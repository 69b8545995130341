// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// Training with workers and parameter servers in slots of time, as PD-ORS (Yu, Liu et al., IEEE
/// TNSE 2022) and OASiS (Bao, Peng, Wu and Li, INFOCOM 2018) model it: workers and servers of a job
/// may change in every slot; what counts is the utility of its completion.
namespace berth::papers::pd_ors {

/// Relative slack of counts and amounts that are sums of quotients.
inline constexpr double kRoundingSlack = 1e-9;

/// Workers and servers that a job may have in one slot.
struct Crew {
  std::int32_t workers = 1, servers = 0;

  bool operator==(const Crew&) const = default;
};

/// A training job. Amounts of resources are in any unit, one a resource.
struct TrainingJob {
  std::int32_t arrival = 0;         ///< slot a: the first that it may use
  double samples = 1.0;             ///< E K: sample passes to train, > 0
  std::int32_t max_workers = 1;     ///< F: workers in a slot
  double workers_per_server = 1.0;  ///< gamma, > 0
  /// q(i), q(e): slots that a sample costs a worker, all on one machine or not (speed::
  /// ParameterServerJob::seconds over the slot); 0 < internal <= external.
  double internal_cost = 1.0, external_cost = 1.0;
  std::vector<double> worker, server;   ///< alpha, beta: demand by resource, >= 0
  double c1 = 1.0, c2 = 0.0, c3 = 0.0;  ///< utility of time, speed::sigmoid_of_time
  /// In place of the sigmoid: u by slots after the arrival, never rising; the last one holds on.
  std::vector<double> utilities = {};
  /// The only ones allowed, workers strictly ascending up to F; empty: any workers with
  /// ceil(workers / gamma) servers.
  std::vector<Crew> crews = {};

  /// u(completion - a). @pre completion >= arrival
  [[nodiscard]] double utility(std::int32_t completion) const;
  /// ceil(workers / gamma): integers can keep the ratio no better with fewer. With crews, the
  /// servers of the first one with so many workers.
  [[nodiscard]] std::int32_t servers_for(std::int32_t workers) const;
  /// Fewest workers allowed that train so many samples in one slot; more than F: none do.
  [[nodiscard]] double workers_for(double amount, double cost) const;
  /// Whether so many workers are allowed in a slot.
  [[nodiscard]] bool allows(std::int32_t workers) const;
};

struct SlotInstance {
  std::int32_t slots = 1;              ///< T; slots are 0 .. T - 1
  std::size_t resources = 1;           ///< R
  std::vector<double> capacity = {};   ///< C: by machine, then resource
  std::vector<TrainingJob> jobs = {};  ///< ascending arrival

  [[nodiscard]] std::size_t machines() const { return capacity.size() / resources; }
  [[nodiscard]] double total_capacity() const;
};

struct MachineShare {
  std::uint32_t machine = 0;
  std::int32_t workers = 0, servers = 0;

  bool operator==(const MachineShare&) const = default;
};

/// What a job holds in one slot.
struct SlotShare {
  std::int32_t slot = 0;
  std::vector<MachineShare> machines = {};  ///< ascending, none empty

  [[nodiscard]] std::int32_t workers() const;
  [[nodiscard]] std::int32_t servers() const;
  /// Samples trained: W / q, with q(i) only when one machine holds all.
  [[nodiscard]] double samples(const TrainingJob& job) const;

  bool operator==(const SlotShare&) const = default;
};

/// Slots of one job, ascending; empty: it is not run.
using JobSchedule = std::vector<SlotShare>;

/// Utility of the schedule; 0 when it trains too few samples.
[[nodiscard]] double earned(const TrainingJob& job, const JobSchedule& schedule);

/// The judge: sum of what the jobs earn. Knows nothing of prices or of who made the schedules.
/// @param schedules  by job
/// @throws BrokenContract: a slot before the arrival or out of range, more workers than F, fewer
///         servers than ceil(workers / gamma), a machine beyond its capacity
/// O(T machines R + shares R)
[[nodiscard]] double total_utility(const SlotInstance& instance,
                                   std::span<const JobSchedule> schedules);

/// @throws InputError: a job or cluster out of range, which and what
void check_instance(const SlotInstance& instance);

}  // namespace berth::papers::pd_ors
