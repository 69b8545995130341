// SPDX-License-Identifier: Apache-2.0
#include "berth/certify/bound.hpp"

#include "contents.hpp"
#include "exact.hpp"
#include "gang_cost.hpp"
#include "job_best.hpp"
#include "machine_worth.hpp"
#include "quotas.hpp"
#include "tariff.hpp"
#include "tree.hpp"
#include "worth.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include "berth/base/assert.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::certify {
namespace {

using model::Instance;
using model::Job;
using model::Level;
using model::TaskGroup;

/// Where a distance lets a job lie: the whole cluster, a pod or a rack, and how wide at most.
struct Region {
  Level distance;
  Level widest;
  PodId pod;    ///< valid: this pod
  RackId rack;  ///< valid: this rack
};

std::vector<Region> regions(const Instance& instance, const Job& job) {
  if (job.home_rack.valid()) {
    const PodId pod = instance.cluster.racks[job.home_rack.index()].pod;
    return {{Level::cluster, Level::cluster, {}, {}},
            {Level::pod, Level::pod, pod, {}},
            {Level::rack, Level::rack, {}, job.home_rack}};
  }
  if (job.home_pod.valid()) {
    return {{Level::cluster, Level::cluster, {}, {}}, {Level::pod, Level::pod, job.home_pod, {}}};
  }
  return {{Level::machine, Level::cluster, {}, {}}};
}

/// Evaluates all options of one job after the other. Jobs that ask for the same tasks come
/// one after another and share the costs.
class Options {
 public:
  Options(const Instance& instance, model::Objective objective, const Tariff& tariff,
          const Quotas& quotas, int scale)
      : instance_(&instance),
        tariff_(&tariff),
        quotas_(&quotas),
        tolls_(&tariff.tolls()),
        objective_(objective),
        scale_(scale),
        links_matter_(tariff.links().matter()) {
    for (std::size_t t = 0; t < instance.cluster.gpu_types.size(); ++t) {
      const bool exists = std::ranges::any_of(
          instance.cluster.classes,
          [&](const model::MachineClass& c) { return c.gpu_type == GpuTypeId(t); });
      if (exists) existing_.push_back(GpuTypeId(t));
    }
  }

  JobBest best(const Job& job) {
    if (shared_ == nullptr || !same_tasks(*shared_, job)) {
      costs_.emplace(*instance_, *tariff_, job);
      shared_ = &job;
    }
    std::int64_t tasks = 0;
    for (const TaskGroup& g : instance_->workload.groups_of(job)) tasks += g.count;
    const Level widest = tasks == 1 ? Level::machine : job.domain;
    const JobWorth worth(*instance_, objective_, job);
    JobBest found;
    toll_ = tolls_->of(job);
    if (!quotas_->allow(job)) {
      integral_ = integral_ && worth.stop_cost() == std::floor(worth.stop_cost());
      return found;
    }
    if (job.running >= 0) stay(job, worth, found);
    shift_ = job.running < 0
                 ? Int128{0}
                 : fixed_down(worth.stop_cost(), scale_) - fixed_down(worth.move_cost(), scale_);
    if (!uses_gpu(instance_->workload, job)) {
      on_type(job, worth, GpuTypeId{}, widest, found);
      return found;
    }
    for (const GpuTypeId type : existing_) {
      if (((job.gpu_types >> type.value()) & 1) != 0) on_type(job, worth, type, widest, found);
    }
    return found;
  }

  /// True when every value of every option seen so far was an integer.
  [[nodiscard]] bool integral() const { return integral_; }

  [[nodiscard]] bool same_tasks(const Job& a, const Job& b) const { return compare(a, b) == 0; }

  /// Order by tasks, so that equal ones are neighbours. Costs are by GPU type, so the types that a
  /// job allows matter only to those without GPUs.
  [[nodiscard]] int compare(const Job& a, const Job& b) const {
    if (a.groups != b.groups) return a.groups < b.groups ? -1 : 1;
    for (std::uint32_t i = 0; i < a.groups; ++i) {
      const TaskGroup& x = instance_->workload.groups[a.first_group + i];
      const TaskGroup& y = instance_->workload.groups[b.first_group + i];
      if (x.shape != y.shape) return x.shape < y.shape ? -1 : 1;
      if (x.count != y.count) return x.count < y.count ? -1 : 1;
    }
    if (links_matter_ && ring_of(a) != ring_of(b)) return ring_of(a) < ring_of(b) ? -1 : 1;
    if (a.gpu_types != b.gpu_types && !uses_gpu(instance_->workload, a)) {
      return a.gpu_types < b.gpu_types ? -1 : 1;
    }
    return 0;
  }

