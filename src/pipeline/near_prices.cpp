// SPDX-License-Identifier: Apache-2.0
#include "near_prices.hpp"

#include "prove.hpp"
#include "whole_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "berth/certify/bound.hpp"
#include "berth/planner_model/pools.hpp"

namespace berth::pipeline {

using model::Certificate;

bool few_records(const model::InstanceView& instance) {
  return instance.workload.size() + instance.cluster.machines() <= 100'000;
}

bool few_cells(const model::InstanceView& instance) {
  return static_cast<std::int64_t>(instance.workload.size()) * instance.cluster.gpus() <= 5'000'000;
}

namespace {

/// Kinds of gangs whose prices are searched. Chosen, not tuned.
constexpr std::size_t kMostGangs = 16;

std::int64_t gpus_of(const model::InstanceView& instance, const Certificate::GangPrice& gang) {
  return instance.workload.shape(gang.shape).gpus * gang.tasks;
}

/// True when a task of the shape takes all GPUs of each machine of the type that holds it.
bool takes_whole_machines(const model::InstanceView& instance, ShapeId id, GpuTypeId type) {
  const std::int64_t gpus = instance.workload.shape(id).gpus;
  std::int64_t most = 0;
  for (const model::MachineClass& c : instance.cluster.classes) {
    if (c.gpu_type == type) most = std::max<std::int64_t>(most, c.gpus);
  }
  return gpus > 0 && gpus == most;
}

/// The least that the gang's tasks pay in one of the pools.
std::int64_t tasks_price(const model::InstanceView& instance, const Certificate& certificate,
                         const Certificate::GangPrice& gang) {
  const model::Shape& shape = instance.workload.shape(gang.shape);
  std::optional<Int128> least;
  for (const auto& p : certificate.pools) {
    if (instance.cluster.classes[p.machine_class.index()].gpu_type != gang.gpu_type) continue;
    Int128 price = Int128{p.gpu_milli} * shape.total_milli();
    for (std::size_t r = 0; r < model::kResources; ++r) {
      price += Int128{p.unit_price[r]} * shape.needs[r];
    }
    least = least ? std::min(*least, price) : price;
  }
  Int128 price = least.value_or(0);
  for (const auto& s : certificate.shapes) {
    if (s.shape == gang.shape && s.gpu_type == gang.gpu_type) price += s.price;
  }
  return as_price(price * gang.tasks);
}

}  // namespace

NearPrices::NearPrices(const model::InstanceView& instance, model::Objective objective,
                       Certificate certificate)
    : instance_(&instance),
      jobs_(model::planned_jobs(instance.workload)),
      alone_(comm::Communicator::serial()),
      judge_(alone_, instance, objective, jobs_),
      start_(without_search(std::move(certificate))) {
  list_pools();
  list_sizes();
  list_shapes();
  list_gangs();
}

Certificate NearPrices::at(const Premiums& premiums, JobCount count) const {
  Certificate moved = start_;
  const auto shifted = [&](std::int64_t price, double by) {
    return std::max<std::int64_t>(0, price + to_signed_fixed(by, start_.scale_log2));
  };
  for (auto& p : moved.pools) {
    const GpuTypeId type = instance_->cluster.classes[p.machine_class.index()].gpu_type;
    if (!type.valid()) continue;
    p.gpu_milli = shifted(p.gpu_milli, premiums.by_type[type.index()] / model::kGpuMilli);
  }
  for (std::size_t i = 0; i < moved.shapes.size(); ++i) {
    if (size_of_[i] == sizes_.size()) continue;
    const std::size_t size = size_of_[i];
    moved.shapes[i].price = shifted(
        moved.shapes[i].price, premiums.by_size[size] * static_cast<double>(sizes_[size].gpus));
  }
  move_gangs(premiums, moved);
  std::erase_if(moved.pools, [](const auto& p) { return p.gpu_milli == 0 && p.unit_price.none(); });
  std::erase_if(moved.shapes, [](const auto& s) { return s.price == 0; });
  return count == JobCount::sets ? with_whole_jobs(*instance_, std::move(moved)) : moved;
}

double NearPrices::bound(const Premiums& premiums, JobCount count) const {
  const certify::Bound b = judge_.bound(judge_.fitted(at(premiums, count)), {});
  return std::ldexp(static_cast<double>(b.machines + b.jobs + b.shared), -b.scale_log2);
}

/// Lists every pool; the price of the cluster's GPUs for whole jobs becomes part of their prices.
void NearPrices::list_pools() {
  const model::Cluster& cluster = instance_->cluster;
  for (const auto& pool : planner_model::make_pools(cluster, start_.level).pools) {
    if (!pool.gpu_type.valid()) continue;
    auto listed = std::ranges::find_if(start_.pools, [&](const auto& p) {
      return p.pod == pool.pod && p.rack == pool.rack && p.machine_class == pool.machine_class;
    });
    if (listed == start_.pools.end()) {
      start_.pools.push_back(
          {.pod = pool.pod, .rack = pool.rack, .machine_class = pool.machine_class});
      listed = start_.pools.end() - 1;
    }
    listed->gpu_milli += start_.whole_jobs.gpu_milli;
  }
  for (auto& g : start_.gangs) {
    const std::int64_t milli = model::kGpuMilli * gpus_of(*instance_, g);
    g.price = as_price(g.price + Int128{start_.whole_jobs.gpu_milli} * milli);
  }
  start_.whole_jobs = {};
}

/// Kinds of gangs whose tasks take whole machines, in jobs to which a rack may matter.
void NearPrices::list_gangs() {
  const model::WorkloadView& workload = instance_->workload;
  using Kind = std::tuple<GpuTypeId, ShapeId, std::int64_t>;  // and tasks
  std::map<Kind, std::int64_t> asked;                         // GPUs
  for (const JobId j : jobs_) {
    const model::Job& job = workload.job(j);
    const auto groups = workload.groups_of(job);
    const bool prefers = job.domain == model::Level::rack || job.width_factor != 0;
    if (groups.size() != 1 || groups.front().count < 2 || !prefers) continue;
    for (std::size_t t = 0; t < gpu_types(); ++t) {
      const GpuTypeId type(t);
      if (((job.gpu_types >> t) & 1) == 0) continue;
      if (!takes_whole_machines(*instance_, groups.front().shape, type)) continue;
      asked[{type, groups.front().shape, groups.front().count}] +=
          workload.gpu_milli(job) / model::kGpuMilli;
    }
  }
  gangs_ = start_.gangs;
  for (const auto& g : gangs_) asked.erase({g.gpu_type, g.shape, g.tasks});
  std::vector<std::pair<std::int64_t, Kind>> most;
  for (const auto& [kind, gpus] : asked) most.emplace_back(-gpus, kind);
  std::ranges::sort(most);
  for (const auto& [gpus, kind] : most) {
    if (gangs_.size() >= kMostGangs) break;
    const auto& [type, shape, tasks] = kind;
    gangs_.push_back({.shape = shape, .tasks = tasks, .gpu_type = type});
  }
}

/// Adds the premiums of gangs; without a price so far, to the least that their tasks pay.
void NearPrices::move_gangs(const Premiums& premiums, Certificate& moved) const {
  for (std::size_t i = 0; i < gangs_.size(); ++i) {
    Certificate::GangPrice gang = gangs_[i];
    const bool listed = i < start_.gangs.size();
    const double of_type = listed ? premiums.by_type[gang.gpu_type.index()] : 0.0;
    const double premium = premiums.by_gang[i] + of_type;
    if (!listed && premium == 0.0) continue;
    if (!listed) gang.price = tasks_price(*instance_, moved, gang);
    const auto gpus = static_cast<double>(gpus_of(*instance_, gang));
    gang.price =
        std::max<std::int64_t>(0, gang.price + to_signed_fixed(premium * gpus, start_.scale_log2));
    if (listed) {
      moved.gangs[i] = gang;
    } else {
      moved.gangs.push_back(gang);
    }
  }
}

/// Sizes of tasks of whole GPUs, and what part of the GPUs each asks for.
void NearPrices::list_sizes() {
  const model::WorkloadView& workload = instance_->workload;
  const model::Cluster& cluster = instance_->cluster;
  std::map<std::int64_t, double> tasks;  // by size; at most as many sizes as shapes
  for (const JobId j : jobs_) {
    for (const model::TaskGroup& g : workload.groups_of(workload.job(j))) {
      const auto gpus = workload.shape(g.shape).gpus;
      if (gpus > 0) tasks[gpus] += g.count;
    }
  }
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    for (const auto& [gpus, count] : tasks) {
      const double asked = count * static_cast<double>(gpus);
      sizes_.push_back(
          {GpuTypeId(t), gpus, std::min(1.0, asked / static_cast<double>(cluster.gpus()))});
    }
  }
}

/// Lists each shape of whole GPUs on each GPU type, and its size.
void NearPrices::list_shapes() {
  const auto& shapes = instance_->workload.tables().shapes;
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    for (std::size_t t = 0; t < gpu_types(); ++t) {
      const bool listed = std::ranges::any_of(start_.shapes, [&](const auto& p) {
        return p.shape == ShapeId(s) && p.gpu_type == GpuTypeId(t);
      });
      if (!listed && shapes[s].gpus > 0) start_.shapes.push_back({ShapeId(s), GpuTypeId(t), 0});
    }
  }
  for (const auto& p : start_.shapes) {
    const auto at = std::ranges::find_if(sizes_, [&](const TaskSize& size) {
      return size.type == p.gpu_type && size.gpus == shapes[p.shape.index()].gpus;
    });
    size_of_.push_back(static_cast<std::size_t>(at - sizes_.begin()));
  }
}

}  // namespace berth::pipeline
