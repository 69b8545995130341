// SPDX-License-Identifier: Apache-2.0
#include "berth/report/summary.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace berth::report {
namespace {

double percentage(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string waiting_lines(const std::map<std::string, std::int64_t>& count) {
  std::vector<std::pair<std::int64_t, std::string>> order;
  for (const auto& [reason, n] : count) order.emplace_back(-n, reason);
  std::ranges::sort(order);
  constexpr std::size_t kMostReasons = 12;
  std::string text;
  const auto line = [&](std::int64_t jobs, const std::string& reason) {
    text += fmt::format("  {:<14}{:>9}  {}\n", text.empty() ? "waiting" : "", jobs, reason);
  };
  std::int64_t others = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i < kMostReasons) {
      line(-order[i].first, order[i].second);
    } else {
      others += -order[i].first;
    }
  }
  if (others > 0) line(others, fmt::format("{} other reasons", order.size() - kMostReasons));
  return text;
}

std::string gpus_text(const model::Figures& f, const PlanRoom& room) {
  const std::int64_t milli = room.gpu_milli < 0 ? f.gpu_milli_total : room.gpu_milli;
  std::string text = fmt::format(
      "{:.2f} of {:.10g} allocated ({:.2f} %)", static_cast<double>(f.gpu_milli_allocated) / 1000.0,
      static_cast<double>(milli) / 1000.0, percentage(f.gpu_milli_allocated, milli));
  if (milli != f.gpu_milli_total) text += fmt::format(", of {} in all", f.gpus_total);
  return text;
}

std::string jobs_text(const model::Figures& f, const PlanRoom& room) {
  std::string text = fmt::format("{} of {} placed", f.jobs_placed, f.jobs_total - room.pinned);
  if (room.pinned > 0) text += fmt::format("; {} more pinned", room.pinned);
  return text;
}

std::string objective_text(const model::Figures& f, model::Objective kind) {
  if (!model::traits(kind).gpu_milli) return fmt::format("{:.10g}", f.objective);
  return fmt::format("{:.0f} GPU milli ({:.4f} % of all GPUs)", f.objective,
                     percentage(static_cast<std::int64_t>(f.objective), f.gpu_milli_total));
}

namespace {

constexpr double kPrintedGap = 5e-7;  ///< smaller ones are printed as 0.0000 %

/// Breaks after commas, so that lines that begin in column kIndent end by column 80.
std::string wrapped(std::string_view words) {
  constexpr std::size_t kIndent = 16, kWidth = 80 - kIndent;
  std::string text;
  while (words.size() > kWidth) {
    const std::size_t comma = words.substr(0, kWidth).rfind(", ");
    if (comma == std::string_view::npos) break;
    text += fmt::format("{}\n{:{}}", words.substr(0, comma + 1), "", kIndent);
    words.remove_prefix(comma + 2);
  }
  return text + std::string(words) + "\n";
}

/// One part of the gap: its percentage, its name, and its largest details.
class GapShare {
 public:
  explicit GapShare(double whole) : whole_(whole) {}

  void add(const std::string& name, double amount, const std::string& more = {}) {
    sum_ += amount;
    if (!visible(amount)) return;
    details_ +=
        fmt::format("{}{} {:.1f} %{}", details_.empty() ? ": " : ", ", name, share(amount), more);
  }
  void add(double amount) { sum_ += amount; }

  [[nodiscard]] bool visible() const { return visible(sum_); }
  /// Offsets other parts, which together exceed the gap.
  [[nodiscard]] bool offsets() const { return visible() && sum_ < 0.0; }
  /// Ends with a newline; further lines are indented below the first.
  [[nodiscard]] std::string text(std::string_view what) const {
    return wrapped(fmt::format("{:.1f} % {}{}", share(sum_), what, details_));
  }

 private:
  [[nodiscard]] double share(double amount) const { return 100.0 * amount / whole_; }
  [[nodiscard]] bool visible(double amount) const { return std::abs(share(amount)) >= 0.05; }

  double whole_;
  double sum_ = 0.0;
  std::string details_;
};

}  // namespace

