// SPDX-License-Identifier: Apache-2.0
#include "assignment/softmax_kernel.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/infinity.hpp"

namespace berth::solver::assignment {
namespace {

/// Change of prices, in eps, after which the shortlist is built anew. Chosen with decision 12, not
/// tuned.
constexpr double kShortlistSlack = 20.0;

std::int64_t fixed(double units) { return static_cast<std::int64_t>(units + 0.5); }

/// Largest rise plus largest fall of the entries.
double total_drift(std::span<const double> now, std::span<const double> then) {
  double down = 0.0, up = 0.0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    up = std::max(up, now[i] - then[i]);
    down = std::max(down, then[i] - now[i]);
  }
  return up + down;
}

}  // namespace

void SoftmaxKernel::OptionColumns::clear() {
  value.clear();
  place_list.clear();
  limit_load.clear();
  end.clear();
}

void SoftmaxKernel::OptionColumns::add(const OptionColumns& from, std::size_t k) {
  value.push_back(from.value[k]);
  place_list.push_back(from.place_list[k]);
  limit_load.push_back(from.limit_load[k]);
}

void SoftmaxKernel::reset(std::size_t place_lists, std::size_t quotas, std::size_t limit_groups,
                          std::vector<LimitLoads> limit_loads) {
  layout_.quotas = layout_.place_lists + place_lists;
  layout_.limit_groups = layout_.quotas + quotas;
  layout_.unplaced = layout_.limit_groups + limit_groups;
  limit_loads_ = std::move(limit_loads);
  gpus_.clear();
  amount_.clear();
  unplaced_profit_.clear();
  quota_.clear();
  has_limit_price_.clear();
  max_options_ = 0;
  largest_value_ = 0.0;
  options_.clear();
  margin_ = -1.0;
}

void SoftmaxKernel::add_row(const KernelRow& row) {
  gpus_.push_back(row.gpus);
  amount_.push_back(row.amount);
  unplaced_profit_.push_back(row.required ? -kInfinity : 0.0);
  quota_.push_back(row.quota);
  has_limit_price_.push_back(0);
  options_.end.push_back(static_cast<std::uint32_t>(options_.value.size()));
}

void SoftmaxKernel::add_option(double value, std::uint32_t place_list, std::uint32_t limit_load) {
  options_.value.push_back(value);
  options_.place_list.push_back(place_list);
  options_.limit_load.push_back(limit_load);
  const std::size_t begin = options_.end.size() > 1 ? options_.end[options_.end.size() - 2] : 0;
  options_.end.back() = static_cast<std::uint32_t>(options_.value.size());
  max_options_ = std::max(max_options_, options_.value.size() - begin);
  largest_value_ = std::max(largest_value_, std::abs(value));
  if (limit_load != kNone) has_limit_price_.back() = 1;
}

double SoftmaxKernel::profits_of(std::size_t row, const KernelPrices& prices,
                                 const OptionColumns& among, std::span<double> profit) const {
  const std::size_t begin = row == 0 ? 0 : among.end[row - 1];
  const std::size_t count = among.end[row] - begin;
  const double quota_price = quota_price_of(row, prices);
  const double* value = among.value.data() + begin;
  const std::uint32_t* place_list = among.place_list.data() + begin;
  double top = unplaced_profit_[row];
  for (std::size_t k = 0; k < count; ++k) {
    profit[k] = value[k] - prices.place_costs[place_list[k]] - quota_price;
    top = profit[k] > top ? profit[k] : top;
  }
  if (has_limit_price_[row] == 0) return top;
  top = unplaced_profit_[row];
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t limit_load = among.limit_load[begin + k];
    if (limit_load != kNone) profit[k] -= prices.limit_costs[limit_load] / gpus_[row];
    top = std::max(top, profit[k]);
  }
  return top;
}

