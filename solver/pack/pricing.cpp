// SPDX-License-Identifier: Apache-2.0
#include "pricing.hpp"

#include "contents.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

namespace berth::solver {
namespace {

constexpr std::size_t kLabelsADeviceSize = 200;  ///< while contents of one device are built
constexpr int kFirstWidth = 11;                  ///< first delta = bound / 2^11
constexpr Profit kWiden = 4;

/// Copies that the state's devices hold when nothing else is there.
std::int64_t most_copies(const MachineState& state, const Item& item) {
  if (item.gpus > 0) return state.whole / item.gpus;
  if (item.milli == 0) return 0;
  std::int64_t copies = static_cast<std::int64_t>(state.whole) * (model::kGpuMilli / item.milli);
  for (const int free : state.partial) copies += free / item.milli;
  return copies;
}

/// One pass: all contents of the machine whose bound passes `floor`.
class Pass {
 public:
  Pass(const MachineState& state, std::span<const Item> items, const MachineBound& bound,
       Profit threshold, std::size_t labels)
      : state_(state), items_(items), bound_(bound), labels_(labels), arena_(1) {
    delta_ = bound.bound - threshold;
    floor_ = bound.share.empty() ? 0 : devices_bound() - delta_;
    tight_ =
        std::ranges::any_of(items, [&](const Item& i) { return i.cap < most_copies(state, i); });
    ends_ = {0};
  }

  void run() {
    Profit later = devices_bound();
    for (std::size_t first = 0; first < state_.partial.size();) {
      const int free = state_.partial[first];
      std::size_t end = first;
      for (; end < state_.partial.size() && state_.partial[end] == free; ++end) {
        later -= bound_.device(free);
      }
      opened_devices(free, end - first, later);
      first = end;
    }
    if (state_.whole > 0) whole_devices();
  }

  [[nodiscard]] const std::vector<std::int32_t>& ends() const { return ends_; }
  [[nodiscard]] const Label& label(std::int32_t l) const {
    return arena_[static_cast<std::size_t>(l)];
  }
  [[nodiscard]] const Content& content(std::int32_t c) const {
    return contents_[static_cast<std::size_t>(c)];
  }
  [[nodiscard]] bool truncated() const { return truncated_; }

 private:
  /// Best reduced profit over all devices.
  [[nodiscard]] Profit devices_bound() const {
    Profit sum = bound_.whole.back();
    for (const int free : state_.partial) sum += bound_.device(free);
    return sum;
  }

  [[nodiscard]] std::int32_t copies_before(const Label& last, std::int32_t item) const {
    std::int32_t sum = 0;
    for (const Label* l = &last; l->item >= 0; l = &label(l->parent)) {
      for (const auto& [i, count] : content(l->item).items) sum += i == item ? count : 0;
    }
    return sum;
  }

  [[nodiscard]] ParetoKnapsack::Admits admits() const {
    if (!tight_) return {};
    return [this](const Label& from, std::int32_t c) {
      return std::ranges::all_of(content(c).items, [&](const auto& entry) {
        const auto& [i, count] = entry;
        return copies_before(from, i) + count <= items_[static_cast<std::size_t>(i)].cap;
      });
    };
  }

  void adopt(DeviceContents found) {
    truncated_ = truncated_ || found.truncated;
    for (Content& c : found.contents) {
      c.total.cap = 1 << 20;
      for (const auto& [i, count] : c.items) {
        c.total.cap = std::min(c.total.cap, items_[static_cast<std::size_t>(i)].cap / count);
      }
      contents_.push_back(std::move(c));
    }
  }

  void extend(ParetoKnapsack& knapsack, std::size_t from) {
    knapsack.start(ends_);
    std::stable_sort(contents_.begin() + static_cast<std::ptrdiff_t>(from), contents_.end(),
                     [](const Content& a, const Content& b) {
                       return a.total.reduced * b.total.size > b.total.reduced * a.total.size;
                     });
    for (std::size_t c = from; c < contents_.size(); ++c) {
      contents_[c].total.id = static_cast<std::int32_t>(c);
      if (contents_[c].total.cap > 0) knapsack.add(contents_[c].total, admits());
    }
    truncated_ = truncated_ || knapsack.truncated();
    ends_ = knapsack.labels(knapsack.capacity());
  }

  void opened_devices(int free, std::size_t devices, Profit later) {
    const std::size_t from = contents_.size();
    adopt(device_contents(state_, items_, bound_, free, bound_.device(free) - delta_,
                          kLabelsADeviceSize));
    std::vector<Profit> rest(devices + 1, 0);
    for (std::size_t k = 1; k <= devices; ++k) rest[k] = rest[k - 1] + bound_.device(free);
    ParetoKnapsack knapsack(arena_, rest,
                            {state_.cpu, state_.memory, state_.nic, floor_ - later,
                             std::max<std::size_t>(labels_ / (devices + 1), 16)});
    extend(knapsack, from);
  }

