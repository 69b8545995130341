// SPDX-License-Identifier: Apache-2.0
#include "local_search/cyclic_exchange.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace berth::solver::local_search {

using model::Level;

namespace {
constexpr double kTolerance = 1e-9;  ///< of the largest value
}  // namespace

Trade::Trade(const model::Valuation& valuation, const assignment::OptionTable& option_table,
             const assignment::PoolIndex& pool_index, assignment::PlacementTable& placements,
             std::span<const std::uint32_t> positions)
    : valuation_(&valuation),
      option_table_(&option_table),
      pool_index_(&pool_index),
      placements_(&placements),
      positions_(positions.begin(), positions.end()),
      value_(positions.size(), 0.0),
      node_at_(positions.size(), kNone),
      gates_(placements.ledger,
             option_table.profiles()[option_table.profile_of(positions.front())].milli),
      talk_(positions.size(), 0) {
  for (const std::uint32_t p : positions_) waits_at_.push_back(gates_.node_of(placements.jobs[p]));
  tell_talk();
  gather_place_classes();
  members_.resize(place_classes_.size());
  arc_of_.assign(place_classes_.size(), kNone);
  nodes_.resize(gates_.size(), {.inside = {}});
  place_jobs();
  look_at_gates();
}

/// Two jobs with the same tasks load the uplinks alike from any place when they talk alike.
void Trade::tell_talk() {
  const model::Ledger* ledger = placements_->ledger;
  if (ledger == nullptr || ledger->limits()->links->idle()) return;
  std::map<std::tuple<model::Pattern, std::int64_t, std::uint32_t>, std::uint32_t> known;
  for (std::size_t j = 0; j < positions_.size(); ++j) {
    const model::Communication& talk =
        valuation_->instance().workload.job(placements_->jobs[positions_[j]]).communication;
    const auto fresh = static_cast<std::uint32_t>(known.size()) + 1;
    talk_[j] = known.try_emplace({talk.pattern, talk.mbps, talk.servers}, fresh).first->second;
  }
}

void Trade::gather_place_classes() {
  const auto intern = [&](const assignment::PlaceClass& s, std::uint32_t talk) {
    const auto fresh = static_cast<std::uint32_t>(place_classes_.size());
    const auto [known, added] =
        place_classes_.try_emplace({s.type, s.width, s.scope, s.domain, talk}, fresh);
    if (added) narrow_.push_back(kNone);
    return known->second;
  };
  for (std::size_t j = 0; j < positions_.size(); ++j) {
    first_.push_back(static_cast<std::uint32_t>(option_classes_.size()));
    for (const assignment::Option& c : option_table_->options(positions_[j])) {
      const assignment::PlaceClass& s = option_table_->place_classes()[c.place_class];
      const std::uint32_t talk = s.width > Level::rack ? talk_[j] : 0;
      option_classes_.push_back(intern(s, talk));
      if (talk != 0) {
        const std::uint32_t narrow = intern(s, 0);
        narrow_[option_classes_.back()] = narrow;
      }
      tolerance_ = std::max(tolerance_, kTolerance * c.value);
    }
  }
}

/// The node of places in exactly these sets.
std::uint32_t Trade::node_in(std::vector<std::uint32_t> place_classes) {
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  const auto [known, added] = known_.try_emplace(std::move(place_classes), fresh);
  if (added) {
    for (const std::uint32_t s : known->first) members_[s].push_back(fresh);
    nodes_.push_back({.inside = {}});
  }
  return known->second;
}

/// Pools by pod stand for racks: whether a place in a pod is narrow enough cannot be told.
bool Trade::choices_are_wider(std::uint32_t position) const {
  const Level domain = valuation_->instance().workload.job(placements_->jobs[position]).domain;
  return std::ranges::any_of(option_table_->options(position), [&](const assignment::Option& c) {
    return option_table_->place_classes()[c.place_class].width > domain;
  });
}

std::uint32_t Trade::node_of(GpuTypeId type, Level width, RackId rack, PodId pod,
                             std::uint32_t talk) {
  std::vector<std::uint32_t> in;
  const std::uint32_t heard = width > Level::rack ? talk : 0;
  const auto add = [&](Level scope, std::int32_t domain) {
    for (int w = static_cast<int>(width); w < model::kLevels; ++w) {
      const auto found = place_classes_.find({type, static_cast<Level>(w), scope, domain, heard});
      if (found != place_classes_.end()) in.push_back(found->second);
    }
  };
  add(Level::cluster, 0);
  if (width <= Level::pod) add(Level::pod, pod.value());
  if (width <= Level::rack && rack.valid()) add(Level::rack, rack.value());
  return node_in(std::move(in));
}

void Trade::place_jobs() {
  const model::Instance& instance = valuation_->instance();
  for (std::uint32_t j = 0; j < positions_.size(); ++j) {
    const model::JobPlacement& placed = placements_->placed[positions_[j]];
    const model::Job& job = instance.workload.job(placements_->jobs[positions_[j]]);
    if (job.required || job.running >= 0 || choices_are_wider(positions_[j])) continue;
    node_at_[j] = waits_at_[j];
    if (!placed.tasks.empty()) {
      const MachineId m = placed.tasks.front().machine;
      const Level width = model::width(instance.cluster, placed.tasks);
      value_[j] = valuation_->placed(placed);
      node_at_[j] =
          node_of(instance.cluster.class_of(m).gpu_type, width,
                  instance.cluster.machine_rack[m.index()], instance.cluster.pod_of(m), talk_[j]);
    }
    nodes_[node_at_[j]].inside.push_back(j);
  }
}

void Trade::open_pools() {
  of_pool_.clear();
  for (const model::Pool& pool : pool_index_->pools().pools) {
    const std::uint32_t node = pool.gpu_type.valid()
                                   ? node_of(pool.gpu_type, Level::machine, pool.rack, pool.pod, 0)
                                   : kNone;
    const auto nowhere = known_.find({});
    of_pool_.push_back(nowhere != known_.end() && nowhere->second == node ? kNone : node);
  }
}

std::vector<Trade> make_trades(const model::Valuation& valuation,
                               const assignment::OptionTable& option_table,
                               const assignment::PoolIndex& pool_index,
                               assignment::PlacementTable& placements) {
  std::vector<std::vector<std::uint32_t>> of(option_table.profiles().size());
  for (std::uint32_t i = 0; i < placements.jobs.size(); ++i) {
    if (!option_table.options(i).empty()) of[option_table.profile_of(i)].push_back(i);
  }
  std::vector<Trade> trades;
  for (std::size_t s = 0; s < of.size(); ++s) {
    if (of[s].empty() || option_table.profiles()[s].cpu_tasks) continue;
    trades.emplace_back(valuation, option_table, pool_index, placements, of[s]);
  }
  return trades;
}

}  // namespace berth::solver::local_search
