// SPDX-License-Identifier: Apache-2.0
#include "knapsack.hpp"

#include <algorithm>
#include <limits>

#include "berth/base/assert.hpp"

namespace berth::solver::bounding {
namespace {

/// Max-plus convolution: c[g] = max over h of a[g - h] + b[h].
std::vector<double> max_plus(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(a.size() + b.size() - 1, -std::numeric_limits<double>::infinity());
  for (std::size_t h = 0; h < b.size(); ++h) {
    const double add = b[h];
    double* to = c.data() + h;
    for (std::size_t g = 0; g < a.size(); ++g) {
      const double sum = a[g] + add;
      to[g] = to[g] < sum ? sum : to[g];
    }
  }
  return c;
}

}  // namespace

void Knapsack::reset(std::int32_t capacity, double rate, std::uint32_t spot) {
  spot_ = spot;
  parts_.clear();
  joined_.clear();
  items_.clear();
  best_.resize(static_cast<std::size_t>(capacity) + 1);
  for (std::size_t g = 0; g < best_.size(); ++g) best_[g] = static_cast<double>(g) * rate;
  cells_ = std::ssize(best_);
}

void Knapsack::join(std::span<const Knapsack* const> parts, std::int32_t capacity,
                    std::uint32_t spot) {
  spot_ = spot;
  BERTH_EXPECT(!parts.empty());
  parts_.assign(parts.begin(), parts.end());
  joined_.clear();
  items_.clear();
  best_ = parts_.front()->best_;
  cells_ = std::ssize(best_);
  for (std::size_t i = 1; i < parts_.size(); ++i) {
    cells_ += std::ssize(best_) * std::ssize(parts_[i]->best_);
    joined_.push_back(max_plus(best_, parts_[i]->best_));
    best_ = joined_.back();
  }
  BERTH_EXPECT(best_.size() <= static_cast<std::size_t>(capacity) + 1);
  best_.resize(static_cast<std::size_t>(capacity) + 1, best_.back());
}

void Knapsack::add(std::span<const JobItem> items) {
  items_.assign(items.begin(), items.end());
  const std::size_t width = best_.size();
  taken_.assign(items_.size() * width, 0);
  cells_ += std::ssize(taken_);
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const auto size = static_cast<std::size_t>(items_[i].size);
    std::uint8_t* taken = taken_.data() + i * width;
    for (std::size_t g = width - 1; g >= size && g < width; --g) {
      const double with = best_[g - size] + items_[i].profit;
      if (with > best_[g]) best_[g] = with, taken[g] = 1;
    }
  }
}

void Knapsack::visit_choice(std::int32_t units, const ChoiceVisitor& chosen) const {
  const std::size_t width = best_.size();
  auto left = static_cast<std::size_t>(units);
  for (std::size_t i = items_.size(); i-- > 0;) {
    if (taken_[i * width + left] == 0) continue;
    chosen(items_[i].job, spot_);
    left -= static_cast<std::size_t>(items_[i].size);
  }
  if (!parts_.empty()) {  // the rest of the capacity belongs to no part
    left = std::min(left, (joined_.empty() ? parts_.front()->best_ : joined_.back()).size() - 1);
  }
  for (std::size_t i = parts_.size(); i-- > 1;) {
    const std::vector<double>& all = joined_[i - 1];
    const std::vector<double>& remainder = i == 1 ? parts_[0]->best_ : joined_[i - 2];
    const std::vector<double>& part = parts_[i]->best_;
    std::size_t h = left < remainder.size() ? 0 : left - remainder.size() + 1;
    while (remainder[left - h] + part[h] != all[left]) ++h;
    parts_[i]->visit_choice(static_cast<std::int32_t>(h), chosen);
    left -= h;
  }
  if (!parts_.empty()) parts_.front()->visit_choice(static_cast<std::int32_t>(left), chosen);
}

}  // namespace berth::solver::bounding
