// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/cyclic_exchange.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace berth::solver::local_search {

using model::Level;

inline constexpr double kTolerance =
    1e-9;  ///< share of the largest value that is rounding; untuned guard

template <SearchState State>
CyclicExchange<State>::CyclicExchange(const SearchSpace<State>& space,
                                      std::span<const std::uint32_t> positions)
    : space_(space),
      positions_(positions.begin(), positions.end()),
      value_(positions.size(), 0.0),
      node_at_(positions.size(), kNone),
      quota_nodes_(space.state.limit_usage(), space.profile(positions.front()).milli),
      traffic_class_(positions.size(), 0) {
  for (const std::uint32_t p : positions_) {
    entries_.push_back(static_cast<std::uint32_t>(space.state.position(space.jobs[p])));
    unplaced_node_.push_back(quota_nodes_.node_of(space.jobs[p]));
  }
  classify_traffic();
  gather_place_classes();
  class_nodes_.resize(place_classes_.size());
  arc_of_.assign(place_classes_.size(), kNone);
  nodes_.resize(quota_nodes_.size(), {.jobs = {}});
  add_jobs();
  update_quota_costs();
}

/// Groups jobs into traffic classes: jobs of one profile with equal communication use equal amounts
/// of limits of racks and pods in any place.
template <SearchState State>
void CyclicExchange<State>::classify_traffic() {
  const planner_model::CouplingLimits* limits = space_.state.limit_usage().limits();
  if (limits == nullptr || !limits->of_places()) return;
  std::map<std::tuple<model::CommunicationPattern, std::int64_t, std::uint32_t>, std::uint32_t>
      known;
  for (std::size_t j = 0; j < positions_.size(); ++j) {
    const model::Communication& communication = space_.job(positions_[j]).communication;
    const auto fresh = static_cast<std::uint32_t>(known.size()) + 1;
    traffic_class_[j] =
        known.try_emplace({communication.pattern, communication.mbps, communication.servers}, fresh)
            .first->second;
  }
}

template <SearchState State>
void CyclicExchange<State>::gather_place_classes() {
  const auto intern = [&](const assignment::PlaceClass& s, std::uint32_t traffic_class) {
    const auto fresh = static_cast<std::uint32_t>(place_classes_.size());
    const auto [known, added] =
        place_classes_.try_emplace({s.type, s.width, s.scope, s.domain, traffic_class}, fresh);
    if (added) without_traffic_.push_back(kNone);
    return known->second;
  };
  for (std::size_t j = 0; j < positions_.size(); ++j) {
    first_option_.push_back(static_cast<std::uint32_t>(option_classes_.size()));
    for (const assignment::Option& c : space_.option_table.options(positions_[j])) {
      const assignment::PlaceClass& s = space_.option_table.place_classes()[c.place_class];
      const std::uint32_t traffic_class = s.width > Level::rack ? traffic_class_[j] : 0;
      option_classes_.push_back(intern(s, traffic_class));
      if (traffic_class != 0) {
        const std::uint32_t without_traffic = intern(s, 0);
        without_traffic_[option_classes_.back()] = without_traffic;
      }
      tolerance_ = std::max(tolerance_, kTolerance * c.value);
    }
  }
}

/// The node of places in exactly these classes.
template <SearchState State>
std::uint32_t CyclicExchange<State>::node_of_classes(std::vector<std::uint32_t> place_classes) {
  const auto fresh = static_cast<std::uint32_t>(nodes_.size());
  const auto [known, added] = node_of_class_list_.try_emplace(std::move(place_classes), fresh);
  if (added) {
    for (const std::uint32_t s : known->first) class_nodes_[s].push_back(fresh);
    nodes_.push_back({.jobs = {}});
  }
  return known->second;
}

/// True when pools by pod stand for racks and the job has a domain limit below the pod: whether a
/// place keeps the limit is then unknown.
template <SearchState State>
bool CyclicExchange<State>::options_exceed_domain(std::uint32_t position) const {
  const Level domain = space_.job(position).domain;
  return std::ranges::any_of(
      space_.option_table.options(position), [&](const assignment::Option& c) {
        return space_.option_table.place_classes()[c.place_class].width > domain;
      });
}

template <SearchState State>
std::uint32_t CyclicExchange<State>::node_of(GpuTypeId type, Level width, RackId rack, PodId pod,
                                             std::uint32_t traffic_class) {
  std::vector<std::uint32_t> in;
  const std::uint32_t traffic = width > Level::rack ? traffic_class : 0;
  const auto add = [&](Level scope, std::int32_t domain) {
    for (int w = static_cast<int>(width); w < model::kLevels; ++w) {
      const auto found = place_classes_.find({type, static_cast<Level>(w), scope, domain, traffic});
      if (found != place_classes_.end()) in.push_back(found->second);
    }
  };
  add(Level::cluster, 0);
  if (width <= Level::pod) add(Level::pod, pod.value());
  if (width <= Level::rack && rack.valid()) add(Level::rack, rack.value());
  return node_of_classes(std::move(in));
}

template <SearchState State>
void CyclicExchange<State>::add_jobs() {
  const model::Cluster& cluster = space_.instance().cluster;
  for (std::uint32_t j = 0; j < positions_.size(); ++j) {
    const model::JobPlacement& placed = entry(j).placement;
    const model::Job& job = space_.job(positions_[j]);
    if (job.required || options_exceed_domain(positions_[j])) continue;
    node_at_[j] = unplaced_node_[j];
    if (!placed.tasks.empty()) {
      const MachineId m = placed.tasks.front().machine;
      const Level width = model::width(cluster, placed.tasks);
      value_[j] = entry(j).value;
      node_at_[j] = node_of(cluster.class_of(m).gpu_type, width, cluster.machine_rack[m.index()],
                            cluster.pod_of(m), traffic_class_[j]);
    }
    nodes_[node_at_[j]].jobs.push_back(j);
  }
}

template <SearchState State>
void CyclicExchange<State>::add_pool_nodes() {
  of_pool_.clear();
  for (const planner_model::Pool& pool : space_.pool_index.pools().pools) {
    const std::uint32_t node = pool.gpu_type.valid()
                                   ? node_of(pool.gpu_type, Level::machine, pool.rack, pool.pod, 0)
                                   : kNone;
    const auto nowhere = node_of_class_list_.find({});
    of_pool_.push_back(nowhere != node_of_class_list_.end() && nowhere->second == node ? kNone
                                                                                       : node);
  }
}

template <SearchState State>
std::vector<CyclicExchange<State>> make_exchanges(const SearchSpace<State>& space) {
  std::vector<std::vector<std::uint32_t>> of(space.option_table.profiles().size());
  for (std::uint32_t i = 0; i < space.jobs.size(); ++i) {
    if (!space.option_table.options(i).empty()) of[space.option_table.profile_of(i)].push_back(i);
  }
  std::vector<CyclicExchange<State>> exchanges;
  for (std::size_t s = 0; s < of.size(); ++s) {
    if (of[s].empty() || space.option_table.profiles()[s].cpu_tasks) continue;
    exchanges.emplace_back(space, of[s]);
  }
  return exchanges;
}

}  // namespace berth::solver::local_search