std::string proved_gap(double gap) {
  return fmt::format("{:.4f} %: proved, no plan is better{}", 100.0 * gap,
                     gap < kPrintedGap ? "" : " by more");
}

std::string gap_text(const model::GapParts& parts, const model::Figures& figures) {
  const double whole = figures.upper_bound - figures.objective;
  if (!(whole > 0.0) || !(figures.gap >= kPrintedGap)) return {};
  GapShare regret(whole), idle(whole), whole_jobs(whole), leaves(whole), rounding(whole);
  std::vector<GapShare> limits(model::kLimitKinds, GapShare(whole));
  for (const auto& r : parts.regret) {
    const std::string size = r.gpus == 0   ? "no GPU"
                             : r.gpus == 1 ? "1 GPU or less"
                                           : fmt::format("up to {} GPUs", r.gpus);
    regret.add(size, r.amount, fmt::format(" ({} jobs)", r.jobs));
  }
  for (const auto& i : parts.idle) {
    idle.add(i.gpu_type.empty() ? "machines without GPUs" : i.gpu_type, i.amount);
  }
  for (std::size_t k = 0; k < limits.size(); ++k) limits[k].add(parts.limits[k]);
  whole_jobs.add(parts.whole_jobs);
  leaves.add(parts.leaves);
  rounding.add(parts.rounding);
  std::vector<std::pair<const GapShare*, std::string_view>> all = {
      {&regret, "regret"}, {&idle, "idle or below its price"}};
  for (std::size_t k = 0; k < limits.size(); ++k) {
    all.emplace_back(&limits[k], model::kLimitRows[k].title);
  }
  all.insert(all.end(), {{&whole_jobs, "choice of whole jobs"},
                         {&leaves, "cases the plan is not in"},
                         {&rounding, "rounding"}});
  std::string text;
  for (const auto& [part, what] : all) {
    if (!part->visible()) continue;
    text += fmt::format("  {:<14}{}", text.empty() ? "of the gap" : "", part->text(what));
  }
  if (std::ranges::any_of(all, [](const auto& part) { return part.first->offsets(); })) {
    text += fmt::format("  {:<14}negative shares offset the others: the sum is 100 %\n", "");
  }
  return text;
}

std::string class_lines(std::span<const model::PriorityClass> classes) {
  std::string text;
  for (const model::PriorityClass& c : classes) {
    text += fmt::format(
        "  {:<14}{:>9}  value {:.10g}, at most {:.10g} ({:.6g} more), gap {:.4f} %, {} of {} "
        "jobs\n",
        text.empty() ? "priority" : "", c.priority, c.value, c.upper_bound,
        std::max(0.0, c.upper_bound - c.value), 100.0 * c.gap, c.jobs_placed, c.jobs_total);
  }
  return text;
}

std::string summary(const model::Plan& plan, const std::map<std::string, std::int64_t>& waiting,
                    const PlanRoom& room) {
  const model::Figures& f = plan.figures;
  std::string text;
  const auto row = [&](std::string_view name, const std::string& value) {
    text += fmt::format("  {:<14}{}\n", name, value);
  };
  text += class_lines(plan.classes);
  row("objective", objective_text(f, plan.objective_kind));
  row("upper bound", fmt::format("{:.10g}", f.upper_bound));
  if (plan.classes.empty()) {
    row("gap", proved_gap(f.gap));
    text += gap_text(plan.gap_parts, f);
  } else {
    row("gap",
        fmt::format("{:.4f} %: to plans of all jobs that pass over priorities", 100.0 * f.gap));
  }
  row("GPUs", gpus_text(f, room));
  row("jobs", jobs_text(f, room));
  text += waiting_lines(waiting);
  if (!plan.required_missing.empty()) {
    row("required", fmt::format("{} required jobs are missing", plan.required_missing.size()));
  }
  row("plan digest", plan.plan_digest);
  if (!plan.reproducible) row("reproducible", "no (a time limit or a signal decided)");
  return text;
}

}  // namespace berth::report
