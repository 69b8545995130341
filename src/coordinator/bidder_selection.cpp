// SPDX-License-Identifier: Apache-2.0
#include "bidder_selection.hpp"

#include <algorithm>
#include <bit>
#include <set>

#include "berth/base/random.hpp"
#include "berth/planner_model/option_enumerator.hpp"
#include "berth/strads/schedule.hpp"

namespace berth::coordinator {

using solver::EvictionCost;

namespace {

constexpr std::uint64_t kBidderDraw = 0x4253;  ///< key of these draws: "BS" in ASCII
/// Shards that are looked at for one offer: with all of them, work grows as offers x shards.
/// Decision 91.
constexpr std::size_t kConsidered = 256;

}  // namespace

BidderSelection::BidderSelection(const planner_model::Valuation& valuation,
                                 std::span<const EvictionCost> eviction_costs)
    : valuation_(valuation), types_(valuation.instance().cluster.gpu_types.size()) {
  std::set<ShardId> shards;
  for (const EvictionCost& q : eviction_costs) shards.insert(q.shard);
  shards_.assign(shards.begin(), shards.end());
  by_type_.resize(shards_.size() * types_);
  for (const EvictionCost& q : eviction_costs) {
    const auto row = std::ranges::lower_bound(shards_, q.shard) - shards_.begin();
    by_type_[static_cast<std::size_t>(row) * types_ + q.type.index()] = q;
  }
}

/// Upper bound on the job's gain in a shard: largest value by type less the least eviction cost.
double BidderSelection::largest_gain(std::span<const TypeValue> values, std::int64_t milli,
                                     std::size_t row) const {
  const auto gpus = static_cast<std::uint64_t>(milli / 1000);
  double most = 0.0;
  for (const TypeValue& best : values) {
    const EvictionCost& eviction_cost = by_type_[row * types_ + best.type.index()];
    if (!eviction_cost.shard.valid()) continue;
    const auto size = static_cast<std::size_t>(std::bit_width(gpus));
    const double cost =
        gpus == 0 ? 0.0 : eviction_cost.least[std::min(size, eviction_cost.least.size()) - 1];
    most = std::max(most, best.value - cost);
  }
  return most;
}

std::vector<BidRequest> BidderSelection::of(const solver::JobOffer& offer, const TabuPairs& tabu,
                                            std::size_t most, int round, std::uint64_t seed) const {
  const model::WorkloadView& workload = valuation_.instance().workload;
  const std::int64_t milli = workload.gpu_milli(workload.job(offer.job));
  const planner_model::OptionEnumerator options(valuation_, offer.job);
  std::vector<TypeValue> values;
  for (const GpuTypeId type : options.types()) values.push_back({type, options.best(type)});
  const auto key = random_bits({seed, static_cast<std::uint64_t>(offer.job.value())});
  const std::size_t considered = std::min(shards_.size(), kConsidered);
  const std::size_t first =
      considered == shards_.size()
          ? 0
          : random_below(shards_.size(), {kBidderDraw, key, static_cast<std::uint64_t>(round)});
  std::vector<strads::Block> open;
  for (std::size_t i = 0; i < considered; ++i) {
    const std::size_t row = (first + i) % shards_.size();
    const ShardId shard = shards_[row];
    if (shard == offer.source || tabu.contains({offer.job, shard})) continue;
    const double gain = largest_gain(values, milli, row);
    if (gain > 0.0) open.push_back({shard.value(), gain});
  }
  std::vector<BidRequest> requests;
  for (const std::size_t i : strads::schedule(open, most, round, key)) {
    requests.push_back({offer.job, ShardId(static_cast<std::int32_t>(open[i].id))});
  }
  return requests;
}

}  // namespace berth::coordinator
