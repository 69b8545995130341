// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/check.hpp"

#include "check_classes.hpp"
#include "check_placement.hpp"
#include "check_prices.hpp"
#include "compare_gap_parts.hpp"
#include "comparison.hpp"
#include "file_digest.hpp"
#include "findings.hpp"
#include "place_limits.hpp"
#include "quota_capacities.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/digest.hpp"

namespace berth::certify {
namespace {

using model::InstanceView;
using model::RawPlan;

model::Objective objective_kind(const RawPlan& plan, Findings& findings) {
  if (!plan.objective_kind) {
    findings.add(FaultKind::missing_entry, "the plan does not say its objective");
  } else if (const auto known = model::parse_objective(*plan.objective_kind)) {
    if (plan.objective_option && *plan.objective_option != *plan.objective_kind) {
      findings.add(FaultKind::wrong_objective_kind, "options.objective is " +
                                                        *plan.objective_option +
                                                        ", objective_kind " + *plan.objective_kind);
    }
    return *known;
  } else {
    findings.add(FaultKind::wrong_objective_kind, "no objective is called " + *plan.objective_kind);
  }
  return model::Objective::value;
}

void compare_counts(const model::RawFigures& stated, const model::Figures& actual,
                    Comparison& compare) {
  compare.count(stated.gpus_total, actual.gpus_total, "gpus_total");
  compare.count(stated.gpu_milli_total, actual.gpu_milli_total, "gpu_milli_total");
  compare.count(stated.gpu_milli_allocated, actual.gpu_milli_allocated, "gpu_milli_allocated");
  compare.count(stated.jobs_total, actual.jobs_total, "jobs_total");
  compare.count(stated.jobs_placed, actual.jobs_placed, "jobs_placed");
}

/// Compares objective, bound and gap. The stated gap must follow from the stated objective and
/// bound; these must equal the recomputed ones.
void compare_quality(const model::RawFigures& stated, const CheckResult& checked, bool feasible,
                     bool proved, Comparison& compare) {
  if (feasible) {
    compare.real(stated.objective, checked.figures.objective, "objective",
                 FaultKind::wrong_objective, FaultKind::wrong_objective);
  }
  if (proved) {
    compare.real(stated.upper_bound, checked.figures.upper_bound, "upper_bound",
                 FaultKind::bound_too_low, FaultKind::wrong_bound);
  }
  if (stated.objective && stated.upper_bound) {
    compare.real(stated.gap, gap(*stated.upper_bound, *stated.objective), "gap",
                 FaultKind::wrong_gap, FaultKind::wrong_gap);
  }
}

}  // namespace

struct PlanCheck::State {
  State(const InstanceView& all, const RawPlan& head, Order order)
      : instance(all),
        plan(head),
        findings(checked),
        compare(findings),
        jobs(all, findings),
        classes(all, head, findings, compare),
        instance_digest(all),
        plan_digest(order == Order::by_name) {
    checked.objective_kind = objective_kind(head, findings);
  }

  void end_jobs();
  void check_required();

