// SPDX-License-Identifier: Apache-2.0
#include "berth/report/summary.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace berth::report {
namespace {

double percent(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

/// The commonest reasons for waiting, most frequent first, at most three.
std::string reasons(const model::Plan& plan) {
  std::map<std::string, std::int64_t> count;
  for (const model::Waiting& w : plan.waiting) ++count[w.reason];
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, n] : count) order.emplace_back(-n, reason);
  std::ranges::sort(order);
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < 3; ++i) {
    text += fmt::format("  {:<14}{:>9}  {}\n", i == 0 ? "waiting" : "", -order[i].first,
                        order[i].second);
  }
  return text;
}

}  // namespace

std::string objective_text(const model::Figures& f, model::Objective kind) {
  if (kind == model::Objective::value) return fmt::format("{:.10g}", f.objective);
  return fmt::format("{:.0f} GPU milli ({:.4f} % of all GPUs)", f.objective,
                     percent(static_cast<std::int64_t>(f.objective), f.gpu_milli_total));
}

std::string gap_text(const model::GapParts& parts, const model::Figures& figures) {
  const double whole = figures.upper_bound - figures.objective;
  if (!(whole > 0.0)) return {};
  const auto share = [&](double amount) { return 100.0 * amount / whole; };
  std::string regret;
  double regrets = 0.0;
  for (const auto& r : parts.regret) {
    const std::string size = r.gpus == 0   ? "no GPU"
                             : r.gpus == 1 ? "1 GPU or less"
                                           : fmt::format("up to {} GPUs", r.gpus);
    regret += fmt::format("{}{} {:.1f} % ({} jobs)", regret.empty() ? ": " : ", ", size,
                          share(r.amount), r.jobs);
    regrets += r.amount;
  }
  std::string idle;
  double idles = 0.0;
  for (const auto& i : parts.idle) {
    idle += fmt::format("{}{} {:.1f} %", idle.empty() ? ": " : ", ",
                        i.gpu_type.empty() ? "machines without GPUs" : i.gpu_type, share(i.amount));
    idles += i.amount;
  }
  std::string text =
      fmt::format("  {:<14}{:.1f} % regret{}\n", "of the gap", share(regrets), regret);
  text += fmt::format("  {:<14}{:.1f} % idle or below its price{}\n", "", share(idles), idle);
  return text;
}

std::string summary(const model::Plan& plan) {
  const model::Figures& f = plan.figures;
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  row("objective", objective_text(f, plan.objective_kind));
  row("upper bound", fmt::format("{:.10g}", f.upper_bound));
  row("gap", fmt::format("{:.4f} %: proved, no plan is better by more", 100.0 * f.gap));
  text += gap_text(plan.gap_parts, f);
  row("GPUs", fmt::format("{:.2f} of {} allocated ({:.2f} %)",
                          static_cast<double>(f.gpu_milli_allocated) / 1000.0, f.gpus_total,
                          percent(f.gpu_milli_allocated, f.gpu_milli_total)));
  row("jobs", fmt::format("{} of {} placed", f.jobs_placed, f.jobs_total));
  text += reasons(plan);
  if (!plan.required_missing.empty()) {
    row("required", fmt::format("{} required jobs are missing", plan.required_missing.size()));
  }
  row("plan digest", plan.plan_digest);
  if (!plan.reproducible) row("reproducible", "no (a time limit or a signal decided)");
  return text;
}

}  // namespace berth::report
