// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/job_bests.hpp"

#include "job_options.hpp"
#include "job_value.hpp"
#include "pricing.hpp"
#include "task_sets.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

/// Members of a set ahead of the present one whose records are fetched: they lie far apart, and of
/// millions of jobs outside every cache. Chosen, not tuned.
constexpr std::size_t kAhead = 16;

template <class T>
void prefetch(const T& record) {
  constexpr std::size_t kLine = 64;
  const auto* const bytes = reinterpret_cast<const char*>(&record);
  for (std::size_t at = 0; at < sizeof(T); at += kLine) __builtin_prefetch(bytes + at);
}

}  // namespace

JobBests job_bests(const model::InstanceView& instance, model::Objective objective,
                   const model::Certificate& certificate, const JobFacts& facts,
                   std::span<const JobId> jobs) {
  const Pricing pricing(instance, objective, certificate, facts);
  const TaskSets sets(instance, jobs, pricing.price_table.place_limits().constrain_rings());
  JobBests found{.best = std::vector<JobBest>(jobs.size())};
  std::vector<std::uint8_t> integral(sets.pieces());
  std::vector<std::vector<StayOption>> stays(sets.pieces());
  parallel::run_tasks(sets.pieces(), [&](std::size_t p) {
    const TaskSets::Members members = sets.piece(p);
    JobOptions options(pricing, *members.front().job);
    for (std::size_t m = 0; m < members.size(); ++m) {
      if (m + kAhead < members.size()) {
        prefetch(*members[m + kAhead].job);
        prefetch(found.best[members[m + kAhead].index]);
      }
      const auto [job, i] = members[m];
      JobOptions::Best one = options.best(*job);
      found.best[i] = one.best;
      if (!one.stay) continue;
      one.stay->index = i;
      stays[p].push_back(std::move(*one.stay));
    }
    integral[p] = options.integral() ? 1 : 0;
  });
  found.integral = std::ranges::all_of(integral, [](std::uint8_t whole) { return whole != 0; });
  for (std::vector<StayOption>& some : stays)
    std::ranges::move(some, std::back_inserter(found.stays));
  std::ranges::sort(found.stays, {}, &StayOption::index);
  return found;
}

Int128 StayOption::task_prices() const {
  Int128 sum = 0;
  for (const StayItem& item : tasks) sum += item.task_prices;
  return sum;
}

std::optional<StayOffer> stay_offer(const StayOption& stay, bool must) {
  if (must && !stay.elsewhere) return std::nullopt;
  StayOffer offer{
      .others = must ? *stay.elsewhere : std::max<Int128>(0, stay.elsewhere.value_or(0)),
      .items = stay.tasks};
  Int128 beyond = stay.earns - offer.others - stay.task_prices();
  if (beyond <= 0) return std::nullopt;
  auto machines = static_cast<Int128>(offer.items.size());
  for (StayItem& item : offer.items) {  // equal parts, of any size: they sum to what it earns
    const Int128 part = beyond / machines--;
    item.pays = item.task_prices + part;
    beyond -= part;
  }
  return offer;
}

JobTerms& JobTerms::operator+=(const JobTerms& others) {
  net += others.net;
  gross += others.gross;
  integral = integral && others.integral;
  choices.insert(choices.end(), others.choices.begin(), others.choices.end());
  stays.insert(stays.end(), others.stays.begin(), others.stays.end());
  return *this;
}

namespace {

/// Adds a job that may be placed in its home rack.
void add_at_home(const JobBest& best, JobChoice choice, JobTerms& sum) {
  if (best.net || !choice.must) {
    const Int128 elsewhere = choice.must ? *best.net : std::max<Int128>(0, best.net.value_or(0));
    sum.net += elsewhere;
    choice.net = *best.home - elsewhere;
    choice.must = false;
    if (choice.net <= 0) return;
  } else {
    choice.net = *best.home;
  }
  sum.choices.push_back(choice);
}

}  // namespace

JobTerms job_terms(const model::InstanceView& instance, const model::Certificate& certificate,
                   std::span<const JobId> jobs, const JobBests& bests,
                   std::span<const JobId> required_placed) {
  BERTH_EXPECT(bests.best.size() == jobs.size());
  std::vector<bool> must(instance.workload.size(), false), own_price(must.size(), false);
  for (const JobId job : required_placed) must[job.index()] = true;
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;
  JobTerms sum{.integral = bests.integral};
  auto stay = bests.stays.begin();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const std::size_t j = jobs[i].index();
    const JobBest& best = bests.best[i];
    std::optional<StayOffer> offer;
    if (stay != bests.stays.end() && stay->index == i) offer = stay_offer(*stay++, must[j]);
    // a required job without an option: no plan places it, so any amount is a bound
    if (!best.gross) continue;
    const model::Job& job = instance.workload.job(jobs[i]);
    JobChoice choice{.job = jobs[i],
                     .milli = milli_of(instance.workload, job),
                     .queue = job.queue,
                     .home = job.home_rack,
                     .must = must[j]};
    if (certificate.whole_jobs.in_cluster() && choice.milli > 0) {
      choice.net = offer ? offer->others : *best.net;
      sum.choices.push_back(choice);
      if (offer) std::ranges::move(offer->items, std::back_inserter(sum.stays));
    } else if (best.home) {
      add_at_home(best, choice, sum);
    } else if (offer) {
      sum.net += offer->others;
      std::ranges::move(offer->items, std::back_inserter(sum.stays));
    } else if (!own_price[j]) {
      sum.net += must[j] ? *best.net : std::max<Int128>(0, *best.net);
    }
    sum.gross += must[j] ? *best.gross : std::max<Int128>(0, *best.gross);
  }
  return sum;
}

}  // namespace berth::certify
