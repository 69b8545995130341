// SPDX-License-Identifier: Apache-2.0
#include "local_search/quota_nodes.hpp"

#include <algorithm>
#include <cmath>

namespace berth::solver::local_search {

std::uint32_t QuotaNodes::node_of(JobId job) {
  const auto quotas = limit_usage_->quotas_of(job);  // its own first
  std::uint32_t node = 0;
  for (std::size_t k = quotas.size(); k-- > 0;) {
    const auto [known, fresh] = node_of_limit_.try_emplace(quotas[k], size());
    if (fresh) {
      limit_.push_back(quotas[k]);
      parent_.push_back(node);
      children_.emplace_back();
      children_[node].push_back(known->second);
    }
    node = known->second;
  }
  return node;
}

std::vector<QuotaNodes::CrossingCost> QuotaNodes::crossing_costs() const {
  std::vector<CrossingCost> costs;
  for (const std::uint32_t l : limit_) {
    CrossingCost& cost = costs.emplace_back();
    const std::int64_t left = limit_usage_->left(l);
    const bool soft = std::isfinite(limit_usage_->limits()->penalty(l));
    const double rate = soft ? limit_usage_->rate(l) / 1000.0 : 0.0;
    if (left < milli_) {
      cost.in = soft ? rate * static_cast<double>(std::min(milli_, milli_ - left)) : kFull;
    }
    if (left < 0) cost.out = rate * static_cast<double>(std::min(milli_, -left));
  }
  return costs;
}

}  // namespace berth::solver::local_search
