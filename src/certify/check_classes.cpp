// SPDX-License-Identifier: Apache-2.0
#include "check_classes.hpp"

#include "check_prices.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace berth::certify {

std::string ClassCheck::name_of(std::size_t k) const {
  return "class of priority " + std::to_string(plan_->classes[k].priority);
}

void ClassCheck::add(model::Objective kind, std::span<const JobId> jobs) {
  if (asked()) add_jobs(instance_, kind, jobs, table_);
}

void ClassCheck::add(model::Objective kind, const model::Placement& placed) {
  if (asked()) add_placed(instance_, kind, placed, table_);
}

void ClassCheck::end(model::Objective kind) {
  if (!asked()) return;
  const std::vector<std::int32_t> priorities = priorities_of(table_);
  if (!std::ranges::equal(plan_->classes, priorities, {}, &model::RawPriorityClass::priority)) {
    findings_->add(FaultKind::wrong_class,
                   "classes are not the priorities of the jobs, descending");
    return;
  }
  values_ = class_values(instance_, kind, table_);
  for (std::size_t k = 0; k < priorities.size(); ++k) {
    model::PriorityClass& c = classes_.emplace_back();
    c.priority = priorities[k];
    const auto& stated = plan_->classes[k].weights_log2;
    std::ranges::transform(stated, std::back_inserter(c.weights_log2), [](std::int64_t weight) {
      constexpr std::int64_t kBeyond = kMostWeightLog2 + 1;
      return static_cast<std::int32_t>(std::clamp(weight, -kBeyond, kBeyond));
    });
    std::string fault = stated.size() == k ? unusable_weights(instance_, kind, c.weights_log2)
                                           : "weights_log2 has not one entry per class above";
    if (!fault.empty()) {
      findings_->add(FaultKind::wrong_class, name_of(k) + ": " + fault);
      weights_.clear();
      return;
    }
    weights_.push_back(class_weights(priorities, c.weights_log2));
  }
}

std::vector<std::int32_t> ClassCheck::priorities() const { return priorities_of(table_); }

std::optional<model::Certificate> ClassCheck::prices(model::Objective kind, std::size_t k,
                                                     const model::InstanceView& weighted,
                                                     const JobFacts& facts) {
  const auto& raw = plan_->classes[k].certificate;
  if (!compare_->present(raw, "certificate of the " + name_of(k))) return std::nullopt;
  if (!raw->jobs.empty() || !raw->tree.empty()) {
    findings_->add(FaultKind::bad_certificate, name_of(k) + ": prices of jobs prove no class");
    return std::nullopt;
  }
  return read_prices(weighted, kind, *raw, facts, *findings_);
}

void ClassCheck::add(std::size_t k, model::Certificate prices, const Bound& bound) {
  classes_[k].certificate = std::move(prices);
  classes_[k].upper_bound = class_bound(bound, values_, classes_[k].weights_log2);
}

const std::vector<model::PriorityClass>& ClassCheck::compare(model::Objective kind) {
  if (weights_.empty()) return classes_;
  values_ = class_values(instance_, kind, table_);
  auto sums = table_.begin();
  for (std::size_t k = 0; k < classes_.size(); ++k, ++sums) {
    const std::string what = " of the " + name_of(k);
    const model::RawFigures& stated = plan_->classes[k].figures;
    model::PriorityClass& c = classes_[k];
    c.jobs_total = sums->second.jobs_total;
    c.jobs_placed = sums->second.jobs_placed();
    c.value = values_[k].value;
    c.gap = gap(c.upper_bound, c.value);
    compare_->count(stated.jobs_total, c.jobs_total, "jobs_total" + what);
    compare_->count(stated.jobs_placed, c.jobs_placed, "jobs_placed" + what);
    compare_->real(stated.objective, c.value, "value" + what, FaultKind::wrong_class,
                   FaultKind::wrong_class);
    compare_->real(stated.upper_bound, c.upper_bound, "upper_bound" + what,
                   FaultKind::bound_too_low, FaultKind::wrong_bound);
    if (!stated.objective || !stated.upper_bound) continue;
    compare_->real(stated.gap, gap(*stated.upper_bound, *stated.objective), "gap" + what,
                   FaultKind::wrong_gap, FaultKind::wrong_gap);
  }
  return classes_;
}

std::vector<model::PriorityClass> ClassCheck::stated() const {
  std::vector<model::PriorityClass> all = classes_;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const model::RawFigures& figures = plan_->classes[k].figures;
    all[k].value = figures.objective.value_or(0.0);
    all[k].upper_bound = figures.upper_bound.value_or(0.0);
  }
  return all;
}

}  // namespace berth::certify