 private:
  /// All regions and widths on one type, the wide ones first: a narrower option that is worth no
  /// more costs no less.
  void on_type(const Job& job, const JobWorth& worth, GpuTypeId type, Level widest, JobBest& best) {
    std::array<double, model::kLevels> wider{};  // by width: most that a wider option is worth
    wider.fill(-std::numeric_limits<double>::infinity());
    for (const Region& region : regions(*instance_, job)) {
      for (int w = static_cast<int>(std::min(widest, region.widest)); w >= 0; --w) {
        const auto width = static_cast<std::size_t>(w);
        const double value = worth.at(type, static_cast<Level>(w), region.distance);
        integral_ = integral_ && value == std::floor(value);
        if (value <= wider[width]) continue;
        if (costs_->over_links() && w >= static_cast<int>(Level::pod)) {
          wider[width] = value;  // narrower ones save links
        } else {
          std::fill_n(wider.begin(), width + 1, value);
        }
        const Int128 gross = fixed_up(value, scale_) + shift_;
        if (best.net && gross <= *best.net) continue;
        const Int128 cost = cost_of(region, type, static_cast<Level>(w));
        if (cost < kImpossible) offer(gross, cost + toll_, best);
      }
    }
  }

  /// Where the job runs now it saves its move cost, and pays for just that place.
  void stay(const Job& job, const JobWorth& worth, JobBest& best) {
    for (const double cost : {worth.stop_cost(), worth.move_cost()}) {
      integral_ = integral_ && cost == std::floor(cost);
    }
    if (worth.move_cost() == 0.0) return;  // one place among others
    const auto now = present(instance_->workload, instance_->workload.running_of(job)->job);
    const Reach r = reach(*instance_, *now);
    const auto groups = instance_->workload.groups_of(job);
    Int128 cost = toll_ + tariff_->links().toll(job, now->tasks);
    for (const model::TaskPlacement& t : now->tasks) {
      cost += tariff_->task(tariff_->at(t.machine), groups[t.group].shape);
    }
    offer(fixed_up(worth.at(r.type, r.width, r.distance), scale_) +
              fixed_down(worth.stop_cost(), scale_),
          cost, best);
  }

  static void offer(Int128 gross, Int128 cost, JobBest& best) {
    best.gross = best.gross ? std::max(*best.gross, gross) : gross;
    best.net = best.net ? std::max(*best.net, gross - cost) : gross - cost;
  }

  Int128 cost_of(const Region& region, GpuTypeId type, Level width) {
    if (region.rack.valid()) return costs_->in_rack(type, width, region.rack);
    if (region.pod.valid()) return costs_->in_pod(type, width, region.pod);
    return costs_->anywhere(type, width);
  }

  const Instance* instance_;
  const Tariff* tariff_;
  const Quotas* quotas_;
  const Tolls* tolls_;
  model::Objective objective_;
  int scale_;
  bool links_matter_;
  std::vector<GpuTypeId> existing_;
  const Job* shared_ = nullptr;
  std::optional<GangCost> costs_;
  Int128 toll_ = 0;   ///< of the job at hand, for its queue
  Int128 shift_ = 0;  ///< of the job at hand: stop cost saved, move cost paid
  bool integral_ = true;
};

/// Jobs with the same tasks side by side.
std::vector<std::uint32_t> grouped(const Instance& instance, const Options& options) {
  const auto& jobs = instance.workload.jobs;
  std::vector<std::uint32_t> order(jobs.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    return options.compare(jobs[a], jobs[b]) < 0;
  });
  return order;
}

/// Sums over jobs; integers, so blocks may be added in any order.
struct JobsTerm {
  Int128 net = 0;
  Int128 gross = 0;
  bool integral = true;
};

constexpr std::size_t kBlock = 4096;

std::size_t blocks_of(std::span<const std::uint32_t> order) {
  return (order.size() + kBlock - 1) / kBlock;
}

std::span<const std::uint32_t> block_of(std::span<const std::uint32_t> order, std::size_t block) {
  return order.subspan(block * kBlock).first(std::min(kBlock, order.size() - block * kBlock));
}

JobsTerm jobs_term(const Instance& instance, const Options& shared, const std::vector<bool>& must,
                   const std::vector<bool>& own_price) {
  const std::vector<std::uint32_t> order = grouped(instance, shared);
  const auto of_block = [&](std::size_t block) {
    Options options = shared;
    JobsTerm sum;
    for (const std::uint32_t j : block_of(order, block)) {
      if (instance.workload.pinned(instance.workload.jobs[j])) continue;
      const JobBest best = options.best(instance.workload.jobs[j]);
      // A required job without an option: no plan places it, so any amount is a bound.
      if (!best.net) continue;
      if (!own_price[j]) sum.net += must[j] ? *best.net : std::max<Int128>(0, *best.net);
      sum.gross += must[j] ? *best.gross : std::max<Int128>(0, *best.gross);
    }
    sum.integral = options.integral();
    return sum;
  };
  const auto add = [](JobsTerm& total, const JobsTerm& part) {
    total.net += part.net;
    total.gross += part.gross;
    total.integral = total.integral && part.integral;
  };
  return parallel::reduce_in_order(blocks_of(order), JobsTerm{}, of_block, add);
}

Int128 machines_term(const Tariff& tariff, const MachineWorth& worth) {
  Int128 total = 0;
  for (const Stock& pool : tariff.pools()) total += worth(pool) * pool.machines;
  return total;
}

