// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "comparison.hpp"
#include "findings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "berth/certify/bound.hpp"
#include "berth/certify/priority_classes.hpp"
#include "berth/model/instance.hpp"
#include "berth/model/plan.hpp"
#include "berth/model/raw_plan.hpp"

namespace berth::certify {

/// Judges the classes of a plan by priority; a plan without classes has nothing to judge.
class ClassCheck {
 public:
  ClassCheck(const model::InstanceView& instance, const model::RawPlan& plan, Findings& findings,
             Comparison& compare)
      : instance_(instance), plan_(&plan), findings_(&findings), compare_(&compare) {}

  void add(model::Objective kind, std::span<const JobId> jobs);
  void add(model::Objective kind, const model::Placement& placed);
  /// Compares priorities and weights with those of all jobs.
  void end(model::Objective kind);

  [[nodiscard]] std::vector<std::int32_t> priorities() const;
  [[nodiscard]] const std::vector<std::vector<model::PriorityWeight>>& weights() const {
    return weights_;
  }
  [[nodiscard]] std::optional<model::Certificate> prices(model::Objective kind, std::size_t k,
                                                         const model::InstanceView& weighted,
                                                         const JobFacts& facts);
  void add(std::size_t k, model::Certificate prices, const Bound& bound);

  /// Compares jobs, values, bounds and gaps with the stated ones. @return the recomputed classes
  const std::vector<model::PriorityClass>& compare(model::Objective kind);
  /// The classes as stated, with the prices that were read: of the proof digest. Empty without all.
  [[nodiscard]] std::vector<model::PriorityClass> stated() const;

 private:
  [[nodiscard]] bool asked() const { return !plan_->classes.empty(); }
  [[nodiscard]] std::string name_of(std::size_t k) const;

  model::InstanceView instance_;
  const model::RawPlan* plan_;
  Findings* findings_;
  Comparison* compare_;
  ClassTable table_;
  std::vector<ObjectiveValue> values_;
  std::vector<std::vector<model::PriorityWeight>> weights_;
  std::vector<model::PriorityClass> classes_;  ///< with prices and bounds as far as proved
};

}  // namespace berth::certify
