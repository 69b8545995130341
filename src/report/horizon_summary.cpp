// SPDX-License-Identifier: Apache-2.0
#include "berth/report/horizon_summary.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "berth/report/summary.hpp"

namespace berth::report {
namespace {

std::string row(std::string_view name, const std::string& value) {
  return fmt::format("  {:<14}{}\n", name, value);
}

}  // namespace

std::string horizon_figures(const model::HorizonFigures& f, model::HorizonObjective objective) {
  std::string text =
      row("objective", fmt::format("{:.10g} ({})", f.objective, model::to_string(objective)));
  text += row(model::minimised(objective) ? "lower bound" : "upper bound",
              fmt::format("{:.10g}", f.bound));
  text += row("gap", proved_gap(f.gap));
  text += row("jobs", fmt::format("{} start now, {} later, {} not, of {}", f.jobs_now, f.jobs_later,
                                  f.jobs_total - f.jobs_now - f.jobs_later, f.jobs_total));
  return text;
}

std::string horizon_summary(const model::HorizonPlan& plan) {
  std::string text = horizon_figures(plan.figures, plan.horizon.objective);
  std::map<std::string, std::int64_t> count;
  for (const model::WaitingJob& waiting : plan.waiting) ++count[waiting.reason];
  text += waiting_lines(count);
  if (!plan.required_missing.empty()) {
    text += row("required", fmt::format("{} required jobs do not start within the horizon",
                                        plan.required_missing.size()));
  }
  if (!plan.promises.empty()) {
    const auto kept = std::ranges::count_if(plan.promises, &model::Promise::kept);
    const auto total = std::ssize(plan.promises);
    text += row("promises", fmt::format("{} kept, {} broken", kept, total - kept));
  }
  text += row("plan digest", plan.plan_digest);
  if (!plan.reproducible) text += row("reproducible", "no (a time limit or a signal decided)");
  return text;
}

}  // namespace berth::report
