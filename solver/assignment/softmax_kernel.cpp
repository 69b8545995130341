// SPDX-License-Identifier: Apache-2.0
#include "assignment/softmax_kernel.hpp"

#include "assignment/smooth_math.hpp"

#include <algorithm>
#include <cmath>

#include "berth/base/infinity.hpp"

namespace berth::solver::assignment {
namespace {

constexpr double kSlack = 20.0;  ///< eps that costs may move before a new shortlist

std::int64_t fixed(double units) { return static_cast<std::int64_t>(units + 0.5); }

/// How far values fell and rose, added up.
double drift(std::span<const double> now, std::span<const double> then) {
  double down = 0.0, up = 0.0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    up = std::max(up, now[i] - then[i]);
    down = std::max(down, then[i] - now[i]);
  }
  return up + down;
}

}  // namespace

void Bids::Choices::clear() {
  value.clear();
  slot.clear();
  fare.clear();
  end.clear();
}

void Bids::Choices::add(const Choices& from, std::size_t k) {
  value.push_back(from.value[k]);
  slot.push_back(from.slot[k]);
  fare.push_back(from.fare[k]);
}

void Bids::reset(std::size_t slots, std::size_t levies, std::size_t groups,
                 std::vector<Fare> fares) {
  layout_.levies = layout_.slots + slots;
  layout_.groups = layout_.levies + levies;
  layout_.out = layout_.groups + groups;
  fares_ = std::move(fares);
  gpus_.clear();
  amount_.clear();
  out_.clear();
  levy_.clear();
  tolled_.clear();
  most_ = 0;
  largest_ = 0.0;
  all_.clear();
  margin_ = -1.0;
}

void Bids::open(const Bidder& bidder) {
  gpus_.push_back(bidder.gpus);
  amount_.push_back(bidder.amount);
  out_.push_back(bidder.required ? -kInfinity : 0.0);
  levy_.push_back(bidder.levy);
  tolled_.push_back(0);
  all_.end.push_back(static_cast<std::uint32_t>(all_.value.size()));
}

void Bids::add(double value, std::uint32_t slot, std::uint32_t fare) {
  all_.value.push_back(value);
  all_.slot.push_back(slot);
  all_.fare.push_back(fare);
  const std::size_t begin = all_.end.size() > 1 ? all_.end[all_.end.size() - 2] : 0;
  all_.end.back() = static_cast<std::uint32_t>(all_.value.size());
  most_ = std::max(most_, all_.value.size() - begin);
  largest_ = std::max(largest_, std::abs(value));
  if (fare != kNone) tolled_.back() = 1;
}

double Bids::weigh(std::size_t bidder, const Quotes& quotes, const Choices& among,
                   std::span<double> profit) const {
  const std::size_t begin = bidder == 0 ? 0 : among.end[bidder - 1];
  const std::size_t count = among.end[bidder] - begin;
  const double levy = levy_of(bidder, quotes);
  const double* value = among.value.data() + begin;
  const std::uint32_t* slot = among.slot.data() + begin;
  double top = out_[bidder];
  for (std::size_t k = 0; k < count; ++k) {
    profit[k] = value[k] - quotes.slots[slot[k]] - levy;
    top = profit[k] > top ? profit[k] : top;
  }
  if (tolled_[bidder] == 0) return top;
  top = out_[bidder];
  for (std::size_t k = 0; k < count; ++k) {
    const std::uint32_t fare = among.fare[begin + k];
    if (fare != kNone) profit[k] -= quotes.fares[fare] / gpus_[bidder];
    top = std::max(top, profit[k]);
  }
  return top;
}

bool Bids::shortlist_holds(const Quotes& quotes, double eps) const {
  if (margin_ < 0.0) return false;
  // fewer will do for a smaller eps
  if (eps > 0.0 && eps < 0.9 * eps_) return false;
  const double moved = drift(quotes.slots, slots_then_) + drift(quotes.levies, levies_then_);
  const double rounding = 1e-12 * (largest_ + margin_);
  return kFar * eps + moved * (1.0 + 1e-9) + rounding <= margin_;
}

void Bids::prepare(const Quotes& quotes, double eps) {
  if (shortlist_holds(quotes, eps)) return;
  margin_ = (kFar + kSlack) * eps;
  if (eps == 0.0) {
    margin_ = -1.0;
    return;
  }
  eps_ = eps;
  slots_then_.assign(quotes.slots.begin(), quotes.slots.end());
  levies_then_.assign(quotes.levies.begin(), quotes.levies.end());
  short_.clear();
  std::vector<double> profit(most_);
  for (std::size_t b = 0; b < size(); ++b) {
    const std::size_t begin = b == 0 ? 0 : all_.end[b - 1];
    // fares move too: a job that pays some keeps all its options
    const double least = tolled_[b] != 0 ? -kInfinity : weigh(b, quotes, all_, profit) - margin_;
    for (std::size_t k = begin; k < all_.end[b]; ++k) {
      if (tolled_[b] != 0 || profit[k - begin] > least) short_.add(all_, k);
    }
    short_.end.push_back(static_cast<std::uint32_t>(short_.value.size()));
  }
}

void Bids::count(std::size_t bidder, std::uint32_t fare, double gpus, double unit,
                 std::span<std::int64_t> sums) const {
  if (fare == kNone) return;
  for (const Load& load : fares_[fare]) {
    if (load.group == kNone) continue;
    sums[layout_.groups + load.group] += fixed(gpus / gpus_[bidder] * load.units * unit);
  }
}

