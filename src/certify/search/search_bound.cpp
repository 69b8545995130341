// SPDX-License-Identifier: Apache-2.0
#include "search/search_bound.hpp"

#include "exact.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace berth::certify::search {
namespace {

using model::Level;

constexpr double kFirstLevel = 0.05;  ///< first target of the steps below the bound; not tuned
constexpr int kPatience = 8;          ///< steps without gain before the level is halved; not tuned
constexpr std::uint32_t kMarks = kPodMark | kRackMark;

}  // namespace

SearchBound::SearchBound(const SearchProblem& problem, const MachineStates& states)
    : problem_(problem),
      states_(states),
      types_(problem.instance().cluster.gpu_types.size() + 1),
      quotas_(problem.quotas()) {
  for (const TaskKind& kind : problem.kinds()) {
    const auto milli = problem.instance().workload.shape(kind.shape).total_milli();
    const double gpus = milli > 0 ? static_cast<double>(milli) / 1000.0 : 0.1;
    size_.insert(size_.end(), types_, gpus);
  }
  const std::vector<double> none(size_.size(), 0.0), no_quota(quotas_.size(), 0.0);
  vectors_.push_back(rounded({none, no_quota}));  // the last jobs often all fit
  last_ = first_prices();
}

double SearchBound::real(Int128 amount) const {
  return std::ldexp(static_cast<double>(amount), -problem_.scale_log2());
}

/// One price per GPU: the value density at which the jobs fill all GPUs.
SearchBound::Prices SearchBound::first_prices() const {
  struct Density {
    double value, milli;
  };
  std::vector<Density> jobs;
  for (const SearchedJob& job : problem_.jobs()) {
    Int128 most = 0;
    for (const auto& c : job.choices) most = std::max(most, c.most);
    if (job.milli > 0)
      jobs.push_back({real(most) / static_cast<double>(job.milli), static_cast<double>(job.milli)});
  }
  std::ranges::sort(jobs, [](const Density& a, const Density& b) { return a.value > b.value; });
  double left = static_cast<double>(model::kGpuMilli * problem_.instance().cluster.gpus());
  double density = 0.0;
  for (const Density& job : jobs) {
    left -= job.milli;
    if (left < 0.0) {
      density = job.value;
      break;
    }
  }
  Prices prices{std::vector<double>(size_.size(), 0.0), std::vector<double>(quotas_.size(), 0.0)};
  for (std::size_t r = 0; r < size_.size(); ++r) {
    const auto& shape = problem_.instance().workload.shape(problem_.kinds()[r / types_].shape);
    prices.task[r] = density * static_cast<double>(shape.total_milli());
  }
  return prices;
}

void SearchBound::add_machines(const Situation& at, const Prices& prices,
                               DualEvaluation& sum) const {
  std::vector<double> value(states_.size(), 0.0);
  std::vector<const MachineStates::Fill*> choice(states_.size(), nullptr);
  for (const StateId s : states_.fullest_first()) {
    for (const MachineStates::Fill& fill : states_.fills(s)) {
      const double with = prices.task[row(fill.kind, states_.type(s))] + value[fill.next];
      if (with > value[s]) value[s] = with, choice[s] = &fill;
    }
  }
  for (const std::uint32_t word : at.room) {
    if ((word & kMarks) != 0) continue;
    sum.value += value[word];
    for (StateId s = word; choice[s] != nullptr; s = choice[s]->next) {
      sum.slope.task[row(choice[s]->kind, states_.type(s))] += 1.0;
    }
  }
}

