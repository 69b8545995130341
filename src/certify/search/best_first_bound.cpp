// SPDX-License-Identifier: Apache-2.0
#include "search/best_first_bound.hpp"

#include "search/machine_states.hpp"
#include "search/placement_enumeration.hpp"
#include "search/search_bound.hpp"
#include "search/search_problem.hpp"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::certify::search {
namespace {

constexpr std::size_t kMostEdges = 100'000;  ///< of states of machines: memory, and time of prices
constexpr int kFirstSteps = 300;             ///< of the subgradient method; chosen, not tuned
constexpr int kMoreSteps = 60;               ///< the same for further prices; chosen, not tuned
constexpr std::size_t kMostPrices = 12;      ///< price vectors; chosen, not tuned
constexpr std::size_t kNodesPerPrices = 50;  ///< nodes from one price vector to the next, growing

class BestFirstSearch {
 public:
  BestFirstSearch(const SearchProblem& problem, const MachineStates& states, std::int64_t steps)
      : problem_(problem),
        states_(states),
        bound_(problem, states),
        placements_(problem, states),
        steps_(steps) {}

  std::optional<Int128> run() {
    Situation start{.room = problem_.empty_room(states_)};
    start.used.assign(problem_.instance().cluster.queues.size(), 0);
    bound_.add_prices(start, kFirstSteps);
    open(std::move(start), 0);
    while (!open_.empty()) {
      const OpenNode top = open_.top();
      Node& node = nodes_[top.node];
      if (node.closed || node.least != top.bound) {
        open_.pop();
        continue;
      }
      if (node.at.depth == problem_.jobs().size() || steps_ < 0) return top.bound;
      if (!improved(top.node)) {
        expand(top.node);
        if (steps_ < 0) return top.bound;
      }
      add_prices_if_due();
    }
    return std::nullopt;  // required jobs do not fit together
  }

 private:
  struct Node {
    Situation at;
    Int128 value = 0;        ///< of the placed jobs
    Int128 least = 0;        ///< upper bound on every plan below
    std::size_t priced = 0;  ///< price vectors in `least`
    bool closed = false;     ///< expanded, or reached with more value
  };
  struct OpenNode {
    Int128 bound;
    std::size_t depth;
    std::size_t node;
    bool operator<(const OpenNode& other) const {
      return std::tie(bound, depth, other.node) < std::tie(other.bound, other.depth, node);
    }
  };
  using Key = std::tuple<std::size_t, Room, std::vector<std::int64_t>>;

  /// Adds a node unless its situation was reached with as much value.
  void open(Situation at, Int128 value) {
    const auto [known, fresh] = known_.try_emplace(Key(at.depth, at.room, at.used), nodes_.size());
    if (!fresh) {
      if (nodes_[known->second].value >= value) return;
      nodes_[known->second].closed = true;
      known->second = nodes_.size();
    }
    const auto left = bound_.bound(at, 0);
    const std::size_t depth = at.depth;
    Node node{.at = std::move(at), .value = value, .least = value, .priced = bound_.prices()};
    node.closed = !left.has_value();
    if (left) node.least += *left;
    nodes_.push_back(std::move(node));
    if (left) open_.push({nodes_.back().least, depth, nodes_.size() - 1});
  }

  /// True when prices found since lower the node's bound; it then returns to the queue.
  bool improved(std::size_t id) {
    Node& node = nodes_[id];
    if (node.priced == bound_.prices()) return false;
    const auto left = bound_.bound(node.at, node.priced);
    node.priced = bound_.prices();
    const Int128 least = std::min(node.least, node.value + left.value());
    if (least == node.least) return false;
    open_.pop();
    node.least = least;
    open_.push({least, node.at.depth, id});
    return true;
  }

  void expand(std::size_t id) {
    open_.pop();
    nodes_[id].closed = true;
    ++expanded_;
    const Situation at = nodes_[id].at;
    const Int128 value = nodes_[id].value;
    const SearchedJob& job = problem_.jobs()[at.depth];
    if (!job.required) open({at.depth + 1, at.room, at.used}, value);
    if (!bound_.may_fit(job, at)) return;
    std::vector<std::int64_t> used = at.used;
    for (const std::size_t q : job.queues) used[q] += job.milli;
    const Int128 lost = penalty(used) - penalty(at.used);
    std::map<Room, Int128> found;  // the most that leads to each room
    placements_.run(job, at.room, steps_, [&](Room room, Int128 gain) {
      const auto [place, fresh] = found.try_emplace(std::move(room), gain);
      if (!fresh) place->second = std::max(place->second, gain);
    });
    for (const auto& [room, gain] : found) {
      if (job.required || gain > lost) open({at.depth + 1, room, used}, value + gain - lost);
    }
  }

  [[nodiscard]] Int128 penalty(const std::vector<std::int64_t>& used) const {
    Int128 sum = 0;
    const auto quotas = problem_.quotas();
    for (std::size_t q = 0; q < used.size(); ++q) {
      if (quotas[q] && used[q] > *quotas[q])
        sum += problem_.penalty(q, used[q] - *quotas[q]).value_or(0);
    }
    return sum;
  }

  /// Prices for the best open node when many nodes were expanded since the last ones.
  void add_prices_if_due() {
    if (bound_.prices() >= kMostPrices || open_.empty()) return;
    if (expanded_ < next_prices_) return;
    next_prices_ = 2 * expanded_ + kNodesPerPrices;
    const Situation at = nodes_[open_.top().node].at;
    bound_.add_prices(at, kMoreSteps);
  }

  const SearchProblem& problem_;
  const MachineStates& states_;
  SearchBound bound_;
  PlacementEnumeration placements_;
  std::int64_t steps_;
  std::size_t expanded_ = 0, next_prices_ = kNodesPerPrices;
  std::vector<Node> nodes_;
  std::map<Key, std::size_t> known_;
  std::priority_queue<OpenNode> open_;
};

}  // namespace

std::optional<Int128> best_first_bound(const model::InstanceView& instance,
                                       model::Objective objective, int scale_log2,
                                       std::span<const JobId> required_placed, std::int64_t steps) {
  const SearchProblem problem(instance, objective, scale_log2, required_placed);
  const MachineStates states(instance, problem.kinds(), kMostEdges);
  if (!states.complete()) return std::nullopt;
  return BestFirstSearch(problem, states, steps).run();
}

}  // namespace berth::certify::search
