// SPDX-License-Identifier: Apache-2.0
#include "local_search/cyclic_exchange.hpp"

#include <algorithm>

#include "berth/base/assert.hpp"
#include "berth/base/infinity.hpp"

namespace berth::solver::local_search {

using model::TaskPlacement;

namespace {
constexpr int kPasses = 100;  ///< of a measurement: ends what rounding errors would go round
}  // namespace

void Trade::refresh(Node& node) {
  node.stale = false;
  node.arcs.clear();
  node.leavers.clear();
  for (const std::uint32_t j : node.inside) {
    const auto alike = std::ranges::find_if(
        node.leavers, [&](std::uint32_t other) { return waits_at_[other] == waits_at_[j]; });
    if (alike == node.leavers.end()) {
      node.leavers.push_back(j);
    } else if (value_[j] < value_[*alike]) {
      *alike = j;
    }
    const auto options = option_table_->options(positions_[j]);
    for (std::size_t k = 0; k < options.size(); ++k) {
      const std::uint32_t place_class = option_classes_[first_[j] + k];
      const double gain = options[k].value - value_[j];
      if (arc_of_[place_class] == kNone) {
        arc_of_[place_class] = static_cast<std::uint32_t>(node.arcs.size());
        node.arcs.push_back({place_class, gain, j});
      } else if (gain > node.arcs[arc_of_[place_class]].gain) {
        node.arcs[arc_of_[place_class]] = {place_class, gain, j};
      }
    }
  }
  for (const Arc& arc : node.arcs) arc_of_[arc.place_class] = kNone;
}

/// visit(to, length, job) for the arcs out of a vertex.
template <class Visit>
void Trade::visit_arcs(std::uint32_t vertex, Visit visit) {
  const auto nodes = static_cast<std::uint32_t>(nodes_.size());
  if (vertex >= nodes) {
    for (const std::uint32_t n : members_[vertex - nodes]) visit(n, 0.0, kNone);
    const std::uint32_t narrow = narrow_[vertex - nodes];
    if (narrow != kNone) visit(nodes + narrow, 0.0, kNone);
    return;
  }
  Node& node = nodes_[vertex];
  if (node.stale) refresh(node);
  for (const Arc& arc : node.arcs) visit(nodes + arc.place_class, arc.gain, arc.job);
  if (!outside(vertex)) {
    for (const std::uint32_t j : node.leavers) visit(waits_at_[j], -value_[j], j);
    return;
  }
  if (vertex != 0) visit(gates_.outer(vertex), now_.tolls[vertex - 1].out, kNone);
  for (const std::uint32_t n : gates_.inner(vertex)) {
    if (!now_.tolls[n - 1].shut()) visit(n, -now_.tolls[n - 1].in, kNone);
  }
}

/// False: they stand as before. Else what was measured then is void.
bool Trade::look_at_gates() {
  std::vector<Gates::Toll> tolls = gates_.tolls();
  if (tolls == now_.tolls) return false;
  now_ = {.more = {}, .less = {}, .tolls = std::move(tolls)};
  return true;
}

/// The same for the worse: what is shut or dearer now.
void Trade::mind_gates() {
  std::vector<Gates::Toll> tolls = gates_.tolls();
  for (std::size_t i = 0; i < tolls.size(); ++i) {
    const Gates::Toll& old = now_.tolls[i];
    const bool worse = tolls[i].shut() || (!old.shut() && tolls[i].in >= old.in);
    tolls[i] = {.in = worse ? tolls[i].in : old.in, .out = std::min(tolls[i].out, old.out)};
  }
  if (tolls != now_.tolls) now_ = {.more = {}, .less = {}, .tolls = std::move(tolls)};
}

double Trade::surcharges() const {
  return placements_->ledger == nullptr ? 0.0 : placements_->ledger->surcharges();
}

/// One pass along the arcs out of active vertices; false when nothing became longer.
bool Trade::relax(Reaches& reaches, std::vector<char>& active) {
  bool longer = false;
  for (std::uint32_t v = 0; v < reaches.size(); ++v) {
    if (active[v] == 0) continue;
    active[v] = 0;
    const double length = reaches[v].length;
    visit_arcs(v, [&](std::uint32_t to, double gain, std::uint32_t job) {
      if (length + gain <= reaches[to].length + tolerance_) return;
      reaches[to] = {length + gain, v, job};
      active[to] = 1;
      longer = true;
    });
  }
  return longer;
}

std::optional<Trade::Chain> Trade::improving_cycle() {
  look_at_gates();
  Reaches reaches(vertices(), Reach{0.0});
  std::vector<char> active(vertices(), 1);
  for (int pass = 0; pass < kPasses && relax(reaches, active); ++pass) {
    if (auto cycle = cycle_in(reaches)) return cycle;
  }
  return std::nullopt;
}

std::optional<Trade::Chain> Trade::cycle_in(const Reaches& reaches) const {
  std::vector<std::uint32_t> seen(reaches.size(), kNone);  // by the walk from so and so
  for (std::uint32_t start = 0; start < reaches.size(); ++start) {
    std::uint32_t v = start;
    while (v != kNone && seen[v] == kNone) seen[v] = start, v = reaches[v].next;
    if (v == kNone || seen[v] != start) continue;
    Chain chain;
    std::uint32_t at = v;
    do {
      if (reaches[at].job != kNone) chain.jobs.push_back(reaches[at].job);
      at = reaches[at].next;
    } while (at != v);
    std::ranges::reverse(chain.jobs);
    chain.last = node_at_[chain.jobs.front()];
    return chain;
  }
  return std::nullopt;
}

double Trade::settle() {
  double gained = 0.0;
  for (std::size_t trades = 0; trades < 4 * positions_.size(); ++trades) {
    const auto cycle = improving_cycle();
    if (!cycle) break;
    begin();
    auto place = placements_->placed[positions_[cycle->jobs.front()]].tasks;
    const double gain = carry_out(*cycle, place);
    if (gain <= 0.0) {  // a place nearer home that is worth less
      roll_back();
      break;
    }
    gained += gain;
  }
  begin();
  return gained;
}

void Trade::measure_more() {
  now_.more.assign(vertices(), Reach{-kInfinity});
  now_.more[0].length = 0.0;
  std::vector<char> active(vertices(), 0);
  active[0] = 1;
  for (int pass = 0; pass < kPasses; ++pass) {
    if (!relax(now_.more, active)) break;
  }
}

void Trade::measure_less() {
  now_.less.assign(vertices(), Reach{-kInfinity});
  now_.less[0].length = 0.0;
  bool longer = true;
  for (int pass = 0; pass < kPasses && longer; ++pass) {
    longer = false;
    for (auto v = static_cast<std::uint32_t>(vertices()); v-- > 1;) {
      visit_arcs(v, [&](std::uint32_t to, double gain, std::uint32_t job) {
        const double length = gain + now_.less[to].length;
        if (length == -kInfinity || length <= now_.less[v].length + tolerance_) return;
        now_.less[v] = {length, to, job};
        longer = true;
      });
    }
  }
}

double Trade::worth_of_more(std::uint32_t node) {
  mind_gates();
  if (now_.more.empty()) measure_more();
  return now_.more[node].length;
}

double Trade::worth_of_less(std::uint32_t node) {
  mind_gates();
  if (now_.less.empty()) measure_less();
  return now_.less[node].length;
}

Trade::Chain Trade::more(std::uint32_t node) const {
  Chain chain{.jobs = {}, .last = node};
  for (std::uint32_t v = node; v != 0; v = now_.more[v].next) {
    if (now_.more[v].job != kNone) chain.jobs.push_back(now_.more[v].job);
    BERTH_ASSERT(chain.jobs.size() <= vertices());
  }
  std::ranges::reverse(chain.jobs);
  return chain;
}

Trade::Chain Trade::less(std::uint32_t node) const {
  Chain chain{.jobs = {}, .last = 0};
  for (std::uint32_t v = node; v != 0; v = now_.less[v].next) {
    if (now_.less[v].job != kNone) chain.jobs.push_back(now_.less[v].job);
    BERTH_ASSERT(chain.jobs.size() <= vertices());
  }
  return chain;
}

void Trade::begin() { journal_.clear(); }

void Trade::move(std::uint32_t job, std::uint32_t node, std::vector<TaskPlacement> tasks) {
  if (tasks.empty()) node = waits_at_[job];
  if (node_at_[job] != node) {
    std::erase(nodes_[node_at_[job]].inside, job);
    nodes_[node].inside.push_back(job);
    nodes_[node_at_[job]].stale = true;
  }
  nodes_[node].stale = true;
  node_at_[job] = node;
  model::JobPlacement& placed = placements_->placed[positions_[job]];
  model::Ledger* ledger = placements_->ledger;
  if (ledger != nullptr && !placed.tasks.empty()) ledger->remove(placed);
  placed.tasks = std::move(tasks);
  if (ledger != nullptr && !placed.tasks.empty()) ledger->add(placed);
  value_[job] = placed.tasks.empty() ? 0.0 : valuation_->placed(placed);
}

double Trade::carry_out(const Chain& chain, std::vector<TaskPlacement>& place) {
  std::vector<Gates::Toll> tolls = now_.tolls;
  if (journal_.empty()) before_ = std::move(now_);
  now_ = {.more = {}, .less = {}, .tolls = std::move(tolls)};
  double gain = surcharges();
  std::uint32_t node = chain.last;
  for (std::size_t i = chain.jobs.size(); i-- > 0;) {
    const std::uint32_t job = chain.jobs[i];
    const std::uint32_t from = node_at_[job];
    std::vector<TaskPlacement> left = placements_->placed[positions_[job]].tasks;
    journal_.push_back({job, from, left});
    gain -= value_[job];
    move(job, node, std::move(place));
    gain += value_[job];
    place = std::move(left);
    node = from;
  }
  return gain - surcharges();
}

void Trade::roll_back() {
  if (journal_.empty()) return;
  for (auto former = journal_.rbegin(); former != journal_.rend(); ++former) {
    move(former->job, former->node, std::move(former->tasks));
  }
  journal_.clear();
  now_ = std::move(before_);
}

std::uint32_t Trade::lodger(std::uint32_t node, MachineId machine) const {
  const auto here = [machine](const TaskPlacement& t) { return t.machine == machine; };
  for (const std::uint32_t j : nodes_[node].inside) {
    if (std::ranges::all_of(placements_->placed[positions_[j]].tasks, here)) return j;
  }
  return kNone;
}

std::map<MachineId, int> Trade::lodgers() const {
  std::map<MachineId, int> counts;
  for (std::size_t j = 0; j < positions_.size(); ++j) {
    if (node_at_[j] == kNone || outside(node_at_[j])) continue;
    const auto& tasks = placements_->placed[positions_[j]].tasks;
    const MachineId m = tasks.front().machine;
    const auto here = [m](const TaskPlacement& t) { return t.machine == m; };
    if (std::ranges::all_of(tasks, here)) ++counts[m];
  }
  return counts;
}

}  // namespace berth::solver::local_search
