// SPDX-License-Identifier: Apache-2.0
#include "assignment/assignment_dual.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"
#include "berth/base/random.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::solver::assignment {
namespace {

/// Least blocks per thread: 4,096 distinct jobs take about a millisecond, longer than it takes to
/// wake a thread. Chosen, not tuned.
constexpr std::size_t kBlocksPerThread = 16;

/// A price scale is this many times the value of the jobs at the margin, or the largest value when
/// that is less: in the generated workloads the largest value is up to 14 times the marginal one.
constexpr double kPricesPerMargin = 16.0;

/// Largest power of two s with |total| x s < 2^61.
double scale_for(double total) { return std::ldexp(1.0, 60 - std::ilogb(std::max(total, 1.0))); }

std::uint64_t hash_of(std::span<const Option> options, bool required) {
  std::uint64_t key = required ? 1 : 0;
  for (const Option& c : options) {
    key = mix64(key ^ std::bit_cast<std::uint64_t>(c.value)) ^ mix64(c.place_class) ^
          (mix64(c.limit_load) >> 1);
  }
  return key;
}

}  // namespace

AssignmentDual::AssignmentDual(const planner_model::Valuation& valuation,
                               const PoolIndex& pool_index, std::span<const JobId> jobs,
                               const Supply& supply, const planner_model::LimitGroups* limits)
    : option_table_(valuation, pool_index, jobs, limits),
      place_costs_(option_table_, pool_index),
      pools_(pool_index.pools().size()) {
  if (limits != nullptr) add_quotas(limits->limits());
  if (limits != nullptr) limit_groups_ = limits->groups();
  merge_jobs(valuation, jobs, limits == nullptr ? nullptr : &limits->limits());
  for (const planner_model::Pool& p : pool_index.pools().pools)
    shape_.group.push_back(p.gpu_type.value());
  for (std::size_t l = 0; l < quotas_.size() + limit_groups_.size();
       ++l) {  // each quota and group of limits: a group of its own
    shape_.group.push_back(static_cast<std::int32_t>(pool_index.types() + l));
  }
  set_supply(supply);
  set_scale(scale());
}

void AssignmentDual::add_quotas(const planner_model::CouplingLimits& limits) {
  for (std::size_t l = 0; l < limits.of_queues(); ++l) {
    const planner_model::CouplingLimit& limit = limits[l];
    const auto chain = limits.of(limit.scope.queue);
    quotas_.push_back({.gpus = static_cast<double>(limit.capacity) / 1000.0,
                       .max_price = limit.penalty,
                       .chain = {chain.begin(), chain.end()}});
  }
}

void AssignmentDual::merge_jobs(const planner_model::Valuation& valuation,
                                std::span<const JobId> jobs,
                                const planner_model::CouplingLimits* limits) {
  const model::WorkloadView& workload = valuation.instance().workload;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known;
  const auto quota_of = [&](const model::Job& job) {
    const auto chain = limits == nullptr ? std::span<const std::uint32_t>{} : limits->of(job.queue);
    return chain.empty() ? Bidder::kNoQuota : chain.front();
  };
  const auto equal = [&](const Bidder& b, std::span<const Option> options, const Bidder& like) {
    return b.kind == like.kind && b.required == like.required && b.quota == like.quota &&
           std::equal(options_.begin() + b.first, options_.begin() + b.last, options.begin(),
                      options.end());
  };
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto options = option_table_.options(j);
    if (options.empty()) continue;
    Bidder fresh{.required = workload.job(jobs[j]).required, .jobs = {}};
    fresh.kind = job_kind(valuation, jobs[j]);
    fresh.quota = quota_of(workload.job(jobs[j]));
    const std::uint64_t key = hash_of(options, fresh.required) ^ fresh.kind;
    const auto [first, last] = known.equal_range(key);
    const auto same = std::find_if(first, last, [&](const auto& entry) {
      return equal(bidders_[entry.second], options, fresh);
    });
    const auto bidder = same == last ? static_cast<std::uint32_t>(bidders_.size()) : same->second;
    if (same == last) {
      known.emplace(key, bidder);
      fresh.milli = option_table_.profiles()[option_table_.profile_of(j)].milli;
      fresh.gpus = static_cast<double>(fresh.milli) / 1000.0;
      fresh.first = static_cast<std::uint32_t>(options_.size());
      options_.insert(options_.end(), options.begin(), options.end());
      fresh.last = static_cast<std::uint32_t>(options_.size());
      bidders_.push_back(std::move(fresh));
    }
    bidders_[bidder].jobs.push_back(static_cast<std::uint32_t>(j));
  }
  for (Bidder& b : bidders_) {
    for (std::uint32_t c = b.first; c < b.last; ++c) {
      options_[c].value /= b.gpus;
      b.has_limit_price = b.has_limit_price || options_[c].limit_load != Option::kNoLimitLoad;
    }
  }
  forbidden_.assign(options_.size(), 0);
}

