// SPDX-License-Identifier: Apache-2.0
#include "near_prices.hpp"

#include "prove.hpp"
#include "whole_jobs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
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

NearPrices::NearPrices(const model::InstanceView& instance, model::Objective objective,
                       Certificate certificate)
    : instance_(&instance),
      jobs_(model::planned_jobs(instance.workload)),
      alone_(comm::Communicator::serial()),
      judge_(alone_, instance, objective, jobs_),
      start_(std::move(certificate)) {
  list_pools();
  list_sizes();
  list_shapes();
}

Certificate NearPrices::at(const Premiums& premiums, JobCount count) const {
  Certificate moved = start_;
  const auto shifted = [&](std::int64_t price, double by) {
    return std::max<std::int64_t>(0, price + to_signed_fixed(by, start_.scale_log2));
  };
  for (std::size_t i = 0; i < moved.pools.size(); ++i) {
    auto& p = moved.pools[i];
    const GpuTypeId type = instance_->cluster.classes[p.machine_class.index()].gpu_type;
    if (!type.valid()) continue;
    const double premium = premiums.by_type[type.index()] + premiums.by_pool[i];
    p.gpu_milli = shifted(p.gpu_milli, premium / model::kGpuMilli);
  }
  for (std::size_t i = 0; i < moved.shapes.size(); ++i) {
    if (size_of_[i] == sizes_.size()) continue;
    const std::size_t size = size_of_[i];
    moved.shapes[i].price = shifted(
        moved.shapes[i].price, premiums.by_size[size] * static_cast<double>(sizes_[size].gpus));
  }
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
  start_.whole_jobs = {};
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