/// What machines are worth whatever lies on the devices that are entirely free.
Int128 beyond_devices(const Tariff& tariff, const MachineWorth& worth) {
  Int128 total = 0;
  for (const Stock& pool : tariff.pools()) total += worth.beyond_devices(pool) * pool.machines;
  return total;
}

/// What hangs on the prices of jobs.
struct Contents {
  Int128 devices = 0;  ///< filled with tasks and with whole jobs that have a price
  Int128 jobs = 0;     ///< these prices

  [[nodiscard]] Int128 sum() const { return devices + jobs; }
};

/// The largest over the leaves of the tree, the first among equals.
Contents contents_term(const Instance& instance, model::Objective objective,
                       const model::Certificate& certificate, const Tree& tree,
                       const Tariff& tariff, const MachineWorth& worth) {
  std::vector<Contents> by_leaf(tree.leaves());
  parallel::run_tasks(tree.leaves(), [&](std::size_t l) {
    const Leaf leaf = tree.leaf(l);
    for (const auto& j : leaf.prices) by_leaf[l].jobs += j.price;
    for (const Int128 most :
         most_contents(instance, objective, certificate, tree.spots(), leaf, tariff, worth)) {
      by_leaf[l].devices += most;
    }
  });
  return *std::ranges::max_element(by_leaf, {}, &Contents::sum);
}

Int128 floor_to_integer(Int128 x, int scale) {
  return scale <= 0 ? x : (x >> scale) * (Int128{1} << scale);
}

/// GPU thousandths that are free on all machines, in the certificate's units.
Int128 capacity_of(const Tariff& tariff, int scale) {
  std::int64_t milli = 0;  // below 2^53: exact as a double
  for (const Stock& pool : tariff.pools()) {
    milli += tariff.kinds()[pool.kind].free_milli() * pool.machines;
  }
  return fixed_up(static_cast<double>(milli), scale);
}

}  // namespace

Bound upper_bound(const Instance& instance, model::Objective objective,
                  const model::Certificate& certificate, std::span<const JobId> required_placed) {
  BERTH_EXPECT(unusable(instance, objective, certificate).empty());
  const Tariff tariff(instance, certificate);
  const Quotas quotas(instance, objective);
  const Options options(instance, objective, tariff, quotas, certificate.scale_log2);
  std::vector<bool> must(instance.workload.jobs.size(), false);
  for (const JobId job : required_placed) must[job.index()] = true;
  std::vector<bool> own_price(must.size(), false);
  for (const auto& j : certificate.jobs) own_price[j.job.index()] = true;

  Bound bound{.scale_log2 = certificate.scale_log2};
  const MachineWorth worth(instance, tariff, own_price);
  Contents contents;
  if (certificate.jobs.empty()) {
    bound.machines = machines_term(tariff, worth);
  } else {
    const Tree tree(instance, certificate, required_placed);
    BERTH_EXPECT(tree.fault().empty());
    contents = contents_term(instance, objective, certificate, tree, tariff, worth);
    bound.leaf = contents.sum();
    bound.machines = contents.devices + beyond_devices(tariff, worth);
  }
  const JobsTerm term = jobs_term(instance, options, must, own_price);
  const Int128 stopped = stop_costs(instance, objective, bound.scale_log2);
  bound.jobs = term.net - stopped + contents.jobs;
  bound.zero_price = term.gross - stopped;
  bound.shared = tariff.tolls().worth(quotas) + tariff.links().worth();
  bound.exact = std::min(bound.machines + bound.shared + bound.jobs, bound.zero_price);
  if (objective == model::Objective::allocate) {
    bound.capacity = capacity_of(tariff, bound.scale_log2);
    bound.exact = std::min(bound.exact, bound.capacity);
  }
  if (term.integral && quotas.integral())
    bound.exact = floor_to_integer(bound.exact, bound.scale_log2);
  bound.value = double_up(bound.exact, bound.scale_log2);
  return bound;
}

std::vector<JobBest> job_bests(const Instance& instance, model::Objective objective,
                               const Tariff& tariff, int scale_log2) {
  const Quotas quotas(instance, objective);
  const Options shared(instance, objective, tariff, quotas, scale_log2);
  const std::vector<std::uint32_t> order = grouped(instance, shared);
  std::vector<JobBest> bests(order.size());
  parallel::run_tasks(blocks_of(order), [&](std::size_t block) {
    Options options = shared;
    for (const std::uint32_t j : block_of(order, block)) {
      const Job& job = instance.workload.jobs[j];
      if (!instance.workload.pinned(job)) bests[j] = options.best(job);
    }
  });
  return bests;
}

std::vector<double> job_profits(const Instance& instance, model::Objective objective,
                                const model::Certificate& certificate) {
  BERTH_EXPECT(unusable(instance, objective, certificate).empty());
  const int scale = certificate.scale_log2;
  std::vector<double> profits;
  for (const JobBest& b : job_bests(instance, objective, Tariff(instance, certificate), scale)) {
    profits.push_back(b.net && *b.net > 0 ? double_up(*b.net, scale) : 0.0);
  }
  return profits;
}

}  // namespace berth::certify
