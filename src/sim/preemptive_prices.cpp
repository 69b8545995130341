// SPDX-License-Identifier: Apache-2.0
#include "cheapest_seconds.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "berth/parallel/loops.hpp"
#include "berth/sim/offline_bound.hpp"

namespace berth::sim {
namespace {

using horizon::Problem;

constexpr std::size_t kBlock = 256;  ///< jobs
/// Rules of the steps; chosen on two windows of Philly and on gangs. All choices that were tried
/// ended within 0.1 %.
constexpr double kMomentum = 0.6;
constexpr double kStep = 0.7;
constexpr double kFirstGain = 0.1;  ///< of the bound
constexpr double kLastGain = 1e-5;
constexpr double kShrink = 0.7;
constexpr double kGrow = 1.5;
constexpr int kPatience = 12;

/// Half of the nodes in equal steps, half between quantiles of the releases.
std::vector<double> nodes_of(const Problem& problem, horizon::Seconds end, int intervals) {
  std::vector<horizon::Seconds> releases;
  for (const auto& job : problem.jobs) releases.push_back(job.release);
  std::ranges::sort(releases);
  end = std::max({end, releases.back() + 1, problem.now + 1});
  std::set<double> nodes{static_cast<double>(problem.now), static_cast<double>(end)};
  const int half = intervals / 2;
  const auto span = static_cast<double>(end - problem.now);
  for (int i = 1; i < half; ++i) {
    nodes.insert(std::floor(static_cast<double>(problem.now) + span * i / half));
    const std::size_t at = releases.size() * static_cast<std::size_t>(i);
    nodes.insert(static_cast<double>(releases[at / static_cast<std::size_t>(half)]));
  }
  return {nodes.begin(), nodes.end()};
}

/// The dual over prices, and a supergradient of it: what jobs buy less what there is.
class PreemptiveDual {
 public:
  PreemptiveDual(const Problem& problem, const std::vector<double>& nodes) : problem_(problem) {
    const std::size_t intervals = nodes.size() - 1;
    capacity_.assign(problem.curves * intervals, 0.0);
    for (const horizon::Pool& pool : problem.pools) {
      const auto gpus = static_cast<double>(pool.capacity.front().gpus);
      for (std::size_t k = 0; k < intervals; ++k) {
        capacity_[pool.curve.index() * intervals + k] += gpus * (nodes[k + 1] - nodes[k]);
      }
    }
  }

  /// Sums over blocks of jobs in order: equal bits on any number of threads.
  double evaluate(const StepPrices& prices, std::vector<double>& gradient) const {
    const std::size_t blocks = (problem_.jobs.size() + kBlock - 1) / kBlock;
    std::vector<double> values(blocks, 0.0);
    std::vector<std::vector<double>> uses(blocks);
    const auto add_block = [&](std::size_t block, std::size_t begin, std::size_t end) {
      CheapestSeconds seconds(problem_, prices);
      uses[block].assign(capacity_.size(), 0.0);
      for (std::size_t j = begin; j < end; ++j) {
        if (problem_.jobs[j].options.size() == 0) continue;
        values[block] += seconds.find(problem_.jobs[j]);
        seconds.add_use(uses[block]);
      }
    };
    parallel::sweep_blocks(problem_.jobs.size(), kBlock, add_block);
    double value = 0.0;
    for (const double of_block : values) value += of_block;
    gradient.assign(capacity_.size(), 0.0);
    for (std::size_t i = 0; i < capacity_.size(); ++i) {
      for (const auto& use : uses) gradient[i] += use[i];
      gradient[i] -= capacity_[i];
      value -= capacity_[i] * prices.price[i];
    }
    return value;
  }
  [[nodiscard]] const std::vector<double>& capacity() const { return capacity_; }

 private:
  const Problem& problem_;
  std::vector<double> capacity_;  ///< GPU-seconds: [curve * intervals + interval]
};

/// Supergradient steps with a level that the bound is expected to reach (Polyak 1969), in units of
/// each interval's capacity, with momentum.
void maximise(const PreemptiveDual& dual, StepPrices& best, int iterations) {
  StepPrices at = best;
  std::vector<double> gradient, step(best.price.size(), 0.0);
  double best_value = dual.evaluate(at, gradient), value = best_value;
  double gain = kFirstGain * best_value;
  int idle = 0;
  for (int i = 0; i < iterations && gain > kLastGain * best_value; ++i) {
    double slope = 0.0;
    for (std::size_t c = 0; c < step.size(); ++c) {
      if (dual.capacity()[c] <= 0.0) continue;
      const bool held = at.price[c] <= 0.0 && gradient[c] < 0.0;
      const double uphill = held ? 0.0 : gradient[c];
      step[c] = kMomentum * step[c] + uphill / dual.capacity()[c];
      slope += uphill * step[c];
    }
    if (slope > 0.0) {
      const double length = kStep * std::max(0.0, best_value + gain - value) / slope;
      for (std::size_t c = 0; c < step.size(); ++c) {
        at.price[c] = std::max(0.0, at.price[c] + length * step[c]);
      }
      value = dual.evaluate(at, gradient);
    }
    idle = value > best_value + 0.05 * gain ? 0 : idle + 1;
    if (value > best_value + 0.3 * gain) gain *= kGrow;
    if (value > best_value) {
      best_value = value;
      best = at;
    }
    if (slope > 0.0 && idle < kPatience) continue;
    idle = 0;
    gain *= kShrink;
    at = best;
    std::ranges::fill(step, 0.0);
    value = dual.evaluate(at, gradient);
  }
}

}  // namespace

horizon::PriceCertificate preemptive_prices(const Problem& problem, horizon::Seconds end,
                                            const PreemptivePriceOptions& options) {
  horizon::PriceCertificate certificate;
  if (problem.jobs.empty()) return certificate;
  StepPrices prices{.nodes = nodes_of(problem, end, options.intervals), .price = {}};
  prices.price.assign(problem.curves * prices.intervals(), 0.0);
  maximise(PreemptiveDual(problem, prices.nodes), prices, options.iterations);
  constexpr auto kUnit = static_cast<double>(1LL << horizon::kPriceFractionBits);
  for (const double node : prices.nodes) {
    certificate.nodes.push_back(static_cast<horizon::Seconds>(node));
  }
  for (const double price : prices.price) {
    certificate.starts.push_back(std::llround(price * kUnit));
  }
  certificate.slopes.assign(certificate.starts.size(), 0);
  return certificate;
}

}  // namespace berth::sim