void SearchBound::add_job(const SearchedJob& job, const Prices& prices, DualEvaluation& sum) const {
  double best = job.required ? -std::numeric_limits<double>::infinity() : 0.0;
  const SearchedJob::Choice* chosen = nullptr;
  // Tasks without GPUs pay the least price of the types that the job may use.
  const auto cheapest = [&](const SearchedJob::Group& g, GpuTypeId type) {
    if (problem_.instance().workload.shape(problem_.kinds()[g.kind].shape).uses_gpu())
      return row(g.kind, type);
    std::size_t least = row(g.kind, GpuTypeId{});
    if (!problem_.kinds()[g.kind].without_gpu) least = row(g.kind, GpuTypeId(0));
    for (std::size_t r = g.kind * types_; r < (g.kind + 1) * types_; ++r) {
      if (prices.task[r] < prices.task[least]) least = r;
    }
    return least;
  };
  for (const SearchedJob::Choice& choice : job.choices) {
    double profit = real(choice.most);
    for (const auto& g : job.groups) profit -= g.count * prices.task[cheapest(g, choice.type)];
    for (const std::size_t q : job.queues)
      profit -= prices.quota[q] * static_cast<double>(job.milli);
    if (profit > best) best = profit, chosen = &choice;
  }
  if (chosen == nullptr) return;
  sum.value += best;
  for (const auto& g : job.groups) sum.slope.task[cheapest(g, chosen->type)] -= g.count;
  for (const std::size_t q : job.queues) sum.slope.quota[q] -= static_cast<double>(job.milli);
}

SearchBound::DualEvaluation SearchBound::evaluate(const Situation& at, const Prices& prices) const {
  DualEvaluation sum{
      0.0, {std::vector<double>(size_.size(), 0.0), std::vector<double>(quotas_.size(), 0.0)}};
  add_machines(at, prices, sum);
  for (std::size_t q = 0; q < quotas_.size(); ++q) {
    if (!quotas_[q]) continue;
    const auto left = static_cast<double>(std::max<std::int64_t>(0, *quotas_[q] - at.used[q]));
    sum.value += prices.quota[q] * left;
    sum.slope.quota[q] += left;
  }
  for (std::size_t j = at.depth; j < problem_.jobs().size(); ++j) {
    const SearchedJob& job = problem_.jobs()[j];
    if (may_fit(job, at)) add_job(job, prices, sum);
  }
  return sum;
}

void SearchBound::add_prices(const Situation& at, int steps) {
  Prices prices = last_, best = last_;
  double least = std::numeric_limits<double>::infinity(), level = 0.0;
  int stalled = 0;
  for (int k = 0; k < steps; ++k) {
    const DualEvaluation now = evaluate(at, prices);
    if (k == 0) level = kFirstLevel * std::abs(now.value);
    if (now.value < least) {
      if (now.value < least - 0.1 * level) stalled = 0;
      least = now.value, best = prices;
    }
    if (++stalled > kPatience) level /= 2.0, stalled = 0, prices = best;
    // Polyak's step to `least - level`, by row in units of the task's GPUs
    double square = 0.0;
    for (std::size_t r = 0; r < size_.size(); ++r) {
      if (prices.task[r] > 0.0 || now.slope.task[r] < 0.0)
        square += std::pow(size_[r] * now.slope.task[r], 2);
    }
    for (std::size_t q = 0; q < quotas_.size(); ++q)
      square += std::pow(now.slope.quota[q] / 1000.0, 2);
    if (square <= 0.0) break;
    const double step = (now.value - least + level) / square;
    for (std::size_t r = 0; r < size_.size(); ++r) {
      prices.task[r] =
          std::max(0.0, prices.task[r] - step * size_[r] * size_[r] * now.slope.task[r]);
    }
    for (std::size_t q = 0; q < quotas_.size(); ++q) {
      double& price = prices.quota[q];
      price = std::max(0.0, price - step * now.slope.quota[q] / 1e6);
      if (const auto penalty = problem_.penalty(q, 1000))
        price = std::min(price, real(*penalty) / 1000.0);
    }
  }
  vectors_.push_back(rounded(best));
  last_ = std::move(best);
}