MarketScale AssignmentDual::scale() const {
  MarketScale scale;
  for (const Bidder& b : bidders_) {
    scale.milli += b.milli * std::ssize(b.jobs);
    if (b.required) scale.required = 1;
    scale.options = std::max<std::int64_t>(scale.options, b.last - b.first);
    double best = 0.0;
    for (std::uint32_t c = b.first; c < b.last; ++c) {
      if (place_list_[c] == PlaceCosts::kNone) continue;  // no place holds the job
      best = std::max(best, options_[c].value);
    }
    scale.largest_value = std::max(scale.largest_value, best);
    scale.demand.add(best, b.milli * std::ssize(b.jobs));
  }
  return scale;
}

/// Sets the price box and the fixed-point scales from the first supply, the largest one.
void AssignmentDual::set_scale(const MarketScale& scale) {
  constexpr int kShareBits = 30;  // most bits of a pool's share; chosen, not tuned
  const double gpus = static_cast<double>(scale.milli) / 1000.0;
  shape_.largest_value = scale.largest_value;
  double capacity = 0.0;
  for (std::size_t p = 0; p < pools_; ++p) capacity += shape_.capacity[p];
  shape_.price_scale =
      std::min(scale.largest_value,
               kPricesPerMargin * scale.demand.marginal_value(std::llround(1000.0 * capacity)));
  // Above the largest value demand is 0, unless required jobs compete.
  const double top =
      scale.required != 0 ? 2.0 * std::max(shape_.largest_value, 1.0) : shape_.largest_value;
  shape_.upper.assign(shape_.group.size(), top);
  for (std::size_t l = 0; l < quotas_.size(); ++l) {
    shape_.upper[pools_ + l] = std::min(top, quotas_[l].max_price);
  }
  double dearest = top * static_cast<double>(1 + quotas_.size());
  for (std::size_t t = 0; t < limit_groups_.size(); ++t) {
    const bool scarce = limit_groups_[t].wanted > limit_groups_[t].capacity;
    const double highest = scarce ? top / limit_groups_[t].least : 0.0;
    shape_.upper[pools_ + quotas_.size() + t] = highest;
    dearest += highest;
  }
  const double places =
      static_cast<double>(scale.options) * static_cast<double>(shape_.group.size() + 1);
  value_scale_ =
      scale_for(2.0 * gpus * (dearest + shape_.largest_value) * (2.0 + std::log(places)));
  // Demand x share fits in `bits`. The share gets more of them: a pool may have a thousandth of it.
  const int bits = std::ilogb(scale_for(4.0 * gpus + 1.0));
  const int share_bits = std::min(kShareBits, bits / 2 + 4);
  share_parts_ = std::int64_t{1} << share_bits;
  demand_scale_ = std::ldexp(1.0, bits - share_bits);
}

void AssignmentDual::set_supply(const Supply& supply) {
  shape_.capacity.clear();
  for (const std::int64_t milli : supply.milli) {
    shape_.capacity.push_back(static_cast<double>(milli) / 1000.0);
  }
  for (const PricedQuota& quota : quotas_) shape_.capacity.push_back(quota.gpus);
  for (const auto& t : limit_groups_)
    shape_.capacity.push_back(std::min(t.capacity, t.wanted) / t.unit);
  active_.clear();
  std::vector<char> used(option_table_.place_classes().size(), 0);
  for (const Bidder& b : bidders_) {
    if (b.undecided() == 0) continue;
    for (std::uint32_t c = b.first; c < b.last; ++c) used[options_[c].place_class] = 1;
  }
  place_costs_.build(supply, used);
  soft_minima_ = {};
  place_list_.assign(options_.size(), PlaceCosts::kNone);
  for (std::size_t i = 0; i < bidders_.size(); ++i) {
    const Bidder& b = bidders_[i];
    if (b.undecided() == 0) continue;
    bool any = false;
    for (std::uint32_t c = b.first; c < b.last; ++c) {
      if (forbidden_[c] == 0) place_list_[c] = place_costs_.of_place_class(options_[c].place_class);
      any = any || place_list_[c] != PlaceCosts::kNone;
    }
    if (any) active_.push_back(static_cast<std::uint32_t>(i));
  }
  build_kernel();
}

