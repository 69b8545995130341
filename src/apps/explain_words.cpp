// SPDX-License-Identifier: Apache-2.0
#include "explain_words.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"
#include "berth/base/similar.hpp"
#include "berth/base/wrapped.hpp"
#include "berth/report/plan_difference.hpp"

namespace berth::apps {

JobId job_named(const model::Instance& instance, const std::string& name) {
  const NameTable& names = instance.workload.job_names;
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (names[j] == name) return JobId(j);
  }
  std::vector<std::string> known;
  for (std::size_t j = 0; j < names.size(); ++j) known.emplace_back(names[j]);
  throw InputError({.file = "", .line = 0, .field = "--job"},
                   fmt::format("no job has the id {}", printable(name)), did_you_mean(name, known));
}

const model::RawUnplacedJob* find_waiting(const model::Instance& instance, const ReadPlan& plan,
                                          JobId job) {
  const auto at = std::ranges::find(plan.file.waiting, instance.workload.job_names[job.index()],
                                    &model::RawUnplacedJob::job);
  return at == plan.file.waiting.end() ? nullptr : &*at;
}

std::string state_text(const model::Instance& instance, const ReadPlan& plan, JobId job) {
  const auto& workload = instance.workload;
  if (workload.pinned(workload.job(job))) return "pinned: no plan moves it";
  const auto placed = std::ranges::lower_bound(plan.placement, job, {}, &model::JobPlacement::job);
  constexpr std::size_t kPlaces = 60;
  if (placed != plan.placement.end() && placed->job == job) {
    return "placed on " + report::places(instance.cluster, *placed, kPlaces);
  }
  const model::RawUnplacedJob* const waits = find_waiting(instance, plan, job);
  return "waits: " +
         (waits == nullptr ? std::string("the plan does not say why") : printable(waits->reason));
}

std::string name_of(const model::Instance& instance, JobId job) {
  return printable(instance.workload.job_names[job.index()]);
}

void print_head(const std::string& text) { fmt::print("{}\n", wrapped(text, 2)); }

}  // namespace berth::apps
