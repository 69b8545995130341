// SPDX-License-Identifier: Apache-2.0
#include "local_search/fill.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <tuple>

namespace berth::solver::local_search {

Berths no_berths(std::span<const JobId> jobs) {
  Berths berths{.jobs = {jobs.begin(), jobs.end()}, .placed = {}};
  for (const JobId j : jobs) berths.placed.push_back({.job = j, .tasks = {}});
  return berths;
}

model::Placement placement_of(const Berths& berths) {
  model::Placement result;
  for (std::size_t i = 0; i < berths.jobs.size(); ++i) {
    if (berths.lies(i)) result.push_back(berths.placed[i]);
  }
  return result;
}

std::vector<JobId> unplaced_of(const Berths& berths) {
  std::vector<JobId> result;
  for (std::size_t i = 0; i < berths.jobs.size(); ++i) {
    if (!berths.lies(i)) result.push_back(berths.jobs[i]);
  }
  return result;
}

namespace {

/// The next choice of a job to try.
struct Wish {
  double worth;  ///< value per GPU thousandth; infinite for a required job
  double value;
  std::size_t position;
  std::size_t next;  ///< index among its choices

  bool operator<(const Wish& o) const {  // largest on top of a priority_queue
    return std::tuple(worth, value, o.position) < std::tuple(o.worth, o.value, position);
  }
};

void refill_gpus(const model::Workload& workload, const assignment::Menu& menu,
                 assignment::Floor& floor, Berths& berths, const StopToken& stop) {
  std::vector<char> full(menu.sets().size(), 0);  // room only shrinks here
  const auto wish = [&](std::size_t position, std::size_t next) {
    const double value = menu.choices(position)[next].value;
    const auto milli = menu.signatures()[menu.signature_of(position)].milli;
    const bool required = workload.job(berths.jobs[position]).required;
    const double worth =
        required ? std::numeric_limits<double>::infinity() : value / static_cast<double>(milli);
    return Wish{worth, value, position, next};
  };
  std::priority_queue<Wish> queue;
  for (std::size_t i = 0; i < berths.jobs.size(); ++i) {
    if (!berths.lies(i) && !menu.choices(i).empty()) queue.push(wish(i, 0));
  }
  while (!queue.empty() && !stop.requested()) {
    const Wish w = queue.top();
    queue.pop();
    const auto choices = menu.choices(w.position);
    const std::uint32_t s = choices[w.next].set;
    if (full[s] == 0) {
      const assignment::PlaceSet& set = menu.sets()[s];
      auto placed = floor.place(berths.jobs[w.position], menu.signature(set), set, {});
      if (placed) {
        berths.placed[w.position] = std::move(*placed);
        continue;
      }
      full[s] = 1;
    }
    if (w.next + 1 < choices.size()) queue.push(wish(w.position, w.next + 1));
  }
}

/// The machines in the order CPU-only jobs look at them: without GPUs first, then by id.
std::vector<MachineId> cpu_order(const assignment::Floor& floor) {
  std::vector<MachineId> order(floor.cpu_machines().begin(), floor.cpu_machines().end());
  for (const MachineId m : floor.machines()) {
    if (floor.instance().cluster.class_of(m).gpus > 0) order.push_back(m);
  }
  return order;
}

/// Runs of machines (ascending) that lie in one domain of a level.
std::vector<std::vector<MachineId>> domains(const assignment::Floor& floor, model::Level level) {
  const model::Cluster& cluster = floor.instance().cluster;
  std::vector<std::vector<MachineId>> runs;
  for (const MachineId m : floor.machines()) {
    const bool joins = !runs.empty() && [&] {
      const MachineId o = runs.back().front();
      if (level == model::Level::cluster) return true;
      if (level == model::Level::pod) return cluster.pod_of(o) == cluster.pod_of(m);
      return level == model::Level::rack &&
             cluster.machine_rack[o.index()] == cluster.machine_rack[m.index()];
    }();
    if (!joins) runs.emplace_back();
    runs.back().push_back(m);
  }
  return runs;
}

/// CPU-only jobs into what is left: required first, then by value, then by id. A machine that was
/// too small for a shape stays so, since room only shrinks: every shape keeps its first candidate.
class CpuFill {
 public:
  CpuFill(const assignment::Menu& menu, assignment::Floor& floor, Berths& berths)
      : menu_(&menu),
        floor_(&floor),
        berths_(&berths),
        order_(cpu_order(floor)),
        next_(menu.signatures().size(), 0) {}

