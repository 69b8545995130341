// SPDX-License-Identifier: Apache-2.0
#include "conservative_policy.hpp"
#include "drf_policy.hpp"
#include "fgd_policy.hpp"
#include "list_policy.hpp"
#include "preemptive_policy.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/error.hpp"
#include "berth/base/similar.hpp"
#include "berth/policy/policy.hpp"

namespace berth::policy {
namespace {

double by_arrival(const State&, JobId) { return 0.0; }

double by_duration(const State& state, JobId job) {
  return static_cast<double>(state.remaining(job)) / state.demand(job).speeds.front();
}

/// GPU-time for a unit of weight (Smith 1956).
double by_weighted_work(const State& state, JobId job) {
  const double weight = state.job(job).weight;
  if (weight <= 0.0) return std::numeric_limits<double>::infinity();
  return by_duration(state, job) * state.demand(job).gpus() / weight;
}

using Made = std::unique_ptr<Policy>;

constexpr PolicyRow kTable[] = {
    {"fifo", "order of arrival; no job passes another", false, false,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_arrival, PassRule::wait);
     }},
    {"best-fit", "order of arrival; every job that fits starts", false, false,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_arrival, PassRule::pass);
     }},
    {"easy", "order of arrival; jobs pass that do not delay the first (EASY backfill)", false, true,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_arrival, PassRule::backfill);
     }},
    {"conservative", "order of arrival; jobs pass that delay no other (conservative backfill)",
     false, true, [](const PolicyOptions&) -> Made { return std::make_unique<Conservative>(); }},
    {"sjf", "shortest job first; every job that fits starts", false, true,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_duration, PassRule::pass);
     }},
    {"sjf-backfill", "shortest job first; jobs pass that do not delay the first", false, true,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_duration, PassRule::backfill);
     }},
    {"wspt", "least GPU-time for its weight first; every job that fits starts", false, true,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_weighted_work, PassRule::pass);
     }},
    {"wspt-backfill", "least GPU-time for its weight first; jobs pass that do not delay the first",
     false, true,
     [](const PolicyOptions&) -> Made {
       return std::make_unique<ListPolicy>(by_weighted_work, PassRule::backfill);
     }},
    {"srtf", "shortest remaining time first; stops running jobs", true, true,
     [](const PolicyOptions&) -> Made { return std::make_unique<Srtf>(); }},
    {"srsf", "least remaining GPU-time first; stops running jobs", true, true,
     [](const PolicyOptions&) -> Made { return std::make_unique<Srsf>(); }},
    {"las", "least attained GPU-time first, in queues (Tiresias); stops running jobs", true, false,
     [](const PolicyOptions& options) -> Made {
       return std::make_unique<Las>(options.las_thresholds);
     }},
    {"drf", "least dominant share of a queue first (DRF); every job that fits starts", false, false,
     [](const PolicyOptions&) -> Made { return std::make_unique<DominantResourceFairness>(); }},
    {"fgd", "order of arrival, where fragmentation grows least (FGD); every job that fits starts",
     false, false, [](const PolicyOptions&) -> Made { return std::make_unique<Fgd>(); }},
};

}  // namespace

std::span<const PolicyRow> policy_table() { return kTable; }

const PolicyRow& policy_row(std::string_view name) {
  const auto at = std::ranges::find(kTable, name, &PolicyRow::name);
  if (at != std::end(kTable)) return *at;
  std::vector<std::string> known;
  for (const PolicyRow& row : kTable) known.emplace_back(row.name);
  throw InputError({.file = "", .line = 0, .field = "policy"},
                   "no policy \"" + std::string(name) + "\"", did_you_mean(name, known));
}

}  // namespace berth::policy