void AssignmentDual::order_jobs(std::span<const std::uint32_t> rank) {
  for (Bidder& b : bidders_) {
    std::ranges::sort(b.jobs, {}, [&](std::uint32_t position) { return rank[position]; });
  }
}

double AssignmentDual::cost_of(std::uint32_t option, std::span<const double> costs) const {
  return place_list_[option] == PlaceCosts::kNone ? kInfinity : costs[place_list_[option]];
}

/// By quota: price of a GPU, summed over the quota and its ancestors.
std::vector<double> AssignmentDual::sum_quota_prices(std::span<const double> prices) const {
  std::vector<double> sums;
  for (const PricedQuota& quota : quotas_) {
    double sum = 0.0;
    for (const std::uint32_t l : quota.chain) sum += prices[pools_ + l];
    sums.push_back(sum);
  }
  return sums;
}

/// By entry of OptionTable::limit_loads: its price for one job.
std::vector<double> AssignmentDual::sum_limit_costs(std::span<const double> prices) const {
  std::vector<double> sums;
  for (const auto& group_loads : option_table_.limit_loads()) {
    double sum = 0.0;
    for (const auto& group_load : group_loads) {
      if (group_load.group == planner_model::LimitGroups::kNone) continue;
      sum += prices[pools_ + quotas_.size() + group_load.group] * group_load.amount /
             limit_groups_[group_load.group].unit;
    }
    sums.push_back(sum);
  }
  return sums;
}

/// By entry of OptionTable::limit_loads: its load on groups of limits, in units of the group.
std::vector<SoftmaxKernel::LimitLoads> AssignmentDual::limit_loads() const {
  std::vector<SoftmaxKernel::LimitLoads> loads;
  for (const auto& group_loads : option_table_.limit_loads()) {
    SoftmaxKernel::LimitLoads& limit_loads = loads.emplace_back();
    for (std::size_t i = 0; i < group_loads.size(); ++i) {
      if (group_loads[i].group == planner_model::LimitGroups::kNone) continue;
      limit_loads[i] = {group_loads[i].group,
                        group_loads[i].amount / limit_groups_[group_loads[i].group].unit};
    }
  }
  return loads;
}

/// Fills the kernel with the active bidders, sorted by their number of options: loops over
/// neighbouring rows then have equal length. Bidders of one home are neighbours: with millions of
/// bidders, costs of places at random positions are not in the cache.
void AssignmentDual::build_kernel() {
  std::vector<std::tuple<std::uint32_t, std::int32_t, std::uint32_t>> order;  // .., home, bidder
  for (const std::uint32_t i : active_) {
    std::uint32_t count = 0;
    std::int32_t home = -1;  // only lists of homes begin with high pools
    for (std::uint32_t c = bidders_[i].first; c < bidders_[i].last; ++c) {
      if (place_list_[c] == PlaceCosts::kNone) continue;
      ++count;
      home = std::max(home, place_costs_.first_pool(place_list_[c]));
    }
    order.emplace_back(count, home, i);
  }
  std::ranges::sort(order);
  kernel_.reset(place_costs_.size(), quotas_.size(), limit_groups_.size(), limit_loads());
  for (const auto& [count, home, i] : order) {
    const Bidder& b = bidders_[i];
    kernel_.add_row({b.gpus, b.gpus * static_cast<double>(b.undecided()), b.required, b.quota});
    for (std::uint32_t c = b.first; c < b.last; ++c) {
      if (place_list_[c] != PlaceCosts::kNone)
        kernel_.add_option(options_[c].value, place_list_[c], options_[c].limit_load);
    }
  }
}

