// SPDX-License-Identifier: Apache-2.0
#include "assignment/pool_index.hpp"

namespace berth::solver::assignment {

using model::Level;

PoolIndex::PoolIndex(const model::Cluster& cluster, const planner_model::Pools& pools)
    : pools_(&pools), types_(cluster.gpu_types.size()) {
  group(
      1, [](const planner_model::Pool&) { return std::size_t{0}; }, cluster_);
  group(
      cluster.pods.size(), [](const planner_model::Pool& p) { return p.pod.index(); }, pods_);
  if (pools.level == Level::rack) {
    group(
        cluster.racks.size(), [](const planner_model::Pool& p) { return p.rack.index(); }, racks_);
  }
}

template <class DomainOf>
void PoolIndex::group(std::size_t domains, DomainOf domain_of, DomainLists& lists) const {
  std::vector<std::uint32_t> next(domains * types_ + 1, 0);
  const auto cell = [&](const planner_model::Pool& p) {
    return domain_of(p) * types_ + p.gpu_type.index();
  };
  for (const planner_model::Pool& p : pools_->pools) {
    if (p.gpu_type.valid()) ++next[cell(p) + 1];
  }
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  lists.pool.resize(next.back());
  for (std::size_t p = 0; p < pools_->size(); ++p) {
    const planner_model::Pool& pool = pools_->pools[p];
    if (pool.gpu_type.valid()) lists.pool[next[cell(pool)]++] = static_cast<std::int32_t>(p);
  }
  next.pop_back();  // entry i has moved from the begin to the end of cell i
  lists.end = std::move(next);
}

std::span<const std::int32_t> PoolIndex::pools_in(GpuTypeId type, Level level,
                                                  std::int32_t domain) const {
  const DomainLists& lists = level == Level::cluster ? cluster_
                             : level == Level::pod   ? pods_
                                                     : racks_;
  const std::size_t cell = static_cast<std::size_t>(domain) * types_ + type.index();
  if (cell >= lists.end.size()) return {};
  const std::uint32_t first = cell == 0 ? 0 : lists.end[cell - 1];
  return std::span(lists.pool).subspan(first, lists.end[cell] - first);
}

bool PoolIndex::same_domain(std::int32_t a, std::int32_t b, Level width) const {
  const planner_model::Pool& x = pools_->pools[static_cast<std::size_t>(a)];
  const planner_model::Pool& y = pools_->pools[static_cast<std::size_t>(b)];
  switch (width) {
    case Level::machine:
      return false;
    case Level::rack:
      return x.rack == y.rack;
    case Level::pod:
      return x.pod == y.pod;
    case Level::cluster:
      return true;
  }
  return false;
}

}  // namespace berth::solver::assignment