  InstanceView instance;
  const RawPlan& plan;
  CheckResult checked = {};
  Findings findings;
  Comparison compare;
  PlacementCheck jobs;
  ClassCheck classes;
  model::InstanceDigest instance_digest;
  FileDigest plan_digest;
  std::vector<JobId> required;  ///< all required jobs that a plan decides about, ascending
  std::vector<JobId> must;      ///< the placed ones of these, in the order of the plan
  PlacementSums placed = {};
  LimitAmounts used = {};  ///< of limits of racks and pods
  bool feasible = false;
  std::optional<model::Certificate> prices;
};

PlanCheck::PlanCheck(const InstanceView& instance, const RawPlan& head, Order order)
    : state_(new State(instance, head, order)) {}
PlanCheck::~PlanCheck() = default;

model::Objective PlanCheck::objective() const { return state_->checked.objective_kind; }
bool PlanCheck::feasible() const { return state_->feasible; }
const PlacementSums& PlanCheck::placed() const { return state_->placed; }

void PlanCheck::add_records(std::span<const JobId> jobs) {
  const model::WorkloadView& workload = state_->instance.workload;
  state_->classes.add(objective(), jobs);
  for (const JobId id : jobs) {
    state_->instance_digest.add(id);
    const model::Job& job = workload.job(id);
    if (job.required && !workload.pinned(job)) state_->required.push_back(id);
  }
}

model::Placement PlanCheck::add(std::span<const model::RawPlacement> placed) {
  model::Placement resolved;
  for (const model::RawPlacement& raw : placed) {
    state_->plan_digest.add(raw);
    if (auto job = state_->jobs.placed(raw)) resolved.push_back(std::move(*job));
  }
  const InstanceView& instance = state_->instance;
  state_->placed += placement_sums(instance, objective(), resolved);
  state_->classes.add(objective(), resolved);
  PlaceLimits(instance, {}).add(resolved, state_->used);
  for (const model::JobPlacement& job : resolved) {
    if (instance.workload.job(job.job).required) state_->must.push_back(job.job);
  }
  return resolved;
}

void PlanCheck::end_records() {
  state_->compare.digest(state_->plan.instance_digest, state_->instance_digest.hex(),
                         "instance_digest", FaultKind::other_instance);
}

void PlanCheck::add(std::span<const model::RawUnplacedJob> waiting) {
  for (const model::RawUnplacedJob& raw : waiting) state_->jobs.waiting(raw);
}

void PlanCheck::State::end_jobs() {
  jobs.finish();
  QuotaCapacities(instance, checked.objective_kind).report(placed.quotas, findings);
  PlaceLimits(instance, {}).report(used, findings);
  feasible = findings.count() == 0;
  std::ranges::sort(must);
  std::ranges::set_difference(required, must, std::back_inserter(checked.required_missing));
}

std::vector<JobId> PlanCheck::required_placed() const { return state_->must; }

const std::optional<model::Certificate>& PlanCheck::prices(const JobFacts& facts) {
  State& s = *state_;
  s.end_jobs();
  if (s.compare.present(s.plan.certificate, "certificate")) {
    s.prices = read_prices(s.instance, objective(), *s.plan.certificate, facts, s.findings);
  }
  if (s.prices) {
    if (const std::string open = uncovered(s.instance, *s.prices, s.must); !open.empty()) {
      s.findings.add(FaultKind::incomplete_tree, "certificate: " + open);
      s.prices.reset();
    }
  }
  if (s.feasible) s.classes.end(objective());
  return s.prices;
}

std::vector<std::int32_t> PlanCheck::priorities() const { return state_->classes.priorities(); }

const std::vector<std::vector<model::PriorityWeight>>& PlanCheck::class_weights() const {
  return state_->classes.weights();
}

std::optional<model::Certificate> PlanCheck::class_prices(std::size_t k,
                                                          const InstanceView& weighted,
                                                          const JobFacts& facts) {
  return state_->classes.prices(objective(), k, weighted, facts);
}

void PlanCheck::add_class(std::size_t k, model::Certificate prices, const Bound& bound) {
  state_->classes.add(k, std::move(prices), bound);
}

void PlanCheck::State::check_required() {
  if (!compare.present(plan.required_missing, "required_missing")) return;
  std::vector<std::string> stated = *plan.required_missing, actual;
  for (const JobId j : checked.required_missing) {
    actual.emplace_back(instance.workload.tables().job_names[j.index()]);
  }
  std::ranges::sort(stated);
  std::ranges::sort(actual);
  if (stated == actual) return;
  const auto differs = std::ranges::mismatch(stated, actual);
  const std::string first = differs.in1 != stated.end() ? *differs.in1 : *differs.in2;
  findings.add(FaultKind::wrong_required_missing,
               "required_missing lists " + std::to_string(stated.size()) +
                   " jobs, but the plan lacks " + std::to_string(actual.size()) +
                   "; they differ at " + first);
}

CheckResult PlanCheck::checked(const std::optional<Bound>& bound) {
  State& s = *state_;
  CheckResult& checked = s.checked;
  BERTH_EXPECT(bound.has_value() == s.prices.has_value());
  checked.figures = recount(s.instance, objective(), s.placed);
  if (bound) checked.figures.upper_bound = bound->value;
  // an impossible placement may have a larger value than any possible one
  if (bound && s.feasible) checked.figures.gap = gap(bound->value, checked.figures.objective);
  compare_quality(s.plan.figures, checked, s.feasible, bound.has_value(), s.compare);
  if (s.feasible) {
    compare_counts(s.plan.figures, checked.figures, s.compare);
    checked.classes = s.classes.compare(objective());
    s.check_required();
  }
  s.compare.digest(s.plan.plan_digest, s.plan_digest.hex(), "plan_digest",
                   FaultKind::wrong_plan_digest);
  const model::RawFigures& stated = s.plan.figures;
  if (s.prices && stated.objective && stated.upper_bound) {
    s.compare.digest(s.plan.proof_digest,
                     proof_digest(s.instance, *stated.objective, *stated.upper_bound, *s.prices,
                                  s.classes.stated()),
                     "proof_digest", FaultKind::wrong_proof_digest);
  }
  return checked;
}

namespace {

/// Facts, best options and bound of a whole instance at the prices.
struct Proved {
  JobFacts facts;
  JobBests bests;
  Bound bound;
  std::vector<StayItem> stays;
};

Proved prove(const InstanceView& instance, model::Objective kind, const model::Certificate& prices,
             std::span<const JobId> jobs, JobFacts facts, std::span<const JobId> must) {
  Proved proved{.facts = std::move(facts), .bests = {}, .bound = {}, .stays = {}};
  proved.bests = job_bests(instance, kind, prices, proved.facts, jobs);
  JobTerms terms = job_terms(instance, prices, jobs, proved.bests, must);
  proved.bound = upper_bound(instance, kind, prices, proved.facts, terms, must);
  proved.stays = std::move(terms.stays);
  return proved;
}

}  // namespace

namespace {

/// Proves the bound of each class of a plan by priority.
void prove_classes(const InstanceView& instance, std::span<const JobId> jobs, PlanCheck& pieces) {
  const model::Objective kind = pieces.objective();
  model::WorkloadTables tables = instance.workload.tables();
  const InstanceView weighted(instance.cluster, {tables, instance.workload.records()});
  const std::vector<std::int32_t> priorities = pieces.priorities();
  for (std::size_t k = 0; k < pieces.class_weights().size(); ++k) {
    model::set_weights(instance.workload.tables(), pieces.class_weights()[k], tables);
    const std::vector<JobId> counted = jobs_of_class(instance.workload, jobs, priorities[k]);
    JobFacts facts = job_facts(weighted, kind, counted);
    auto prices = pieces.class_prices(k, weighted, facts);
    if (!prices) continue;
    const Bound bound =
        prove(weighted, kind, *prices, counted, std::move(facts), pieces.required_placed()).bound;
    pieces.add_class(k, std::move(*prices), bound);
  }
}

}  // namespace

CheckResult check(const InstanceView& instance, const RawPlan& plan) {
  PlanCheck pieces(instance, plan, PlanCheck::Order::any);
  std::vector<JobId> all(instance.workload.size());
  for (std::size_t j = 0; j < all.size(); ++j) all[j] = JobId(j);
  pieces.add_records(all);
  pieces.end_records();
  model::Placement placement = pieces.add(plan.placements);
  std::ranges::sort(placement, {}, &model::JobPlacement::job);
  pieces.add(plan.waiting);

  const model::Objective kind = pieces.objective();
  const std::vector<JobId> jobs = model::planned_jobs(instance.workload);
  JobFacts facts = job_facts(instance, kind, jobs);
  const auto& prices = pieces.prices(facts);
  if (!prices) return pieces.checked(std::nullopt);
  const Proved proved =
      prove(instance, kind, *prices, jobs, std::move(facts), pieces.required_placed());
  prove_classes(instance, jobs, pieces);
  CheckResult checked = pieces.checked(proved.bound);
  if (!pieces.feasible()) return checked;
  checked.gap_parts =
      gap_parts(instance, kind, *prices,
                {proved.facts, pieces.placed(), proved.bound, checked.figures, proved.stays},
                job_gaps(instance, kind, {jobs, placement}, *prices, proved.facts, proved.bests,
                         proved.bound));
  if (plan.gap_parts) compare_gap_parts(*plan.gap_parts, checked);
  return checked;
}

}  // namespace berth::certify