  void whole_devices() {
    const std::size_t from = contents_.size();
    const Profit last = bound_.whole.back() - bound_.whole[bound_.whole.size() - 2];
    adopt(device_contents(state_, items_, bound_, static_cast<int>(model::kGpuMilli), last - delta_,
                          kLabelsADeviceSize));
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Item& item = items_[i];
      if (item.gpus == 0 || item.gpus > state_.whole) continue;
      contents_.push_back({.capacity = 0,
                           .total = {0, item.gpus, item.profit, reduced(item, bound_.multipliers),
                                     item.cpu, item.memory, item.nic, item.cap},
                           .items = {{static_cast<std::int32_t>(i), 1}}});
    }
    ParetoKnapsack knapsack(
        arena_, bound_.whole,
        {state_.cpu, state_.memory, state_.nic, floor_,
         std::max<std::size_t>(labels_ / static_cast<std::size_t>(state_.whole + 1), 16)});
    extend(knapsack, from);
  }

  const MachineState& state_;
  std::span<const Item> items_;
  const MachineBound& bound_;
  std::size_t labels_;
  Profit delta_ = 0;
  Profit floor_ = 0;
  bool tight_ = false;
  bool truncated_ = false;
  std::vector<Label> arena_;
  std::vector<Content> contents_;
  std::vector<std::int32_t> ends_;
};

/// Tasks without GPUs beside a content: the densest first.
struct CpuFill {
  Profit profit = 0;
  std::vector<TypeCount> tasks;
};

CpuFill fill_cpu(const MachineState& state, std::span<const Item* const> order,
                 const Label& beside) {
  CpuFill filled;
  std::int64_t cpu = state.cpu - beside.cpu;
  std::int64_t memory = state.memory - beside.memory;
  std::int64_t nic = state.nic - beside.nic;
  for (const Item* item : order) {
    std::int64_t n = item->cap;
    if (item->cpu > 0) n = std::min(n, cpu / item->cpu);
    if (item->memory > 0) n = std::min(n, memory / item->memory);
    if (item->nic > 0) n = std::min(n, nic / item->nic);
    if (n <= 0) continue;
    cpu -= n * item->cpu;
    memory -= n * item->memory;
    nic -= n * item->nic;
    filled.profit += n * item->profit;
    filled.tasks.push_back({item->type, static_cast<std::int32_t>(n)});
  }
  return filled;
}

std::vector<const Item*> cpu_items(const MachineState& state, std::span<const Item> items) {
  std::vector<const Item*> order;
  for (const Item& item : items) {
    if (!item.uses_gpu()) order.push_back(&item);
  }
  const auto density = [&](const Item* i) {
    const double part =
        static_cast<double>(i->cpu) / static_cast<double>(std::max<std::int64_t>(state.cpu, 1)) +
        static_cast<double>(i->memory) /
            static_cast<double>(std::max<std::int64_t>(state.memory, 1)) +
        static_cast<double>(i->nic) / static_cast<double>(std::max<std::int64_t>(state.nic, 1));
    return static_cast<double>(i->profit) / std::max(part, 1e-9);
  };
  std::ranges::stable_sort(order, std::greater{}, density);
  return order;
}

/// No set of tasks without GPUs earns more beside a content that leaves this much.
Profit fill_bound(const MachineState& state, std::span<const Item* const> order,
                  const Label& beside) {
  double by_cpu = 0.0;
  double by_memory = 0.0;
  double by_nic = 0.0;
  double sum = 0.0;
  for (const Item* i : order) {
    const auto p = static_cast<double>(i->profit);
    sum += p * i->cap;
    const auto raise = [&](double& most, std::int64_t room, std::int64_t need) {
      most = std::max(most,
                      need > 0 ? p * static_cast<double>(room) / static_cast<double>(need) : 1e18);
    };
    raise(by_cpu, state.cpu - beside.cpu, i->cpu);
    raise(by_memory, state.memory - beside.memory, i->memory);
    raise(by_nic, state.nic - beside.nic, i->nic);
  }
  return static_cast<Profit>(std::ceil(std::min({by_cpu, by_memory, by_nic, sum})));
}

Pattern unfold(std::size_t state, std::span<const Item> items, const Pass& pass, std::int32_t end,
               const CpuFill& filled) {
  Pattern p{.state = static_cast<std::int32_t>(state), .tasks = filled.tasks, .devices = {}};
  std::map<std::int32_t, std::int32_t> counts;
  for (std::int32_t l = end; pass.label(l).item >= 0; l = pass.label(l).parent) {
    const Content& c = pass.content(pass.label(l).item);
    DeviceContent device{.capacity = c.capacity, .shares = {}};
    for (const auto& [i, count] : c.items) {
      const std::int32_t type = items[static_cast<std::size_t>(i)].type;
      counts[type] += count;
      device.shares.push_back({type, count});
    }
    if (c.capacity > 0 && !device.shares.empty()) p.devices.push_back(std::move(device));
  }
  for (const auto& [type, count] : counts) p.tasks.push_back({type, count});
  std::ranges::sort(p.tasks);
  return p;
}

/// Reads the contents above the threshold out of a pass.
void harvest(Priced& priced, const Problem& problem, std::size_t state, std::span<const Item> items,
             const Pass& pass, Profit threshold, int wanted) {
  const MachineState& s = problem.states[state];
  const auto order = cpu_items(s, items);
  std::vector<std::tuple<Profit, std::int32_t>> found;
  Profit most = threshold;
  for (const std::int32_t end : pass.ends()) {
    const Label& l = pass.label(end);
    Profit profit = l.profit;
    if (!order.empty()) {
      profit += fill_cpu(s, order, l).profit;
      most = std::max(most, l.profit + fill_bound(s, order, l));
    }
    most = std::max(most, profit);
    if (profit > threshold) found.emplace_back(-profit, end);
  }
  std::ranges::sort(found);
  if (found.size() > static_cast<std::size_t>(wanted))
    found.resize(static_cast<std::size_t>(wanted));
  for (const auto& [profit, end] : found) {
    const Label& l = pass.label(end);
    priced.patterns.push_back(unfold(state, items, pass, end, fill_cpu(s, order, l)));
  }
  if (!pass.truncated()) priced.bound = std::min(priced.bound, most);
}

/// True when `better` may stand wherever `item` stands, and earns no less.
bool replaces(const Item& better, const Item& item) {
  if (better.profit < item.profit || better.cpu > item.cpu || better.memory > item.memory ||
      better.nic > item.nic) {
    return false;
  }
  if (item.milli > 0) return better.milli > 0 && better.milli <= item.milli;
  return better.gpus <= item.gpus;
}

/// Leaves out tasks on GPUs that another one replaces: no content, and no bound, needs them.
void drop_replaced(const MachineState& state, std::vector<Item>& items) {
  std::vector<const Item*> order;
  for (const Item& item : items) order.push_back(&item);
  std::ranges::stable_sort(order, std::greater{}, [](const Item* i) { return i->profit; });
  std::vector<const Item*> ample;  // those that can be put in as often as there is room
  std::vector<Item> kept;
  for (const Item* item : order) {
    if (item->uses_gpu() &&
        std::ranges::any_of(ample, [&](const Item* a) { return replaces(*a, *item); }))
      continue;
    kept.push_back(*item);
    if (item->uses_gpu() && item->cap >= most_copies(state, *item)) ample.push_back(item);
  }
  items = std::move(kept);
}

}  // namespace

