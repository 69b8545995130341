// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "berth/papers/pd_ors/best_schedule.hpp"
#include "berth/papers/pd_ors/slot_ledger.hpp"

namespace berth::papers::pd_ors {

/// What the admission of one job decided.
struct Admission {
  double payoff = 0.0;  ///< lambda: dual of the job; 0: dropped for good
  JobSchedule schedule = {};
};

/// Primal-dual admission online (PD-ORS's Algorithm 1 and OASiS's main loop): every job is asked
/// once, when it arrives; it is admitted if and only if its best schedule is worth more than its
/// cost at the prices of what is committed.
class PrimalDualAdmission {
 public:
  /// All are referred to. @param units  parts of a job's work (best_schedule)
  /// @throws InputError: units below 1
  PrimalDualAdmission(const SlotInstance& instance, PriceRange range, const SlotSolver& solver,
                      std::int32_t units);

  /// @pre jobs come in the order of `from`
  /// @param from  first slot that the job may use, >= its arrival; its utility counts from that
  Admission arrive(const TrainingJob& job, std::int32_t from);
  /// Frees slots that were committed; prices fall with them. No part of the papers, in which jobs
  /// last as long as they say. @pre it was committed
  void give_back(const TrainingJob& job, const JobSchedule& slots) { ledger_.release(job, slots); }
  [[nodiscard]] const SlotLedger& ledger() const { return ledger_; }

 private:
  SlotLedger ledger_;
  const SlotSolver* solver_;
  std::int32_t units_;
};

struct AdmissionRun {
  std::vector<JobSchedule> schedules;  ///< by job
  std::vector<double> payoffs;         ///< by job
  double utility = 0.0;                ///< total, by the judge
  /// D = sum lambda + sum p C at the last prices, which the analysis compares the utility to. It
  /// bounds the optimum only where machines are large against tasks: a schedule without room at
  /// arrival may pay although its prices are below U.
  double dual = 0.0;
  SlotLedger ledger;  ///< what is committed, and the last prices
};

/// All jobs of the instance, one after the other.
[[nodiscard]] AdmissionRun run_admission(const SlotInstance& instance, PriceRange range,
                                         const SlotSolver& solver, std::int32_t units);

/// D with each job's best payoff on empty machines at the last prices: an upper bound of every
/// schedule's total utility if solver and parts are exact, else an estimate.
[[nodiscard]] double bound_at_last_prices(const AdmissionRun& run, const SlotSolver& solver,
                                          std::int32_t units);

}  // namespace berth::papers::pd_ors