bool SoftmaxKernel::shortlist_is_valid(const KernelPrices& prices, double eps) const {
  if (margin_ < 0.0) return false;
  // A smaller eps needs fewer options: a new shortlist is shorter.
  if (eps > 0.0 && eps < 0.9 * eps_) return false;
  const double moved = total_drift(prices.place_costs, shortlist_place_costs_) +
                       total_drift(prices.quota_prices, shortlist_quota_prices_);
  const double rounding = 1e-12 * (largest_value_ + margin_);
  return kNegligibleExponent * eps + moved * (1.0 + 1e-9) + rounding <= margin_;
}

void SoftmaxKernel::prepare_shortlist(const KernelPrices& prices, double eps) {
  if (shortlist_is_valid(prices, eps)) return;
  margin_ = (kNegligibleExponent + kShortlistSlack) * eps;
  if (eps == 0.0) {
    margin_ = -1.0;
    return;
  }
  eps_ = eps;
  shortlist_place_costs_.assign(prices.place_costs.begin(), prices.place_costs.end());
  shortlist_quota_prices_.assign(prices.quota_prices.begin(), prices.quota_prices.end());
  shortlist_.clear();
  std::vector<double> profit(max_options_);
  for (std::size_t b = 0; b < size(); ++b) {
    const std::size_t begin = b == 0 ? 0 : options_.end[b - 1];
    // Drift of prices of limits is not tracked: a row with such loads keeps all its options.
    const double least =
        has_limit_price_[b] != 0 ? -kInfinity : profits_of(b, prices, options_, profit) - margin_;
    for (std::size_t k = begin; k < options_.end[b]; ++k) {
      if (has_limit_price_[b] != 0 || profit[k - begin] > least) shortlist_.add(options_, k);
    }
    shortlist_.end.push_back(static_cast<std::uint32_t>(shortlist_.value.size()));
  }
}

void SoftmaxKernel::add_group_demand(std::size_t row, std::uint32_t limit_load, double gpus,
                                     double unit, std::span<std::int64_t> sums) const {
  if (limit_load == kNone) return;
  for (const LimitLoad& load : limit_loads_[limit_load]) {
    if (load.group == kNone) continue;
    sums[layout_.limit_groups + load.group] += fixed(gpus / gpus_[row] * load.units * unit);
  }
}

void SoftmaxKernel::sum_exact(std::size_t first, std::size_t last, const KernelPrices& prices,
                              const Units& units, std::span<std::int64_t> sums) const {
  const OptionColumns& among = margin_ < 0.0 ? options_ : shortlist_;
  std::vector<double> profit(max_options_);
  for (std::size_t b = first; b < last; ++b) {
    const std::size_t begin = b == 0 ? 0 : among.end[b - 1];
    const double top = profits_of(b, prices, among, profit);
    sums[0] += fixed(amount_[b] * top * units.value);
    if (top <= unplaced_profit_[b]) continue;
    const auto best = std::find(profit.begin(), profit.end(), top);
    const std::size_t k = begin + static_cast<std::size_t>(best - profit.begin());
    sums[layout_.place_lists + among.place_list[k]] += fixed(amount_[b] * units.demand);
    if (has_limit_price_[b] != 0)
      add_group_demand(b, among.limit_load[k], amount_[b], units.demand, sums);
    if (quota_[b] != kNone) sums[layout_.quotas + quota_[b]] += fixed(amount_[b] * units.demand);
  }
}

/// Consecutive rows whose shortlisted options are evaluated together, in long loops over arrays.
class SoftmaxKernel::Batch {
 public:
  Batch(const SoftmaxKernel& kernel, const KernelPrices& prices, double eps, const Units& units,
        std::span<std::int64_t> sums)
      : kernel_(kernel),
        among_(kernel.margin_ < 0.0 ? kernel.options_ : kernel.shortlist_),
        quotes_(prices),
        eps_(eps),
        units_(units),
        sums_(sums),
        profit_(kernel.max_options_),
        x_(kCapacity + kernel.max_options_ + 1),
        sum_index_(x_.size()),
        option_(x_.size()) {}