SearchBound::PriceVector SearchBound::rounded(const Prices& prices) const {
  PriceVector vector;
  std::vector<Int128> task;
  for (const double p : prices.task) task.push_back(fixed_down(p, problem_.scale_log2()));
  for (const double p : prices.quota) vector.quota.push_back(fixed_down(p, problem_.scale_log2()));
  for (std::size_t q = 0; q < quotas_.size(); ++q) {
    // not above a soft quota's penalty, whatever was rounded
    if (const auto penalty = problem_.penalty(q, model::kGpuMilli)) {
      vector.quota[q] = std::min(vector.quota[q], *penalty / model::kGpuMilli);
    }
  }
  vector.value.assign(states_.size(), 0);
  for (const StateId s : states_.fullest_first()) {
    for (const MachineStates::Fill& fill : states_.fills(s)) {
      vector.value[s] = std::max(vector.value[s],
                                 task[row(fill.kind, states_.type(s))] + vector.value[fill.next]);
    }
  }
  for (const SearchedJob& job : problem_.jobs())
    vector.profit.push_back(profit_of(job, task, vector.quota));
  return vector;
}

Int128 SearchBound::profit_of(const SearchedJob& job, std::span<const Int128> task,
                              std::span<const Int128> quota) const {
  Int128 best = job.required ? -kImpossible : 0;
  for (const SearchedJob::Choice& choice : job.choices) {
    Int128 profit = choice.most;
    for (const auto& g : job.groups) {
      const bool gpu =
          problem_.instance().workload.shape(problem_.kinds()[g.kind].shape).uses_gpu();
      const auto rows = task.subspan(g.kind * types_, types_);
      profit -= g.count * (gpu ? task[row(g.kind, choice.type)] : *std::ranges::min_element(rows));
    }
    for (const std::size_t q : job.queues) profit -= quota[q] * job.milli;
    best = std::max(best, profit);
  }
  return best;
}

bool SearchBound::may_fit(const SearchedJob& job, const Situation& at) const {
  for (const std::size_t q : job.queues) {
    if (!problem_.penalty(q, 1) && at.used[q] + job.milli > *quotas_[q]) return false;
  }
  return std::ranges::any_of(job.choices, [&](const SearchedJob::Choice& choice) {
    // some machine, rack, pod or the cluster has room for each group
    std::vector<std::int64_t> missing(job.groups.size(), 0);
    const auto start = [&] {
      for (std::size_t g = 0; g < missing.size(); ++g) missing[g] = job.groups[g].count;
    };
    const auto enough = [&] { return std::ranges::all_of(missing, [](auto m) { return m <= 0; }); };
    start();
    for (const std::uint32_t word : at.room) {
      const bool pod = (word & kPodMark) != 0, rack = !pod && (word & kRackMark) != 0;
      if ((pod && job.domain <= Level::pod) || (rack && job.domain <= Level::rack)) start();
      if (pod || rack) continue;
      if (job.domain == Level::machine || job.one_task) start();
      for (std::size_t g = 0; g < missing.size(); ++g) {
        const KindId kind = job.groups[g].kind;
        const bool gpu =
            problem_.instance().workload.shape(problem_.kinds()[kind].shape).uses_gpu();
        if (!gpu || states_.type(word) == choice.type) missing[g] -= states_.most(word, kind);
      }
      if (enough()) return true;
    }
    return false;
  });
}

std::optional<Int128> SearchBound::bound(const Situation& at, std::size_t first) const {
  std::vector<Int128> sums(vectors_.size() - first, 0);
  for (std::size_t v = first; v < vectors_.size(); ++v) {
    for (const std::uint32_t word : at.room) {
      if ((word & kMarks) == 0) sums[v - first] += vectors_[v].value[word];
    }
    for (std::size_t q = 0; q < quotas_.size(); ++q) {
      if (!quotas_[q]) continue;
      sums[v - first] += vectors_[v].quota[q] * std::max<std::int64_t>(0, *quotas_[q] - at.used[q]);
    }
  }
  for (std::size_t j = at.depth; j < problem_.jobs().size(); ++j) {
    const SearchedJob& job = problem_.jobs()[j];
    if (!may_fit(job, at)) {
      if (job.required) return std::nullopt;
      continue;
    }
    for (std::size_t v = first; v < vectors_.size(); ++v) sums[v - first] += vectors_[v].profit[j];
  }
  return *std::ranges::min_element(sums);
}

}  // namespace berth::certify::search
