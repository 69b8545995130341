// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/pd_ors/admission.hpp"

#include <utility>

#include "berth/base/option_range.hpp"

namespace berth::papers::pd_ors {

PrimalDualAdmission::PrimalDualAdmission(const SlotInstance& instance, PriceRange range,
                                         const SlotSolver& solver, std::int32_t units)
    : ledger_(instance, std::move(range)), solver_(&solver), units_(units) {
  expect_option("pd-ors: units", units, at_least(1.0));
}

Admission PrimalDualAdmission::arrive(const TrainingJob& job, std::int32_t from) {
  ScheduleOffer offer = best_schedule(job, ledger_, *solver_,
                                      {.from = from, .samples = job.samples, .units = units_});
  if (offer.payoff <= 0.0) return {};
  ledger_.commit(job, offer.schedule);
  return {offer.payoff, std::move(offer.schedule)};
}

AdmissionRun run_admission(const SlotInstance& instance, PriceRange range, const SlotSolver& solver,
                           std::int32_t units) {
  check_instance(instance);
  PrimalDualAdmission admission(instance, std::move(range), solver, units);
  AdmissionRun run{.schedules = {}, .payoffs = {}, .ledger = admission.ledger()};
  for (const TrainingJob& job : instance.jobs) {
    Admission decided = admission.arrive(job, job.arrival);
    run.dual += decided.payoff;
    run.payoffs.push_back(decided.payoff);
    run.schedules.push_back(std::move(decided.schedule));
  }
  run.ledger = admission.ledger();
  run.dual += run.ledger.rent();
  run.utility = total_utility(instance, run.schedules);
  return run;
}

double bound_at_last_prices(const AdmissionRun& run, const SlotSolver& solver, std::int32_t units) {
  double bound = run.ledger.rent();
  for (const TrainingJob& job : run.ledger.instance().jobs) {
    const ScheduleQuery query{job.arrival, job.samples, units, Room::all};
    bound += best_schedule(job, run.ledger, solver, query).payoff;
  }
  return bound;
}

}  // namespace berth::papers::pd_ors