  void add(std::size_t row) {
    const std::size_t begin = row == 0 ? 0 : among_.end[row - 1];
    const std::size_t count = among_.end[row] - begin;
    const double top = kernel_.profits_of(row, quotes_, among_, profit_);
    const double far = top - kNegligibleExponent * eps_, inverse = 1.0 / eps_;
    std::size_t n = filled_;
    for (std::size_t k = 0; k < count; ++k) {
      const double a = profit_[k];
      x_[n] = (a - top) * inverse;
      option_[n] = static_cast<std::uint32_t>(begin + k);
      sum_index_[n] =
          static_cast<std::uint32_t>(kernel_.layout_.place_lists + among_.place_list[begin + k]);
      n += a > far ? 1 : 0;
    }
    const double unplaced = kernel_.unplaced_profit_[row];
    x_[n] = (unplaced - top) * inverse;
    sum_index_[n] = static_cast<std::uint32_t>(kernel_.layout_.unplaced);
    n += unplaced > far ? 1 : 0;
    filled_ = n;
    end_[rows_] = static_cast<std::uint32_t>(n);
    top_[rows_] = top;
    row_[rows_] = static_cast<std::uint32_t>(row);
    if (++rows_ == kMaxRows || filled_ > kCapacity) flush();
  }

  void flush() {
    for (std::size_t j = 0; j < filled_; ++j) x_[j] = exp_of(x_[j]);
    for (std::size_t i = 0, j = 0; i < rows_; ++i) {
      double sum = 0.0;
      for (; j < end_[i]; ++j) sum += x_[j];
      sum_[i] = sum;
      amount_[i] = kernel_.amount_[row_[i]];
    }
    for (std::size_t i = 0; i < rows_; ++i) {
      value_[i] = amount_[i] * (top_[i] + eps_ * log_of(sum_[i])) * units_.value;
      unit_[i] = amount_[i] * units_.demand / sum_[i];
    }
    for (std::size_t i = 0, j = 0; i < rows_; ++i) {
      sums_[0] += fixed(value_[i]);
      const std::size_t begin = j;
      for (; j < end_[i]; ++j) sums_[sum_index_[j]] += fixed(unit_[i] * x_[j]);
      const std::size_t b = row_[i];
      if (kernel_.quota_[b] != kNone || kernel_.has_limit_price_[b] != 0)
        add_limit_demand(i, begin);
    }
    rows_ = filled_ = 0;
  }

 private:
  /// Most rows (decision 12) and options (chosen, not tuned) of a batch: its arrays fit the cache.
  static constexpr std::size_t kMaxRows = 256, kCapacity = 1024;

  void add_limit_demand(std::size_t i, std::size_t begin) {
    const std::size_t b = row_[i];
    double in = 0.0;
    for (std::size_t j = begin; j < end_[i]; ++j) {
      if (sum_index_[j] == kernel_.layout_.unplaced) continue;
      in += x_[j];
      if (kernel_.has_limit_price_[b] != 0)
        kernel_.add_group_demand(b, among_.limit_load[option_[j]], x_[j], unit_[i], sums_);
    }
    if (kernel_.quota_[b] != kNone) {
      sums_[kernel_.layout_.quotas + kernel_.quota_[b]] += fixed(unit_[i] * in);
    }
  }

  const SoftmaxKernel& kernel_;
  const OptionColumns& among_;
  const KernelPrices& quotes_;
  double eps_;
  const Units& units_;
  std::span<std::int64_t> sums_;
  std::vector<double> profit_;
  std::vector<double> x_;  ///< by option: exponent, then weight
  std::vector<std::uint32_t> sum_index_,
      option_;  ///< by option: index of its demand in the sums; index of the option
  std::array<double, kMaxRows> top_, sum_, amount_, value_, unit_;
  std::array<std::uint32_t, kMaxRows> end_, row_;
  std::size_t rows_ = 0, filled_ = 0;
};

void SoftmaxKernel::sum(std::size_t first, std::size_t last, const KernelPrices& prices, double eps,
                        const Units& units, std::span<std::int64_t> sums) const {
  if (eps == 0.0) {
    sum_exact(first, last, prices, units, sums);
    return;
  }
  Batch batch(*this, prices, eps, units, sums);
  for (std::size_t b = first; b < last; ++b) batch.add(b);
  batch.flush();
}

}  // namespace berth::solver::assignment
