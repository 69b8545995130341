// SPDX-License-Identifier: Apache-2.0
#include "compare_gap_parts.hpp"

#include "findings.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "berth/model/limit_table.hpp"

namespace berth::certify {
namespace {

/// Under the names that the reader of a plan file gives.
model::RawGapParts stated_as(const model::GapParts& parts) {
  static constexpr std::string_view kBasis[] = {"prices", "values", "capacity", "search"};
  model::RawGapParts raw{.basis = std::string(kBasis[static_cast<std::size_t>(parts.basis)]),
                         .amounts = {{"rounding", parts.rounding}}};
  for (const auto& regret : parts.regret) {
    const std::string of = " of " + std::to_string(regret.gpus) + " GPUs";
    raw.amounts["regret" + of] = regret.amount;
    raw.amounts["jobs" + of] = static_cast<double>(regret.jobs);
  }
  for (const auto& idle : parts.idle) raw.amounts["idle " + idle.gpu_type] = idle.amount;
  for (std::size_t k = 0; k < model::kLimitKinds; ++k) {
    if (parts.limits[k] != 0.0) {
      raw.amounts[std::string(model::kLimitRows[k].gap_key)] = parts.limits[k];
    }
  }
  if (parts.whole_jobs != 0.0) raw.amounts["whole_jobs"] = parts.whole_jobs;
  if (parts.leaves != 0.0) raw.amounts["leaves"] = parts.leaves;
  return raw;
}

}  // namespace

void compare_gap_parts(const model::RawGapParts& stated, CheckResult& checked) {
  constexpr double kTolerance = 1e-9;  // of the upper bound
  Findings findings(checked);
  const model::RawGapParts actual = stated_as(checked.gap_parts);
  if (stated.basis != actual.basis) {
    findings.add(FaultKind::wrong_gap_parts,
                 "gap_parts.basis is " + stated.basis + ", recomputed " + actual.basis);
  }
  const double slack = kTolerance * std::max(1.0, std::abs(checked.figures.upper_bound));
  const auto of = [](const model::RawGapParts& parts, const std::string& name) {
    const auto found = parts.amounts.find(name);
    return found == parts.amounts.end() ? 0.0 : found->second;
  };
  const auto compare = [&](const std::string& name) {
    if (std::abs(of(stated, name) - of(actual, name)) <= slack) return;
    findings.add(FaultKind::wrong_gap_parts,
                 "gap_parts: " + name + " is stated as " + std::to_string(of(stated, name)) +
                     ", recomputed " + std::to_string(of(actual, name)));
  };
  for (const auto& [name, amount] : stated.amounts) compare(name);
  for (const auto& [name, amount] : actual.amounts) {
    if (!stated.amounts.contains(name)) compare(name);
  }
}

}  // namespace berth::certify