void Bids::sum_exact(std::size_t first, std::size_t last, const Quotes& quotes, const Units& units,
                     std::span<std::int64_t> sums) const {
  const Choices& among = margin_ < 0.0 ? all_ : short_;
  std::vector<double> profit(most_);
  for (std::size_t b = first; b < last; ++b) {
    const std::size_t begin = b == 0 ? 0 : among.end[b - 1];
    const double top = weigh(b, quotes, among, profit);
    sums[0] += fixed(amount_[b] * top * units.value);
    if (top <= out_[b]) continue;
    const auto best = std::find(profit.begin(), profit.end(), top);
    const std::size_t k = begin + static_cast<std::size_t>(best - profit.begin());
    sums[layout_.slots + among.slot[k]] += fixed(amount_[b] * units.demand);
    if (tolled_[b] != 0) count(b, among.fare[k], amount_[b], units.demand, sums);
    if (levy_[b] != kNone) sums[layout_.levies + levy_[b]] += fixed(amount_[b] * units.demand);
  }
}

/// Bidders in a row whose options near the best are weighed together: long loops over plain arrays.
class Bids::Batch {
 public:
  Batch(const Bids& bids, const Quotes& quotes, double eps, const Units& units,
        std::span<std::int64_t> sums)
      : bids_(bids),
        among_(bids.margin_ < 0.0 ? bids.all_ : bids.short_),
        quotes_(quotes),
        eps_(eps),
        units_(units),
        sums_(sums),
        profit_(bids.most_),
        x_(kRoom + bids.most_ + 1),
        target_(x_.size()),
        choice_(x_.size()) {}

  void add(std::size_t bidder) {
    const std::size_t begin = bidder == 0 ? 0 : among_.end[bidder - 1];
    const std::size_t count = among_.end[bidder] - begin;
    const double top = bids_.weigh(bidder, quotes_, among_, profit_);
    const double far = top - kFar * eps_, inverse = 1.0 / eps_;
    std::size_t n = filled_;
    for (std::size_t k = 0; k < count; ++k) {
      const double a = profit_[k];
      x_[n] = (a - top) * inverse;
      choice_[n] = static_cast<std::uint32_t>(begin + k);
      target_[n] = static_cast<std::uint32_t>(bids_.layout_.slots + among_.slot[begin + k]);
      n += a > far ? 1 : 0;
    }
    const double out = bids_.out_[bidder];
    x_[n] = (out - top) * inverse;
    target_[n] = static_cast<std::uint32_t>(bids_.layout_.out);
    n += out > far ? 1 : 0;
    filled_ = n;
    end_[bidders_] = static_cast<std::uint32_t>(n);
    top_[bidders_] = top;
    bidder_[bidders_] = static_cast<std::uint32_t>(bidder);
    if (++bidders_ == kBidders || filled_ > kRoom) flush();
  }

  void flush() {
    for (std::size_t j = 0; j < filled_; ++j) x_[j] = exp_of(x_[j]);
    for (std::size_t i = 0, j = 0; i < bidders_; ++i) {
      double sum = 0.0;
      for (; j < end_[i]; ++j) sum += x_[j];
      sum_[i] = sum;
      amount_[i] = bids_.amount_[bidder_[i]];
    }
    for (std::size_t i = 0; i < bidders_; ++i) {
      value_[i] = amount_[i] * (top_[i] + eps_ * log_of(sum_[i])) * units_.value;
      unit_[i] = amount_[i] * units_.demand / sum_[i];
    }
    for (std::size_t i = 0, j = 0; i < bidders_; ++i) {
      sums_[0] += fixed(value_[i]);
      const std::size_t begin = j;
      for (; j < end_[i]; ++j) sums_[target_[j]] += fixed(unit_[i] * x_[j]);
      const std::size_t b = bidder_[i];
      if (bids_.levy_[b] != kNone || bids_.tolled_[b] != 0) count_beside(i, begin);
    }
    bidders_ = filled_ = 0;
  }

 private:
  static constexpr std::size_t kBidders = 256, kRoom = 1024;

  void count_beside(std::size_t i, std::size_t begin) {
    const std::size_t b = bidder_[i];
    double in = 0.0;
    for (std::size_t j = begin; j < end_[i]; ++j) {
      if (target_[j] == bids_.layout_.out) continue;
      in += x_[j];
      if (bids_.tolled_[b] != 0) bids_.count(b, among_.fare[choice_[j]], x_[j], unit_[i], sums_);
    }
    if (bids_.levy_[b] != kNone) {
      sums_[bids_.layout_.levies + bids_.levy_[b]] += fixed(unit_[i] * in);
    }
  }

  const Bids& bids_;
  const Choices& among_;
  const Quotes& quotes_;
  double eps_;
  const Units& units_;
  std::span<std::int64_t> sums_;
  std::vector<double> profit_;
  std::vector<double> x_;                       ///< by option: exponent, then weight
  std::vector<std::uint32_t> target_, choice_;  ///< where its demand goes; which it is
  std::array<double, kBidders> top_, sum_, amount_, value_, unit_;
  std::array<std::uint32_t, kBidders> end_, bidder_;
  std::size_t bidders_ = 0, filled_ = 0;
};

void Bids::sum(std::size_t first, std::size_t last, const Quotes& quotes, double eps,
               const Units& units, std::span<std::int64_t> sums) const {
  if (eps == 0.0) {
    sum_exact(first, last, quotes, units, sums);
    return;
  }
  Batch batch(*this, quotes, eps, units, sums);
  for (std::size_t b = first; b < last; ++b) batch.add(b);
  batch.flush();
}

}  // namespace berth::solver::assignment