  void place(std::size_t position) {
    const std::uint32_t s = menu_->signature_of(position);
    const model::Workload& workload = floor_->instance().workload;
    const model::Job& job = workload.job(berths_->jobs[position]);
    if (job.gpu_types != ~std::uint64_t{0}) return place_on_types(position, job);
    if (menu_->signatures()[s].tasks == 1) {
      const auto fits = [&](MachineId m) {
        return floor_->room().fits(m, workload.shape(workload.groups_of(job).front().shape));
      };
      while (next_[s] < order_.size() && !fits(order_[next_[s]])) ++next_[s];
      if (next_[s] < order_.size()) attempt(position, std::span(order_).subspan(next_[s], 1));
      return;
    }
    if (next_[s] > static_cast<std::size_t>(job.domain)) return;  // failed at this level before
    for (const auto& run : domains(*floor_, job.domain)) {
      if (attempt(position, run)) return;
    }
    next_[s] = static_cast<std::size_t>(job.domain) + 1;
  }

 private:
  /// A list of types holds for CPU-only jobs as well.
  void place_on_types(std::size_t position, const model::Job& job) {
    const model::Cluster& cluster = floor_->instance().cluster;
    for (std::vector<MachineId> run : domains(*floor_, job.domain)) {
      std::erase_if(run, [&](MachineId m) {
        const GpuTypeId type = cluster.class_of(m).gpu_type;
        return !type.valid() || ((job.gpu_types >> type.index()) & 1) == 0;
      });
      if (attempt(position, run)) return;
    }
  }

  bool attempt(std::size_t position, std::span<const MachineId> machines) {
    auto placed = model::place_job(floor_->room(), floor_->instance().workload,
                                   berths_->jobs[position], machines);
    if (placed) berths_->placed[position] = std::move(*placed);
    return placed.has_value();
  }

  const assignment::Menu* menu_;
  assignment::Floor* floor_;
  Berths* berths_;
  std::vector<MachineId> order_;
  std::vector<std::size_t> next_;  ///< by signature
};

void refill_cpus(const model::Valuation& valuation, const assignment::Menu& menu,
                 assignment::Floor& floor, Berths& berths, const StopToken& stop) {
  struct Entry {
    bool required;
    double value;
    std::size_t position;
  };
  std::vector<Entry> entries;
  const model::Workload& workload = valuation.instance().workload;
  for (std::size_t i = 0; i < berths.jobs.size(); ++i) {
    if (berths.lies(i) || menu.signatures()[menu.signature_of(i)].milli > 0) continue;
    const JobId job = berths.jobs[i];
    entries.push_back({workload.job(job).required, valuation.best(job, GpuTypeId()), i});
  }
  std::ranges::sort(entries, [](const Entry& a, const Entry& b) {
    return std::tuple(!a.required, -a.value, a.position) <
           std::tuple(!b.required, -b.value, b.position);
  });
  CpuFill cpus(menu, floor, berths);
  for (const Entry& e : entries) {
    if (stop.requested()) return;
    cpus.place(e.position);
  }
}

}  // namespace

void refill(const model::Valuation& valuation, const assignment::Menu& menu,
            assignment::Floor& floor, Berths& berths, const StopToken& stop) {
  refill_gpus(valuation.instance().workload, menu, floor, berths, stop);
  refill_cpus(valuation, menu, floor, berths, stop);
}

}  // namespace berth::solver::local_search