std::vector<std::int64_t> AssignmentDual::sum_blocks(const KernelPrices& prices, double eps,
                                                     std::size_t first_block,
                                                     std::size_t last_block) {
  const std::size_t size = kernel_.layout().size();
  std::vector<std::int64_t> sums(size, 0);
  const std::size_t first = std::min(first_block, blocks());
  const std::size_t count = std::max(std::min(last_block, blocks()), first) - first;
  kernel_.prepare_shortlist(prices, eps);
  const auto share = [&](std::size_t from, std::size_t to, std::span<std::int64_t> into) {
    kernel_.sum((first + from) * kBlock, std::min((first + to) * kBlock, kernel_.size()), prices,
                eps, {value_scale_, demand_scale_}, into);
  };
  const auto threads =
      std::min(count / kBlocksPerThread, static_cast<std::size_t>(parallel::thread_limit()));
  if (threads <= 1) {
    if (count > 0) share(0, count, sums);
    return sums;
  }
  std::vector<std::vector<std::int64_t>> own(threads);  // integers: any split gives the same sums
  parallel::sweep_blocks(threads, 1, [&](std::size_t t, std::size_t, std::size_t) {
    own[t].assign(size, 0);
    share(count * t / threads, count * (t + 1) / threads, own[t]);
  });
  for (const auto& part : own) {
    for (std::size_t i = 0; i < size; ++i) sums[i] += part[i];
  }
  return sums;
}

void AssignmentDual::evaluate(std::span<const double> prices, double eps, std::size_t first_block,
                              std::size_t last_block, std::span<std::int64_t> sums) {
  BERTH_EXPECT(prices.size() == shape_.group.size());
  BERTH_EXPECT(sums.size() == sums_size() || sums.size() == 1);
  BERTH_EXPECT(eps >= 0.0 && eps <= std::max(shape_.largest_value, 1.0));
  place_costs_.evaluate(prices.first(pools_), eps, soft_minima_);
  const std::vector<double> quota_prices = sum_quota_prices(prices);
  const std::vector<double> limit_costs = sum_limit_costs(prices);
  const auto kernel_sums =
      sum_blocks({soft_minima_.costs, quota_prices, limit_costs}, eps, first_block, last_block);
  sums[0] += kernel_sums[0];
  if (sums.size() == 1) return;
  const SoftmaxKernel::SumLayout& at = kernel_.layout();
  place_costs_.distribute(soft_minima_,
                          std::span(kernel_sums).subspan(at.place_lists, place_costs_.size()),
                          share_parts_, sums.subspan(1, pools_));
  for (std::size_t l = 0; l < quotas_.size(); ++l) {
    const std::int64_t demand = kernel_sums[at.quotas + l] * share_parts_;
    for (const std::uint32_t above : quotas_[l].chain) sums[1 + pools_ + above] += demand;
  }
  for (std::size_t t = 0; t < limit_groups_.size(); ++t) {
    sums[1 + pools_ + quotas_.size() + t] += kernel_sums[at.limit_groups + t] * share_parts_;
  }
}

double AssignmentDual::finish(std::span<const double> prices, std::span<const std::int64_t> sums,
                              std::span<double> gradient) const {
  double value = static_cast<double>(sums[0]) / value_scale_;
  for (std::size_t p = 0; p < prices.size(); ++p) value += shape_.capacity[p] * prices[p];
  if (gradient.empty()) return value;
  const double unit = 1.0 / (demand_scale_ * static_cast<double>(share_parts_));
  for (std::size_t p = 0; p < prices.size(); ++p) {
    gradient[p] = shape_.capacity[p] - static_cast<double>(sums[1 + p]) * unit;
  }
  return value;
}

double AssignmentDual::value(std::span<const double> prices, double eps,
                             std::span<double> gradient) {
  std::vector<std::int64_t> sums(gradient.empty() ? 1 : sums_size(), 0);
  evaluate(prices, eps, 0, blocks(), sums);
  return finish(prices, sums, gradient);
}

void AssignmentDual::softmax_weights(const Bidder& b, std::span<const double> costs, double eps,
                                     std::span<double> weights) const {
  double top = b.required ? -kInfinity : 0.0;
  for (std::uint32_t c = b.first; c < b.last; ++c) {
    weights[c - b.first] = options_[c].value - cost_of(c, costs);
    top = std::max(top, weights[c - b.first]);
  }
  const auto weight = [&](double profit) { return exp_of(std::max((profit - top) / eps, -600.0)); };
  double sum = b.required ? 0.0 : weight(0.0);
  for (double& w : weights) sum += w = weight(w);
  for (double& w : weights) w /= sum;
}

}  // namespace berth::solver::assignment
