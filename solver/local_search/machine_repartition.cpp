// SPDX-License-Identifier: Apache-2.0
#include "local_search/machine_repartition.hpp"

#include "local_search/cyclic_exchange.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"

namespace berth::solver::local_search {

namespace {
constexpr double kMinGain = 1e-6;      ///< value; a smaller gain is not tried. Untuned guard
constexpr std::size_t kMaxPlaces = 4;  ///< change of places of one kind; chosen, not tuned
constexpr int kMaxTries = 4;           ///< consecutive tries on one machine; chosen, not tuned
/// GPUs above which the limit of repartitions falls with the square of the size. Measured on
/// r16384x1024 as one shard: 9.0 -> 2.3 s of solve, gap 0.2535 -> 0.3841 %.
constexpr double kFullEffortGpus = 16384.0;

/// See `repartition_machines`.
template <SearchState State>
class MachineRepartition {
 public:
  explicit MachineRepartition(const SearchSpace<State>& space)
      : space_(space), exchanges_(make_exchanges(space)) {
    for (const CyclicExchange<State>& exchange : exchanges_) {
      const assignment::TaskDemand& s = space.profile(exchange.position(0));
      gpus_.push_back(s.milli % model::kGpuMilli == 0 && s.gpus_per_task > 0
                          ? static_cast<int>(s.milli / model::kGpuMilli)
                          : 0);
    }
  }

  double run(int most, const StopToken& stop) {
    double gained = 0.0;
    for (CyclicExchange<State>& exchange : exchanges_) {
      if (stop.requested()) return gained;
      gained += exchange.cancel_cycles();
    }
    for (std::size_t t = 0; t < exchanges_.size(); ++t) {
      if (gpus_[t] == 0) continue;
      exchanges_[t].add_pool_nodes();
      for (const auto& [m, count] : exchanges_[t].lone_job_counts()) places_[m][t] = count;
    }
    tries_left_ = scaled_limit(most);
    for (double sweep = 1.0; sweep > 0.0 && tries_left_ > 0;) {
      sweep = 0.0;
      for (const MachineId m : space_.state.machines()) {
        if (tries_left_ <= 0 || stop.requested()) break;
        sweep += try_machine(m);
      }
      gained += sweep;
    }
    return gained;
  }

 private:
  /// Change of places of one GPU in a repartition; chosen, not tuned.
  static constexpr std::size_t kMaxSinglePlaces = 8;
  /// Values of one place more (or less), of a second one, ...
  struct MarginalValues {
    std::array<double, kMaxSinglePlaces> of{};
    std::size_t count = 0;

    void fill(std::size_t places, double worth) { count = places, of.fill(worth); }
  };
  /// Places of one task profile on the machine that is repartitioned.
  struct PlaceKind {
    std::size_t exchange;
    std::uint32_t node;
    int gpus, here;  ///< GPUs of a place; places it has now
    MarginalValues more = {}, less = {};
  };
  using CountChange = std::vector<int>;  ///< by kind: places more (or fewer)
  struct BestChange {
    double gain = 0.0;
    CountChange change;
  };

  /// The limit of repartitions, less in rooms of more than 16,384 GPUs. One repartition takes time
  /// in proportion to the jobs, and the number of machines grows too: in a room of n x 16,384 GPUs
  /// the limit is divided by n^2.
  [[nodiscard]] int scaled_limit(int most) const {
    double gpus = 0.0;
    for (const MachineId m : space_.state.machines()) {
      gpus += capacity_of(m);
    }
    const double scale = std::min(1.0, kFullEffortGpus / std::max(1.0, gpus));
    return static_cast<int>(most * scale * scale);
  }

  std::vector<PlaceKind> kinds_on(MachineId m) {
    std::vector<PlaceKind> kinds;
    const PoolId pool = space_.pool_index.pools().pool_of(m);
    const int capacity = capacity_of(m);
    const auto& places_here = places_[m];
    for (std::size_t t = 0; t < exchanges_.size(); ++t) {
      if (gpus_[t] == 0 || gpus_[t] > capacity) continue;
      const std::uint32_t node = exchanges_[t].node_of_pool(pool);
      if (node == CyclicExchange<State>::kNone) continue;
      const auto here = places_here.find(t);
      PlaceKind kind{t, node, gpus_[t], here == places_here.end() ? 0 : here->second};
      const std::size_t most = kind.gpus == 1 ? kMaxSinglePlaces : kMaxPlaces;
      const double worth = exchanges_[t].value_of_one_more(node);
      if (worth > 0.0) kind.more.fill(most, worth);
      if (kind.here > 0) {
        kind.less.fill(std::min(most, static_cast<std::size_t>(kind.here)),
                       exchanges_[t].value_of_one_less(node));
      }
      if (kind.more.count + kind.less.count > 0) kinds.push_back(kind);
    }
    return kinds;
  }

