// SPDX-License-Identifier: Apache-2.0
#include "explain_in_time.hpp"

#include "explain_words.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "berth/base/span_text.hpp"
#include "berth/base/wrapped.hpp"
#include "berth/explain/explain.hpp"
#include "berth/explain/in_time.hpp"
#include "berth/pipeline/horizon_changes.hpp"

namespace berth::apps {
namespace {

/// The changes that would let a waiting job start, in words; else when it fits.
void print_changes(const model::Instance& instance, const model::RawHorizonPlan& in_time, JobId job,
                   const model::RawUnplacedJob& waits, pipeline::HorizonChanges& search) {
  const std::vector<pipeline::TimedChange> changes = search.of(job);
  if (changes.empty() && waits.earliest_start) {
    fmt::print("  fits beside the plan from {} on, {} from now\n", *waits.earliest_start,
               span_text(std::max<std::int64_t>(0, *waits.earliest_start - in_time.now)));
  }
  if (!changes.empty()) fmt::print("  any of these lets it start beside the others:\n");
  const model::Horizon horizon{.now = in_time.now, .length = in_time.length};
  for (const pipeline::TimedChange& change : changes) {
    fmt::print("{}\n", wrapped("    " + pipeline::text(instance, horizon, job, change), 6));
  }
}

}  // namespace

void explain_in_time(const model::Instance& instance, const ReadPlan& plan,
                     const model::RawHorizonPlan& in_time, const std::vector<JobId>& jobs) {
  const explain::PlannedStarts starts(instance, in_time);
  pipeline::HorizonChanges search(instance, in_time);
  for (const JobId job : jobs) {
    const auto start = starts.of(job);
    print_head(start ? name_of(instance, job)
                     : name_of(instance, job) + " " + state_text(instance, plan, job));
    fmt::print("{}", explain::needs_text(instance, job));
    if (start) fmt::print("{}", explain::text(instance, in_time.now, *start));
    const model::RawUnplacedJob* const waits = find_waiting(instance, plan, job);
    if (waits != nullptr) print_changes(instance, in_time, job, *waits, search);
    fmt::print("\n");
  }
}

std::vector<JobId> in_order_of_start(const model::Instance& instance,
                                     const model::RawHorizonPlan& in_time) {
  std::vector<std::pair<std::int64_t, std::string_view>> order;
  for (const model::RawPlacement& placed : in_time.plan.placements) {
    order.emplace_back(placed.start, placed.job);
  }
  std::ranges::sort(order);
  std::map<std::string_view, JobId> ids;
  const NameTable& names = instance.workload.job_names;
  for (std::size_t j = 0; j < names.size(); ++j) ids.emplace(names[j], JobId(j));
  std::vector<JobId> jobs;
  for (const auto& [start, name] : order) {
    if (const auto at = ids.find(name); at != ids.end()) jobs.push_back(at->second);
  }
  return jobs;
}

}  // namespace berth::apps
