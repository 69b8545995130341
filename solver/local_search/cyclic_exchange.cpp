// SPDX-License-Identifier: Apache-2.0
#include "local_search/cyclic_exchange.hpp"

#include "local_search/exchange_graph.hpp"

#include <algorithm>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"

namespace berth::solver::local_search {

using model::TaskPlacement;

namespace {
/// Most passes of a longest-path computation: ends cycles that only rounding errors make improving.
/// Untuned guard.
constexpr int kMaxPasses = 100;
}  // namespace

template <SearchState State>
void CyclicExchange<State>::rebuild_arcs(GraphNode& node) {
  node.stale = false;
  node.arcs.clear();
  node.leave_candidates.clear();
  const auto first = [&](std::uint32_t a, std::uint32_t b) {
    return space_.ranks[positions_[a]] < space_.ranks[positions_[b]];
  };
  for (const std::uint32_t j : node.jobs) {
    const auto alike = std::ranges::find_if(node.leave_candidates, [&](std::uint32_t other) {
      return unplaced_node_[other] == unplaced_node_[j];
    });
    if (alike == node.leave_candidates.end()) {
      node.leave_candidates.push_back(j);
    } else if (value_[j] < value_[*alike] || (value_[j] == value_[*alike] && first(*alike, j))) {
      *alike = j;
    }
    const auto options = space_.option_table.options(positions_[j]);
    for (std::size_t k = 0; k < options.size(); ++k) {
      const std::uint32_t place_class = option_classes_[first_option_[j] + k];
      const double gain = options[k].value - value_[j];
      if (arc_of_[place_class] == kNone) {
        arc_of_[place_class] = static_cast<std::uint32_t>(node.arcs.size());
        node.arcs.push_back({place_class, gain, j});
        continue;
      }
      Arc& arc = node.arcs[arc_of_[place_class]];
      if (gain > arc.gain || (gain == arc.gain && first(j, arc.job))) arc = {place_class, gain, j};
    }
  }
  for (const Arc& arc : node.arcs) arc_of_[arc.place_class] = kNone;
}

/// Calls visit(to, length, job) for the arcs out of a vertex.
template <SearchState State>
template <class Visit>
void CyclicExchange<State>::visit_arcs(std::uint32_t vertex, Visit visit) {
  const auto nodes = static_cast<std::uint32_t>(nodes_.size());
  if (vertex >= nodes) {
    for (const std::uint32_t n : class_nodes_[vertex - nodes]) visit(n, 0.0, kNone);
    const std::uint32_t without_traffic = without_traffic_[vertex - nodes];
    if (without_traffic != kNone) visit(nodes + without_traffic, 0.0, kNone);
    return;
  }
  GraphNode& node = nodes_[vertex];
  if (node.stale) rebuild_arcs(node);
  for (const Arc& arc : node.arcs) visit(nodes + arc.place_class, arc.gain, arc.job);
  if (!is_unplaced(vertex)) {
    for (const std::uint32_t j : node.leave_candidates) visit(unplaced_node_[j], -value_[j], j);
    return;
  }
  if (vertex != 0) visit(quota_nodes_.parent(vertex), paths_.quota_costs[vertex - 1].out, kNone);
  for (const std::uint32_t n : quota_nodes_.children(vertex)) {
    if (!paths_.quota_costs[n - 1].is_full()) visit(n, -paths_.quota_costs[n - 1].in, kNone);
  }
}

/// Computes the crossing costs of quotas. True when they have changed: path lengths are then void.
template <SearchState State>
bool CyclicExchange<State>::update_quota_costs() {
  std::vector<QuotaNodes::CrossingCost> quota_costs = quota_nodes_.crossing_costs();
  if (quota_costs == paths_.quota_costs) return false;
  paths_ = {.more = {}, .less = {}, .quota_costs = std::move(quota_costs)};
  return true;
}

/// Keeps the larger of old and new crossing costs, so that quotas do not open before the next
/// `cancel_cycles`; path lengths become void if a cost has risen.
template <SearchState State>
void CyclicExchange<State>::tighten_quota_costs() {
  std::vector<QuotaNodes::CrossingCost> quota_costs = quota_nodes_.crossing_costs();
  for (std::size_t i = 0; i < quota_costs.size(); ++i) {
    const QuotaNodes::CrossingCost& old = paths_.quota_costs[i];
    const bool worse = quota_costs[i].is_full() || (!old.is_full() && quota_costs[i].in >= old.in);
    quota_costs[i] = {.in = worse ? quota_costs[i].in : old.in,
                      .out = std::min(quota_costs[i].out, old.out)};
  }
  if (quota_costs != paths_.quota_costs)
    paths_ = {.more = {}, .less = {}, .quota_costs = std::move(quota_costs)};
}

/// One Bellman-Ford pass over the arcs out of active vertices; false when no path became longer.
template <SearchState State>
bool CyclicExchange<State>::relax_arcs(PathLabels& labels, std::vector<char>& active) {
  bool longer = false;
  for (std::uint32_t v = 0; v < labels.size(); ++v) {
    if (active[v] == 0) continue;
    active[v] = 0;
    const double length = labels[v].length;
    visit_arcs(v, [&](std::uint32_t to, double gain, std::uint32_t job) {
      if (length + gain <= labels[to].length + tolerance_) return;
      labels[to] = {length + gain, v, job};
      active[to] = 1;
      longer = true;
    });
  }
  return longer;
}

template <SearchState State>
auto CyclicExchange<State>::improving_cycle() -> std::optional<Path> {
  update_quota_costs();
  PathLabels labels(vertex_count(), PathLabel{0.0});
  std::vector<char> active(vertex_count(), 1);
  for (int pass = 0; pass < kMaxPasses && relax_arcs(labels, active); ++pass) {
    if (auto cycle = cycle_in(labels)) return cycle;
  }
  return std::nullopt;
}

template <SearchState State>
auto CyclicExchange<State>::cycle_in(const PathLabels& labels) const -> std::optional<Path> {
  std::vector<std::uint32_t> seen(labels.size(),
                                  kNone);  // by vertex: start of the walk that reached it
  for (std::uint32_t start = 0; start < labels.size(); ++start) {
    std::uint32_t v = start;
    while (v != kNone && seen[v] == kNone) seen[v] = start, v = labels[v].next;
    if (v == kNone || seen[v] != start) continue;
    Path path;
    std::uint32_t at = v;
    do {
      if (labels[at].job != kNone) path.jobs.push_back(labels[at].job);
      at = labels[at].next;
    } while (at != v);
    std::ranges::reverse(path.jobs);
    path.last = node_at_[path.jobs.front()];
    return path;
  }
  return std::nullopt;
}

template <SearchState State>
double CyclicExchange<State>::cancel_cycles() {
  double gained = 0.0;
  for (std::size_t exchanges = 0; exchanges < 4 * positions_.size(); ++exchanges) {
    const auto cycle = improving_cycle();
    if (!cycle) break;
    begin();
    const auto mark = space_.state.mark();
    const double gain = apply(*cycle, entry(cycle->jobs.front()).placement.tasks);
    if (gain <= 0.0) {  // the true value is smaller: a place nearer to home
      space_.state.roll_back(mark);
      roll_back();
      break;
    }
    space_.state.keep(mark);
    gained += gain;
  }
  begin();
  return gained;
}

/// Labels without any path.
template <SearchState State>
auto CyclicExchange<State>::no_paths() const -> PathLabels {
  PathLabels labels(vertex_count(), PathLabel{-kInfinity});
  labels[0].length = 0.0;
  return labels;
}

/// Where an improving cycle is left, because moves changed values since the last `cancel_cycles`,
/// there are no longest paths.
template <SearchState State>
void CyclicExchange<State>::label_additions() {
  paths_.more = no_paths();
  std::vector<char> active(vertex_count(), 0);
  active[0] = 1;
  for (int pass = 0; pass < kMaxPasses; ++pass) {
    if (!relax_arcs(paths_.more, active)) return;
  }
  paths_.more = no_paths();
}

/// Bellman-Ford passes against the arcs. A pass visits only vertices with an arc to a path that has
/// become longer since their last visit: the others would not change.
template <SearchState State>
void CyclicExchange<State>::label_removals() {
  paths_.less = no_paths();
  reverse_arcs();
  std::vector<char> active(vertex_count(), 0);
  const auto activate_sources = [&](std::uint32_t to) {
    for (std::uint32_t a = last_arc_to_[to]; a != kNone; a = reversed_arcs_[a].next)
      active[reversed_arcs_[a].from] = 1;
  };
  activate_sources(0);
  bool longer = true;
  for (int pass = 0; pass < kMaxPasses && longer; ++pass) {
    longer = false;
    for (auto v = static_cast<std::uint32_t>(vertex_count()); v-- > 1;) {
      if (active[v] == 0) continue;
      active[v] = 0;
      PathLabel& label = paths_.less[v];
      const double before = label.length;
      visit_arcs(v, [&](std::uint32_t to, double gain, std::uint32_t job) {
        const double length = gain + paths_.less[to].length;
        if (length == -kInfinity || length <= label.length + tolerance_) return;
        label = {length, to, job};
      });
      if (label.length == before) continue;
      longer = true;
      activate_sources(v);
    }
  }
  if (longer) paths_.less = no_paths();
}

/// Lists the arcs into each vertex.
template <SearchState State>
void CyclicExchange<State>::reverse_arcs() {
  last_arc_to_.assign(vertex_count(), kNone);
  reversed_arcs_.clear();
  for (std::uint32_t v = 0; v < vertex_count(); ++v) {
    visit_arcs(v, [&](std::uint32_t to, double /*gain*/, std::uint32_t /*job*/) {
      reversed_arcs_.push_back({.from = v, .next = last_arc_to_[to]});
      last_arc_to_[to] = static_cast<std::uint32_t>(reversed_arcs_.size()) - 1;
    });
  }
}

template <SearchState State>
double CyclicExchange<State>::value_of_one_more(std::uint32_t node) {
  tighten_quota_costs();
  if (paths_.more.empty()) label_additions();
  return paths_.more[node].length;
}

template <SearchState State>
double CyclicExchange<State>::value_of_one_less(std::uint32_t node) {
  tighten_quota_costs();
  if (paths_.less.empty()) label_removals();
  return paths_.less[node].length;
}

template <SearchState State>
auto CyclicExchange<State>::path_to_add(std::uint32_t node) const -> Path {
  Path path{.jobs = {}, .last = node};
  for (std::uint32_t v = node; v != 0; v = paths_.more[v].next) {
    if (paths_.more[v].job != kNone) path.jobs.push_back(paths_.more[v].job);
    BERTH_ASSERT(path.jobs.size() <= vertex_count());
  }
  std::ranges::reverse(path.jobs);
  return path;
}

template <SearchState State>
auto CyclicExchange<State>::path_to_remove(std::uint32_t node) const -> Path {
  Path path{.jobs = {}, .last = 0};
  for (std::uint32_t v = node; v != 0; v = paths_.less[v].next) {
    if (paths_.less[v].job != kNone) path.jobs.push_back(paths_.less[v].job);
    BERTH_ASSERT(path.jobs.size() <= vertex_count());
  }
  return path;
}

template <SearchState State>
void CyclicExchange<State>::begin() {
  journal_.clear();
}

/// Updates the node of a job from the occupancy.
template <SearchState State>
void CyclicExchange<State>::set_node(std::uint32_t job, std::uint32_t node) {
  if (!entry(job).is_placed()) node = unplaced_node_[job];
  if (node_at_[job] != node) {
    std::erase(nodes_[node_at_[job]].jobs, job);
    nodes_[node].jobs.push_back(job);
    nodes_[node_at_[job]].stale = true;
  }
  nodes_[node].stale = true;
  node_at_[job] = node;
  value_[job] = entry(job).value;
}

template <SearchState State>
double CyclicExchange<State>::apply(const Path& path, std::vector<TaskPlacement> place) {
  std::vector<QuotaNodes::CrossingCost> quota_costs = paths_.quota_costs;
  if (journal_.empty()) paths_before_ = std::move(paths_);
  paths_ = {.more = {}, .less = {}, .quota_costs = std::move(quota_costs)};
  State& state = space_.state;
  double gain = state.limit_usage().surcharges();
  std::vector<std::vector<TaskPlacement>> left;
  for (const std::uint32_t job : path.jobs) {
    left.push_back(entry(job).placement.tasks);
    if (!left.back().empty()) state.give_back(entry(job).job());
  }
  std::uint32_t node = path.last;
  for (std::size_t i = path.jobs.size(); i-- > 0;) {
    const std::uint32_t job = path.jobs[i];
    const std::uint32_t from = node_at_[job];
    journal_.push_back({job, from});
    gain -= value_[job];
    if (!place.empty()) state.take({.job = entry(job).job(), .tasks = std::move(place)});
    set_node(job, node);
    gain += value_[job];
    place = std::move(left[i]);
    node = from;
  }
  return gain - state.limit_usage().surcharges();
}

template <SearchState State>
void CyclicExchange<State>::roll_back() {
  if (journal_.empty()) return;
  for (auto move = journal_.rbegin(); move != journal_.rend(); ++move) {
    set_node(move->job, move->node);
  }
  journal_.clear();
  paths_ = std::move(paths_before_);
}

template <SearchState State>
std::uint32_t CyclicExchange<State>::lone_job(std::uint32_t node, MachineId machine) const {
  const auto here = [machine](const TaskPlacement& t) { return t.machine == machine; };
  for (const std::uint32_t j : nodes_[node].jobs) {
    if (std::ranges::all_of(entry(j).placement.tasks, here)) return j;
  }
  return kNone;
}

template <SearchState State>
std::map<MachineId, int> CyclicExchange<State>::lone_job_counts() const {
  std::map<MachineId, int> counts;
  for (std::uint32_t j = 0; j < positions_.size(); ++j) {
    if (node_at_[j] == kNone || is_unplaced(node_at_[j])) continue;
    const auto& tasks = entry(j).placement.tasks;
    const MachineId m = tasks.front().machine;
    const auto here = [m](const TaskPlacement& t) { return t.machine == m; };
    if (std::ranges::all_of(tasks, here)) ++counts[m];
  }
  return counts;
}

template class CyclicExchange<Occupancy>;
template std::vector<CyclicExchange<Occupancy>> make_exchanges(const SearchSpace<Occupancy>&);

}  // namespace berth::solver::local_search
