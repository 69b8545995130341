// SPDX-License-Identifier: Apache-2.0
#include "horizon/reinsertion.hpp"

#include "horizon/start_prices.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "berth/base/random.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::Job;
using berth::horizon::Option;
using berth::horizon::PlanBuilder;
using berth::horizon::Problem;
using berth::horizon::RemovedJob;

enum class RemovalDraw : std::uint64_t { seed_job, size, key, shuffle, rule };

class Reinsertion {
 public:
  Reinsertion(ListPlanner& planner, const PricedTime& prices, const std::vector<double>& regrets,
              const ReinsertionOptions& options)
      : planner_(planner),
        built_(planner.built()),
        problem_(built_.problem()),
        prices_(prices),
        options_(options) {
    cumulative_.reserve(regrets.size());
    double sum = 0.0;
    for (const double regret : regrets) cumulative_.push_back(sum += regret);
    for (const Job& job : problem_.jobs) weight_.push_back(cost_range(problem_, job, kLongDelay));
    for (std::size_t j = 0; j < problem_.jobs.size(); ++j) by_start_.emplace_back(j);
    sort_by_start();
  }

  double run(const StopToken& stop) {
    if (cumulative_.empty() || cumulative_.back() <= 0.0) return 0.0;
    double gain = 0.0;
    for (std::int64_t i = 0; i < options_.tries && !stop.requested(); ++i) {
      if (gain >= options_.enough) break;
      const double found = try_once(static_cast<std::uint64_t>(i));
      gain += found;
      changes_ += found != 0.0 ? 1 : 0;
      if (changes_ < kChangesBeforeSort) continue;
      sort_by_start();
      changes_ = 0;
    }
    return gain;
  }

 private:
  /// Neighbours are found in an order by start that may be a few changes old.
  static constexpr int kChangesBeforeSort = 10;

  void sort_by_start() {
    std::ranges::sort(by_start_, {},
                      [&](JobId job) { return std::pair(built_.start_of(job).start, job); });
    position_.resize(by_start_.size());
    for (std::size_t i = 0; i < by_start_.size(); ++i) position_[by_start_[i].index()] = i;
  }

  [[nodiscard]] std::uint64_t draw(RemovalDraw what, std::uint64_t turn,
                                   std::uint64_t bound) const {
    return random_below(bound, {options_.seed, static_cast<std::uint64_t>(what), turn});
  }

  /// The jobs around the drawn one in the order of starts.
  std::vector<JobId> neighbourhood(std::uint64_t turn) const {
    const double at =
        cumulative_.back() *
        random_unit({options_.seed, static_cast<std::uint64_t>(RemovalDraw::seed_job), turn});
    const auto found = std::ranges::upper_bound(cumulative_, at);
    const auto job =
        std::min(static_cast<std::size_t>(found - cumulative_.begin()), cumulative_.size() - 1);
    const std::size_t size =
        options_.least + draw(RemovalDraw::size, turn, options_.most - options_.least + 1);
    const std::size_t first = position_[job] - std::min(position_[job], size / 2);
    const std::size_t last = std::min(first + size, by_start_.size());
    return {by_start_.begin() + static_cast<std::ptrdiff_t>(first),
            by_start_.begin() + static_cast<std::ptrdiff_t>(last)};
  }

  [[nodiscard]] double work(JobId id) const {
    const Option& option = problem_.options_of(problem_.jobs[id.index()]).front();
    return gpus_of(option) * static_cast<double>(option.duration);
  }

  void order(std::vector<JobId>& jobs, std::uint64_t turn) const {
    const std::uint64_t key = draw(RemovalDraw::key, turn, 4);
    const auto value = [&](JobId job) {
      switch (key) {
        case 0:  // by the starts before, with some noise
          return static_cast<double>(position_[job.index()]) +
                 4.0 * random_unit({options_.seed, static_cast<std::uint64_t>(RemovalDraw::shuffle),
                                    turn, job.index()});
        case 1:
          return -gpus_of(problem_.options_of(problem_.jobs[job.index()]).front());
        case 2:
          return -weight_[job.index()] / std::max(1.0, work(job));
        default:
          return random_unit(
              {options_.seed, static_cast<std::uint64_t>(RemovalDraw::shuffle), turn, job.index()});
      }
    };
    std::ranges::stable_sort(jobs, {}, value);
  }

  [[nodiscard]] double threshold(std::uint64_t turn) const {
    const double left = 1.0 - static_cast<double>(turn) / static_cast<double>(options_.tries);
    return options_.threshold * left;
  }

  double try_once(std::uint64_t turn) {
    std::vector<JobId> jobs = neighbourhood(turn);
    double before = 0.0, after = 0.0;
    std::vector<RemovedJob> removed;
    for (const JobId job : jobs) {
      if (!built_.start_of(job).placed()) continue;
      before += built_.cost_of(job);
      removed.push_back(built_.remove(job));
    }
    order(jobs, turn);
    if (!planner_.dependencies().empty()) jobs = planner_.dependencies().ordered(jobs);
    const auto rule =
        draw(RemovalDraw::rule, turn, 2) == 0 ? PlaceRule::earliest : PlaceRule::priced;
    bool complete = true;
    for (const JobId job : jobs) {
      planner_.place(job, rule, prices_);
      const bool placed = built_.start_of(job).placed();
      const bool waits = !problem_.jobs[job.index()].required && planner_.may_wait(job);
      complete = complete && (placed || waits);
      after += built_.cost_of(job);
    }
    if (complete && after <= before + threshold(turn)) return before - after;
    for (const JobId job : jobs) {
      if (built_.start_of(job).placed()) (void)built_.remove(job);
    }
    for (RemovedJob& job : removed) built_.restore(std::move(job));
    return 0.0;
  }

  ListPlanner& planner_;
  PlanBuilder& built_;
  const Problem& problem_;
  const PricedTime& prices_;
  const ReinsertionOptions& options_;
  std::vector<double> cumulative_;  ///< regrets, by JobId
  std::vector<double> weight_;      ///< by JobId: cost of a long delay
  std::vector<JobId> by_start_;
  std::vector<std::size_t> position_;  ///< by JobId, in by_start_
  int changes_ = 0;
};

}  // namespace

double reinsert(ListPlanner& planner, const PricedTime& prices, const std::vector<double>& regrets,
                const ReinsertionOptions& options, const StopToken& stop) {
  return Reinsertion(planner, prices, regrets, options).run(stop);
}

}  // namespace berth::solver::horizon_plan
