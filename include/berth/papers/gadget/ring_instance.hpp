// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// GADGET (Yu, Ji, Rajan and Liu, INFOCOM 2022): training in rings of workers on a cluster whose
/// links have limits, in slots, for the utility of the work that jobs accumulate.
namespace berth::papers::gadget {

/// Servers in racks below one core. Paths are unique, so that a ring on more than one server loads
/// the link of each of its servers once in each direction, and those of its racks where it has more
/// than one of them. Bandwidths in Gbit/s, the same in both directions.
struct RingCluster {
  std::vector<std::int32_t> gpus;   ///< by server
  std::vector<double> server_link;  ///< by server
  std::vector<std::size_t> rack;    ///< by server
  std::vector<double> rack_link;    ///< by rack

  [[nodiscard]] std::size_t servers() const { return gpus.size(); }
  [[nodiscard]] std::int64_t total_gpus() const;
};

enum class WorkUtility : std::uint8_t {
  sigmoid,      ///< c1 / (1 + exp(-c2 (work - c3))): of the paper's experiments; not concave
  square_root,  ///< c1 sqrt(work): concave, as the paper's theory asks for
};

/// What the budget of a job counts.
enum class BudgetReading : std::uint8_t {
  iterations,    ///< efficiency x worker-slots <= budget: units agree
  worker_slots,  ///< worker-slots <= budget: as printed, though the budget is called iterations
};

/// Whole worker-slots of a budget. @throws InputError: efficiency 0 or less, budget below 0
[[nodiscard]] std::int64_t worker_slots_of(double budget, double efficiency, BudgetReading reading);

struct RingJob {
  std::int32_t arrival = 0;  ///< slot
  std::int32_t most = 1;     ///< workers in a slot, N
  std::int64_t budget = 0;   ///< worker-slots over its life, F / l
  double efficiency = 1.0;   ///< zeta: iterations of one worker in a slot
  double bandwidth = 0.0;    ///< of each edge of its ring, Gbit/s
  WorkUtility family = WorkUtility::sigmoid;
  double c1 = 1.0, c2 = 1.0, c3 = 0.0;

  /// mu(efficiency x worker-slots)
  [[nodiscard]] double utility(std::int64_t worker_slots) const;
  /// Logarithm of utility(done + more) - utility(done), also where that difference is too small for
  /// a number; -infinity: no gain at all. @pre done >= 0, more > 0
  [[nodiscard]] double log_gain(std::int64_t done, std::int64_t more) const;
};

struct RingInstance {
  std::int32_t slots = 0;
  RingCluster cluster;
  std::vector<RingJob> jobs;
};

/// @throws InputError: what of the cluster or of which job is out of which range
void check_instance(const RingInstance& instance);

struct ServerShare {
  std::size_t server = 0;
  std::int32_t workers = 0;  ///< > 0
  bool operator==(const ServerShare&) const = default;
};

/// The workers of a job in a slot, each server once; empty: none. The cycle over its servers goes
/// rack by rack, which no other order of them beats.
using Ring = std::vector<ServerShare>;

[[nodiscard]] std::int32_t workers_of(const Ring& ring);

/// Rings by slot, then job.
using RingSchedule = std::vector<std::vector<Ring>>;

/// The first rule that a schedule breaks, with slot and job; empty: none. Checks arrivals, workers
/// in a slot, budgets, GPUs of servers, bandwidth of links. O(slots (jobs + servers))
[[nodiscard]] std::string fault_of(const RingInstance& instance, const RingSchedule& schedule);

/// sum_i mu_i(zeta_i sum_t sum_s y_is[t]). @pre fault_of is empty
[[nodiscard]] double total_utility(const RingInstance& instance, const RingSchedule& schedule);

}  // namespace berth::papers::gadget