std::vector<Item> items_of(const Problem& problem, std::size_t state, std::span<const double> price,
                           std::span<const std::int64_t> room_for) {
  const MachineState& s = problem.states[state];
  std::vector<Item> items;
  for (std::size_t t = 0; t < problem.types.size(); ++t) {
    const JobType& type = problem.types[t];
    if (room_for[t] <= 0 || !fits(type, s) || type.value[s.slot] <= price[t]) continue;
    items.push_back({static_cast<std::int32_t>(t), type.shape.gpus, s.share(type.shape),
                     type.shape.cpu_milli, type.shape.memory_mib,
                     s.nic == model::kNoLimit ? 0 : type.shape.nic_mbps,
                     to_profit(type.value[s.slot] - price[t]),
                     static_cast<std::int32_t>(std::min<std::int64_t>(room_for[t], 1 << 20))});
  }
  drop_replaced(s, items);
  std::ranges::sort(items, {}, [](const Item& i) { return std::tuple(i.milli, i.type); });
  return items;
}

Priced price_machine(const Problem& problem, std::size_t state, std::span<const Item> items,
                     Profit threshold, const PricingLimits& limits) {
  const MachineState& s = problem.states[state];
  Priced priced;
  if (items.empty()) return priced;
  const MachineBound bound = best_bound(s, items);
  priced.bound = bound.bound;
  Profit lowest = threshold;
  if (limits.widest < from_profit(bound.bound)) {
    lowest = std::max(lowest, bound.bound - to_profit(limits.widest));
  }
  if (bound.bound <= lowest) return priced;
  std::size_t labels = limits.labels;
  for (Profit delta = std::max<Profit>(bound.bound >> kFirstWidth, 1);;) {
    const Profit above = std::max(lowest, bound.bound - delta);
    Pass pass(s, items, bound, above, labels);
    pass.run();
    harvest(priced, problem, state, items, pass, above, limits.patterns);
    if (!priced.patterns.empty() || (above == lowest && !pass.truncated())) {
      priced.exact = !pass.truncated();
      return priced;
    }
    if (!pass.truncated()) {
      delta *= kWiden;
    } else if (labels < limits.last_labels) {
      labels = limits.last_labels;
    } else {
      priced.exact = false;
      return priced;
    }
  }
}

}  // namespace berth::solver
