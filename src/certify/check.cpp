// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/check.hpp"

#include "check_placement.hpp"
#include "check_prices.hpp"
#include "findings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "berth/certify/bound.hpp"
#include "berth/certify/figures.hpp"
#include "berth/certify/gap_parts.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/digest.hpp"

namespace berth::certify {
namespace {

using model::Instance;
using model::RawPlan;

constexpr double kTolerance = 1e-12;  // relative

std::string told(double x) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), x).ptr;
  return {buffer.data(), end};
}

/// Stated values against recomputed ones.
class Comparison {
 public:
  explicit Comparison(Findings& findings) : findings_(&findings) {}

  template <class T>
  bool present(const std::optional<T>& stated, const std::string& what) {
    if (!stated) findings_->add(FaultKind::missing_entry, "the plan has no " + what);
    return stated.has_value();
  }

  void count(const std::optional<std::int64_t>& stated, std::int64_t actual,
             const std::string& what) {
    if (!present(stated, what) || *stated == actual) return;
    findings_->add(FaultKind::wrong_count, what + " is stated as " + std::to_string(*stated) +
                                               ", recomputed " + std::to_string(actual));
  }

  /// `low` when the stated value is below the recomputed one, else `other`.
  void real(const std::optional<double>& stated, double actual, const std::string& what,
            FaultKind low, FaultKind other) {
    if (!present(stated, what)) return;
    if (std::abs(*stated - actual) <= kTolerance * std::max(1e-300, std::abs(actual))) return;
    findings_->add(*stated < actual ? low : other,
                   what + " is stated as " + told(*stated) + ", recomputed " + told(actual));
  }

  void digest(const std::optional<std::string>& stated, const std::string& actual,
              const std::string& what, FaultKind kind) {
    if (!present(stated, what) || *stated == actual) return;
    findings_->add(kind, what + " is stated as " + *stated + ", recomputed " + actual);
  }

 private:
  Findings* findings_;
};

model::Objective objective_kind(const RawPlan& plan, Findings& findings) {
  if (!plan.objective_kind) {
    findings.add(FaultKind::missing_entry, "the plan does not say its objective");
  } else if (const auto known = model::parse_objective(*plan.objective_kind)) {
    return *known;
  } else {
    findings.add(FaultKind::wrong_objective_kind, "no objective is called " + *plan.objective_kind);
  }
  return model::Objective::value;
}

/// Lines as the file states them, so that it is the file's own content that is digested.
std::string digest_of_file(const RawPlan& plan) {
  std::vector<std::string> lines;
  for (const model::RawPlacement& placed : plan.placements) {
    for (const model::RawTask& task : placed.tasks) {
      const auto add = [&](std::int64_t device, std::int64_t milli) {
        std::string line = placed.job;
        line.append(1, '\t').append(task.machine).append(1, '\t').append(std::to_string(device));
        line.append(1, '\t').append(std::to_string(milli)).append(1, '\t');
        lines.push_back(std::move(line.append(std::to_string(placed.start)).append(1, '\n')));
      };
      if (task.gpus.empty()) add(-1, 0);
      for (const model::RawDevice& d : task.gpus) add(d.index, d.milli);
    }
  }
  std::ranges::sort(lines);
  model::Sha256 sha;
  for (const std::string& line : lines) sha.text(line);
  return sha.hex();
}

void check_required(const Instance& instance, const RawPlan& plan, const CheckResult& checked,
                    Findings& findings) {
  if (!Comparison(findings).present(plan.required_missing, "required_missing")) return;
  std::vector<std::string> stated = *plan.required_missing, actual;
  for (const JobId j : checked.required_missing) {
    actual.emplace_back(instance.workload.job_names[j.index()]);
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

void compare_counts(const model::RawFigures& stated, const model::Figures& actual,
                    Comparison& compare) {
  compare.count(stated.gpus_total, actual.gpus_total, "gpus_total");
  compare.count(stated.gpu_milli_total, actual.gpu_milli_total, "gpu_milli_total");
  compare.count(stated.gpu_milli_allocated, actual.gpu_milli_allocated, "gpu_milli_allocated");
  compare.count(stated.jobs_total, actual.jobs_total, "jobs_total");
  compare.count(stated.jobs_placed, actual.jobs_placed, "jobs_placed");
}

/// Objective, bound and gap. The stated gap must follow from the stated objective and bound; these
/// must be the recomputed ones.
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

/// Figures, with what the prices prove where there are any.
void recompute(const Instance& instance, const model::Placement& placement,
               const std::optional<model::Certificate>& prices, bool feasible,
               CheckResult& checked) {
  const model::Objective kind = checked.objective_kind;
  const PlacementSums placed = placement_sums(instance, kind, placement);
  checked.figures = recount(instance, kind, placed);
  if (!prices) return;
  const std::vector<JobId> all = model::planned_jobs(instance.workload);
  const JobSubset subset{all, placement};
  const std::vector<JobId> must = required_placed(instance, subset);
  const JobFacts facts = job_facts(instance, kind, all);
  const JobBests bests = job_bests(instance, kind, *prices, all);
  const JobTerms terms = job_terms(instance, *prices, all, bests, must);
  const Bound bound = upper_bound(instance, kind, *prices, facts, terms, must);
  checked.figures.upper_bound = bound.value;
  // An impossible placement may well be worth more than any possible one.
  if (!feasible) return;
  checked.figures.gap = gap(checked.figures.upper_bound, checked.figures.objective);
  checked.gap_parts = gap_parts(instance, kind, *prices, {facts, placed, bound, checked.figures},
                                job_gaps(instance, kind, subset, *prices, bests, bound));
}

}  // namespace

CheckResult check(const Instance& instance, const RawPlan& plan) {
  CheckResult checked;
  Findings findings(checked);
  Comparison compare(findings);
  checked.objective_kind = objective_kind(plan, findings);
  compare.digest(plan.instance_digest, model::instance_digest(instance), "instance_digest",
                 FaultKind::other_instance);

  PlacementCheck jobs(instance, checked.objective_kind, findings);
  for (const model::RawPlacement& placed : plan.placements) jobs.placed(placed);
  for (const model::RawUnplacedJob& waiting : plan.waiting) jobs.waiting(waiting);
  jobs.finish();
  const bool feasible = findings.count() == 0;
  checked.required_missing = required_missing(instance, jobs.placement());

  std::optional<model::Certificate> prices;
  if (compare.present(plan.certificate, "certificate")) {
    prices = read_prices(instance, checked.objective_kind, *plan.certificate, findings);
  }
  if (prices) {
    const auto must = required_placed(instance, jobs.placement());
    if (const std::string open = uncovered(instance, *prices, must); !open.empty()) {
      findings.add(FaultKind::incomplete_tree, "certificate: " + open);
      prices.reset();
    }
  }
  recompute(instance, jobs.placement(), prices, feasible, checked);
  compare_quality(plan.figures, checked, feasible, prices.has_value(), compare);
  if (feasible) {
    compare_counts(plan.figures, checked.figures, compare);
    check_required(instance, plan, checked, findings);
  }
  compare.digest(plan.plan_digest, digest_of_file(plan), "plan_digest",
                 FaultKind::wrong_plan_digest);
  if (prices && plan.figures.objective && plan.figures.upper_bound) {
    compare.digest(
        plan.proof_digest,
        proof_digest(instance, *plan.figures.objective, *plan.figures.upper_bound, *prices),
        "proof_digest", FaultKind::wrong_proof_digest);
  }
  return checked;
}

}  // namespace berth::certify