  /// Knapsack over the kinds of places, by change of the used GPUs.
  BestChange best_change(std::span<const PlaceKind> kinds, int idle, int capacity) {
    const int width = 2 * capacity + 1;
    const auto row = static_cast<std::size_t>(width);
    best_.assign(row, -kInfinity);
    best_[static_cast<std::size_t>(capacity)] = 0.0;
    chosen_.assign(kinds.size() * row, 0);
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      next_ = best_;
      const auto offer = [&](int places, double worth) {
        const int shift = places * kinds[k].gpus;
        for (int x = std::max(0, -shift); x < std::min(width, width - shift); ++x) {
          const double with = best_[static_cast<std::size_t>(x)] + worth;
          const auto to = static_cast<std::size_t>(x + shift);
          if (with <= next_[to] + kMinGain / 100.0) continue;
          next_[to] = with;
          chosen_[k * row + to] = static_cast<signed char>(places);
        }
      };
      double sum = 0.0;
      for (std::size_t i = 0; i < kinds[k].more.count; ++i) {
        offer(static_cast<int>(i) + 1, sum += kinds[k].more.of[i]);
      }
      sum = 0.0;
      for (std::size_t i = 0; i < kinds[k].less.count; ++i) {
        offer(-static_cast<int>(i) - 1, sum += kinds[k].less.of[i]);
      }
      best_.swap(next_);
    }
    BestChange found{kMinGain, {}};
    int at = -1;
    for (int x = 0; x <= std::min(width - 1, capacity + idle); ++x) {
      if (best_[static_cast<std::size_t>(x)] <= found.gain) continue;
      found.gain = best_[static_cast<std::size_t>(x)];
      at = x;
    }
    if (at < 0) return {};
    found.change.resize(kinds.size());
    for (std::size_t k = kinds.size(); k-- > 0;) {
      found.change[k] = chosen_[k * row + static_cast<std::size_t>(at)];
      at -= found.change[k] * kinds[k].gpus;
    }
    return found;
  }

  double try_machine(MachineId m) {
    double gained = 0.0;
    for (CyclicExchange<State>& exchange : exchanges_)
      gained += exchange.cancel_cycles_if_quotas_changed();
    std::vector<PlaceKind> kinds = kinds_on(m);
    const int capacity = capacity_of(m);
    for (int tries = 0; tries < kMaxTries && tries_left_ > 0; ++tries) {
      const BestChange found = best_change(kinds, space_.state.room().whole_count(m), capacity);
      if (found.change.empty()) return gained;
      --tries_left_;
      const double gain = apply(m, kinds, found);
      if (gain <= 0.0) continue;
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        if (found.change[k] != 0) places_[m][kinds[k].exchange] += found.change[k];
      }
      return gained + gain;
    }
    return gained;
  }

  /// Applies a repartition: removes places, then adds others. Records the true value of each place
  /// in its kind, and rolls everything back as soon as no gain is possible.
  double apply(MachineId m, std::vector<PlaceKind>& kinds, const BestChange& found) {
    const auto mark = space_.state.mark();
    for (const PlaceKind& kind : kinds) exchanges_[kind.exchange].begin();
    double expected_gain = found.gain, gain = 0.0;
    for (const int sign : {-1, +1}) {
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        for (int i = 0; i < sign * found.change[k]; ++i) {
          MarginalValues& values = sign > 0 ? kinds[k].more : kinds[k].less;
          double& expected = values.of[static_cast<std::size_t>(i)];
          const double worth = sign > 0 ? add_place(m, kinds[k]) : remove_place(m, kinds[k]);
          expected_gain += worth - expected;
          gain += worth;
          expected = worth;
          if (expected_gain > kMinGain) continue;
          roll_back(kinds, mark);
          return 0.0;
        }
      }
    }
    if (gain > kMinGain) {
      space_.state.keep(mark);
      return gain;
    }
    roll_back(kinds, mark);
    return 0.0;
  }

  double add_place(MachineId m, const PlaceKind& kind) {
    CyclicExchange<State>& exchange = exchanges_[kind.exchange];
    if (exchange.value_of_one_more(kind.node) == -kInfinity) return -kInfinity;
    const auto path = exchange.path_to_add(kind.node);
    auto place =
        space_.state.fit(space_.jobs[exchange.position(path.jobs.back())], std::span(&m, 1));
    return place ? exchange.apply(path, std::move(place->tasks)) : -kInfinity;
  }

  double remove_place(MachineId m, const PlaceKind& kind) {
    CyclicExchange<State>& exchange = exchanges_[kind.exchange];
    const std::uint32_t lone_job = exchange.lone_job(kind.node, m);
    if (lone_job == CyclicExchange<State>::kNone ||
        exchange.value_of_one_less(kind.node) == -kInfinity)
      return -kInfinity;
    auto path = exchange.path_to_remove(kind.node);
    // The place must come free on this machine: its job takes the place of the path's first job.
    if (path.jobs.front() != lone_job) path.jobs.insert(path.jobs.begin(), lone_job);
    return exchange.apply(path, {});
  }

  void roll_back(std::span<const PlaceKind> kinds, typename State::Mark mark) {
    space_.state.roll_back(mark);
    for (const PlaceKind& kind : kinds) exchanges_[kind.exchange].roll_back();
  }

  [[nodiscard]] int capacity_of(MachineId m) const {
    return space_.instance().cluster.class_of(m).gpus;
  }

  SearchSpace<State> space_;
  std::vector<CyclicExchange<State>> exchanges_;
  std::vector<int> gpus_;  ///< by exchange: GPUs of a place; 0: not repartitioned
  std::map<MachineId, std::map<std::size_t, int>>
      places_;                       ///< by machine: exchange, how many places
  int tries_left_ = 0;               ///< repartitions that may still be tried
  std::vector<double> best_, next_;  ///< of a knapsack, by GPUs used more (or fewer)
  std::vector<signed char> chosen_;  ///< by kind, then as best_
};

}  // namespace

template <SearchState State>
double repartition_machines(const SearchSpace<State>& space, int most, const StopToken& stop) {
  return MachineRepartition<State>(space).run(most, stop);
}

template double repartition_machines(const SearchSpace<Occupancy>&, int, const StopToken&);

}  // namespace berth::solver::local_search
