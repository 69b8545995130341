// SPDX-License-Identifier: Apache-2.0
#include "../machine_use.hpp"
#include "../table_rows.hpp"
#include "html.hpp"
#include "sections.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace berth::report {
namespace {

/// Objective, bound and gap of either kind of plan.
struct PageFigures {
  double objective, bound, gap;
  std::string_view kind;
  bool minimised = false;
};

PageFigures figures_of(const PageContent& content) {
  if (const model::RawHorizonPlan* plan = content.in_time; plan != nullptr) {
    return {plan->value.value_or(0.0), plan->bound.value_or(0.0), plan->gap.value_or(0.0),
            plan->objective, plan->objective == "flow" || plan->objective == "makespan"};
  }
  const model::RawPlan& file = content.file;
  return {
      file.figures.objective.value_or(0.0), file.figures.upper_bound.value_or(0.0),
      file.figures.gap.value_or(0.0),
      std::string_view(file.objective_kind.value_or("value")) == "allocate" ? "allocate" : "value"};
}

std::string proof(const PageFigures& f) {
  const std::string percent = fmt::format("{:.4f} %", 100.0 * f.gap);
  std::string text = "<p class=\"lead\">At most ";
  text += figure("gap", f.gap, percent);
  text += f.minimised ? " above the best possible plan: proved.</p>"
                      : " below the best possible plan: proved.</p>";
  const double most = std::max(std::abs(f.objective), std::abs(f.bound));
  const double least = std::min(std::abs(f.objective), std::abs(f.bound));
  const double part = most > 0.0 ? least / most : 1.0;
  return text + bar(part, 1.0 - part);
}

std::string gpu_table(std::span<const MachineUse> uses) {
  MachineUse all;
  for (const MachineUse& use : uses) all += use;
  const std::int64_t total = 1000 * all.gpus;
  HtmlTable table("GPUs", {"state", "GPUs", "% of all", ""});
  const auto row = [&](std::string_view name, std::string_view key, std::int64_t milli) {
    table.add({html(name), figure(key, static_cast<double>(milli) / 1000.0, devices(milli)),
               percent(milli, total),
               bar(total == 0 ? 0.0 : static_cast<double>(milli) / static_cast<double>(total))});
  };
  row("all", "gpus_total", total);
  row("usable: machines that are up", "gpus_usable", total - all.closed);
  row("busy: planned", "gpus_planned", all.planned);
  row("busy: pinned, no plan moves it", "gpus_pinned", all.pinned);
  row("free", "gpus_free", all.free());
  row("closed: drained or reserved", "gpus_closed", all.closed);
  return table.text();
}

std::string job_counts(const PageContent& content) {
  const PlanContent& now = content.now;
  HtmlTable table("Jobs", {"state", "jobs"});
  const auto row = [&](std::string_view name, std::string_view key, std::int64_t jobs) {
    table.add({html(name), figure(key, jobs)});
  };
  if (content.in_time == nullptr) {
    row("placed", "jobs_placed", std::ssize(now.placement));
  } else {
    row("run or start now", "jobs_now", content.in_time->jobs_now.value_or(0));
    row("start later", "jobs_later", content.in_time->jobs_later.value_or(0));
  }
  row("wait", "jobs_waiting", std::ssize(now.waiting));
  row("pinned", "jobs_pinned", std::ssize(model::pinned_jobs(now.instance.workload.tables())));
  if (content.file.required_missing && !content.file.required_missing->empty()) {
    row("required, but missing", "required_missing", std::ssize(*content.file.required_missing));
  }
  return table.text();
}

/// The name of a part of the gap as `gap_parts` of the file has it.
std::string cause(const std::string& key) {
  constexpr std::string_view kRegret = "regret of ", kIdle = "idle ";
  if (key.starts_with(kRegret)) {
    return "jobs: worth more than their place, sizes up to " + key.substr(kRegret.size());
  }
  if (key.starts_with(kIdle)) {
    const std::string type = key.substr(kIdle.size());
    return "GPUs idle or below their price: " + (type.empty() ? "machines without GPUs" : type);
  }
  if (key == "whole_jobs") return "choice of whole jobs";
  if (key == "leaves") return "cases that the plan is not in";
  for (const model::LimitRow& limit : model::kLimitRows) {
    if (key == limit.gap_key) return std::string(limit.title);
  }
  return key;
}

}  // namespace

std::string headline_section(const PageContent& content, std::span<const MachineUse> uses) {
  const PageFigures f = figures_of(content);
  std::string body = proof(f);
  body += fmt::format("<dl><div><dt>objective ({})</dt><dd>{}</dd></div>", html(f.kind),
                      figure("objective", f.objective, fmt::format("{:.10g}", f.objective)));
  body += fmt::format("<div><dt>{}</dt><dd>{}</dd></div></dl>\n",
                      f.minimised ? "no plan is below" : "no plan is above",
                      figure("bound", f.bound, fmt::format("{:.10g}", f.bound)));
  body += "<div class=\"columns\">" + gpu_table(uses) + job_counts(content) + "</div>";
  return section("headline", "The plan", body);
}

std::string gap_section(const PageContent& content) {
  constexpr double kShown = 5e-7;  // below this the gap is printed as 0.0000 %
  const model::RawFigures& f = content.file.figures;
  if (content.in_time != nullptr || !content.file.gap_parts || !(f.gap.value_or(0.0) >= kShown)) {
    return {};
  }
  const double whole = f.upper_bound.value_or(0.0) - f.objective.value_or(0.0);
  std::vector<std::pair<double, std::string>> parts;
  for (const auto& [key, amount] : content.file.gap_parts->amounts) {
    if (!key.starts_with("jobs of ") && std::abs(amount) >= 0.0005 * whole) {
      parts.emplace_back(-amount, key);
    }
  }
  std::ranges::sort(parts);
  HtmlTable table("Where the gap comes from", {"cause", "amount", "% of the gap", ""});
  for (const auto& [negative, key] : parts) {
    const double amount = -negative;
    table.add({html(cause(key)), figure("gap_parts." + key, amount, fmt::format("{:.6g}", amount)),
               fmt::format("{:.1f}", 100.0 * amount / whole), bar(amount / whole)});
  }
  const bool offset = !parts.empty() && parts.back().first > 0.0;
  return section("gap", "The gap by cause",
                 fmt::format("<p>What a better plan might still gain is at most the sum of these "
                             "parts{}.</p>\n",
                             offset ? ": negative ones offset the others" : "") +
                     table.text());
}

}  // namespace berth::report
