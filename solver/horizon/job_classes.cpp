// SPDX-License-Identifier: Apache-2.0
#include "horizon/job_classes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>
#include <unordered_map>

#include "berth/base/random.hpp"

namespace berth::solver::horizon_plan {
namespace {

using berth::horizon::CostPiece;
using berth::horizon::Job;
using berth::horizon::Option;
using berth::horizon::Problem;
using berth::horizon::Seconds;

class SimilarityKey {
 public:
  SimilarityKey(Seconds now, Seconds span, double tolerance)
      : now_(now),
        release_step_(std::max(1.0, static_cast<double>(span) * tolerance / 50.0)),
        log_step_(std::log1p(tolerance)) {}

  /// Equal numbers for similar jobs, in a fixed order.
  void write(const Problem& problem, const Job& job, std::vector<std::uint64_t>& key) const {
    key.clear();
    key.push_back(rounded(static_cast<double>(job.release - now_) / release_step_));
    key.push_back(static_cast<std::uint64_t>(job.deadline));
    key.push_back(job.required ? 1 : 0);
    for (const Option& option : problem.options_of(job)) {
      key.push_back(static_cast<std::uint64_t>(option.pools.value()));
      key.push_back(static_cast<std::uint64_t>(option.gpus));
      key.push_back(static_cast<std::uint64_t>(option.share_milli));
      key.push_back(static_cast<std::uint64_t>(option.rent));
      for (const std::int32_t q : problem.quotas_of(option)) key.push_back(1 + 2 * index(q));
      for (const std::int32_t b : problem.budgets_of(option)) key.push_back(2 + 2 * index(b));
      key.push_back(by_factor(option.duration));
      write_cost(problem.cost_of(option), job.release, key);
    }
  }

 private:
  static std::uint64_t index(std::int32_t i) { return static_cast<std::uint64_t>(i); }
  static std::uint64_t rounded(double x) { return static_cast<std::uint64_t>(std::llround(x)); }
  [[nodiscard]] std::uint64_t by_factor(Seconds span) const {
    if (span <= 0) return static_cast<std::uint64_t>(span);
    return rounded(std::log(static_cast<double>(span)) / log_step_);
  }

  /// First cost and last slope exactly, the time of the last change by factor; between them the
  /// shape, scaled to both, in eighths.
  void write_cost(std::span<const CostPiece> pieces, Seconds release,
                  std::vector<std::uint64_t>& key) const {
    const CostPiece& last = pieces.back();
    key.push_back(std::bit_cast<std::uint64_t>(pieces.front().cost));
    key.push_back(std::bit_cast<std::uint64_t>(last.slope));
    key.push_back(by_factor(last.after - release));
    const double span = std::max(1.0, static_cast<double>(last.after - release));
    const double worth = pieces.front().cost == 0.0 ? 1.0 : pieces.front().cost;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
      key.push_back(rounded(8.0 * static_cast<double>(pieces[i].after - release) / span));
      key.push_back(rounded(8.0 * pieces[i].cost / worth));
    }
  }

  Seconds now_;
  double release_step_;
  double log_step_;
};

struct HashOfKey {
  std::size_t operator()(const std::vector<std::uint64_t>& key) const {
    std::uint64_t hash = key.size();
    for (const std::uint64_t part : key) hash = mix64(hash ^ part);
    return hash;
  }
};

}  // namespace

std::vector<NearlyEqualJobs> merge_similar_jobs(const Problem& problem, Seconds span,
                                                double tolerance) {
  const SimilarityKey similarity(problem.now, span, tolerance);
  std::unordered_map<std::vector<std::uint64_t>, std::size_t, HashOfKey> class_of;
  std::vector<NearlyEqualJobs> classes;
  std::vector<std::uint64_t> key;
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    similarity.write(problem, problem.jobs[j], key);
    const auto [found, inserted] = class_of.try_emplace(key, classes.size());
    if (inserted) {
      classes.push_back({.job = JobId(j)});
    } else {
      ++classes[found->second].count;
    }
  }
  return classes;
}

}  // namespace berth::solver::horizon_plan
