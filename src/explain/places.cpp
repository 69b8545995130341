// SPDX-License-Identifier: Apache-2.0
#include "places.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "berth/base/printable.hpp"

namespace berth::explain {
namespace {

using model::Certificate;

/// Prices of a certificate as a job pays them, in units of the objective.
class JobPrices {
 public:
  JobPrices(const model::InstanceView& instance, const CertifiedPools& prices)
      : instance_(instance), prices_(prices), certificate_(*prices.certificate) {}

  /// Of all tasks with GPUs and, on machines without GPUs, of the others.
  [[nodiscard]] double cost(const model::Job& job, const Certificate::PoolPrice& pool) const {
    const model::MachineClass& machine = instance_.cluster.classes[pool.machine_class.index()];
    double sum = 0.0;
    for (const model::TaskGroup& group : instance_.workload.groups_of(job)) {
      const model::Shape& shape = instance_.workload.shape(group.shape);
      if (shape.uses_gpu() != machine.gpu_type.valid()) continue;
      double task = static_cast<double>(pool.gpu_milli) *
                    static_cast<double>(std::int64_t{1000} * shape.gpus +
                                        model::share_taken(shape.gpu_milli, machine.gpu_slices));
      for (std::size_t r = 0; r < model::kResources; ++r) {
        task += static_cast<double>(pool.unit_price[r]) * static_cast<double>(shape.needs[r]);
      }
      sum += group.count * (task + shape_price(group.shape, machine.gpu_type));
    }
    return std::ldexp(sum, -certificate_.scale_log2);
  }

  /// What its queue, those above it, and a choice of whole jobs ask for.
  [[nodiscard]] double beside_places(const model::Job& job) const {
    double sum = certificate_.whole_jobs.in_cluster()
                     ? static_cast<double>(certificate_.whole_jobs.gpu_milli)
                     : 0.0;
    for (QueueId q = job.queue; q.valid(); q = instance_.cluster.queues[q.index()].parent) {
      for (const Certificate::LimitPrice& limit : certificate_.limits) {
        if (limit.kind == model::LimitKind::gpu_quota && limit.scope.queue == q) {
          sum += static_cast<double>(limit.price);
        }
      }
    }
    return std::ldexp(sum * static_cast<double>(instance_.workload.gpu_milli(job)),
                      -certificate_.scale_log2);
  }

 private:
  [[nodiscard]] double shape_price(ShapeId shape, GpuTypeId type) const {
    const auto found = prices_.shapes.find({shape, type});
    return found == prices_.shapes.end() ? 0.0 : found->second;
  }

  model::InstanceView instance_;
  const CertifiedPools& prices_;
  const Certificate& certificate_;
};

std::string place_name(const model::Cluster& cluster, const Certificate::PoolPrice& pool) {
  const std::string& place = pool.rack.valid() ? cluster.racks[pool.rack.index()].name
                                               : cluster.pods[pool.pod.index()].name;
  return printable(place) + " " + printable(cluster.classes[pool.machine_class.index()].name);
}

/// The pools of a certificate's level that the cluster has, with their prices, by GPU type; 0 where
/// none is listed.
std::map<GpuTypeId, std::vector<Certificate::PoolPrice>> all_pools(const model::Cluster& cluster,
                                                                   const Certificate& certificate) {
  using Key = std::tuple<PodId, RackId, ClassId>;
  std::map<Key, Certificate::PoolPrice> pools;
  Key last;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const RackId rack =
        certificate.level == model::Level::rack ? cluster.machine_rack[m] : RackId{};
    const Key key(cluster.pod_of(MachineId(m)), rack, cluster.machine_class[m]);
    if (std::exchange(last, key) == key) continue;  // neighbours are mostly alike
    pools.try_emplace(
        key, Certificate::PoolPrice{
                 .pod = std::get<0>(key), .rack = rack, .machine_class = std::get<2>(key)});
  }
  for (const Certificate::PoolPrice& pool : certificate.pools) {
    pools[Key(pool.pod, pool.rack, pool.machine_class)] = pool;
  }
  std::map<GpuTypeId, std::vector<Certificate::PoolPrice>> result;
  for (const auto& [key, pool] : pools) {
    result[cluster.classes[pool.machine_class.index()].gpu_type].push_back(pool);
  }
  return result;
}

/// What the job pays in one rack of the type, in place of its tasks' prices; 0 where it pays these.
double price_in_rack(const planner_model::Valuation& valuation, const Certificate& certificate,
                     JobId id, GpuTypeId type) {
  const model::WorkloadView& workload = valuation.instance().workload;
  const model::Job& job = workload.job(id);
  const auto groups = workload.groups_of(job);
  const bool may_pay = groups.size() == 1 && job.domain >= model::Level::rack &&
                       !job.home_rack.valid() && !job.home_pod.valid() &&
                       !workload.rules_of(job).exclusive;
  const auto price = std::ranges::find_if(certificate.gangs, [&](const auto& gang) {
    return may_pay && gang.gpu_type == type && gang.shape == groups.front().shape &&
           gang.tasks == groups.front().count;
  });
  if (price == certificate.gangs.end()) return 0.0;
  const auto value = [&](model::Level width) {
    return valuation.option(id, type, width, model::Level::machine);
  };
  for (const model::Level wider : {model::Level::pod, model::Level::cluster}) {
    if (wider <= job.domain && value(wider) >= value(model::Level::rack)) return 0.0;
  }
  return std::ldexp(static_cast<double>(price->price), -certificate.scale_log2);
}

/// Sets the cheapest pool of the place's GPU type and what the job costs there, at its best width.
void price(const planner_model::Valuation& valuation, const CertifiedPools& pools, JobId id,
           PricedPlace& place) {
  const model::InstanceView& instance = valuation.instance();
  const model::Job& job = instance.workload.job(id);
  const JobPrices prices(instance, pools);
  double least = std::numeric_limits<double>::infinity();
  const Certificate::PoolPrice* cheapest = nullptr;
  if (const auto of_type = pools.pools.find(place.gpu_type); of_type != pools.pools.end()) {
    for (const Certificate::PoolPrice& pool : of_type->second) {
      const double cost = prices.cost(job, pool);
      if (cost >= least) continue;
      least = cost;
      cheapest = &pool;
    }
  }
  if (cheapest != nullptr) place.place = place_name(instance.cluster, *cheapest);
  least = std::max(least, price_in_rack(valuation, *pools.certificate, id, place.gpu_type));
  place.cost = least + prices.beside_places(job);
}

/// Most tasks of the job's largest group in the free room of one domain of its level; at most the
/// group's count.
std::int64_t free_tasks(Trials& trials, const model::Job& job, GpuTypeId type) {
  const auto groups = trials.workload().groups_of(job);
  const auto largest = std::ranges::max_element(groups, {}, &model::TaskGroup::count);
  const bool machine = job.domain == model::Level::machine || largest->count == 1;
  const model::Level level = machine ? model::Level::rack : job.domain;
  std::int64_t most = 0;
  for (const auto& count : trials.counts().of(largest->shape, type, level)) {
    most = std::max(most, machine ? count.on_one : count.together);
  }
  return std::min<std::int64_t>(most, largest->count);
}

}  // namespace

CertifiedPools certified_pools(const model::Cluster& cluster, const Certificate* certificate) {
  if (certificate == nullptr) return {};
  CertifiedPools prices{.certificate = certificate, .pools = all_pools(cluster, *certificate)};
  for (const Certificate::ShapePrice& price : certificate->shapes) {
    prices.shapes.emplace(std::pair(price.shape, price.gpu_type), static_cast<double>(price.price));
  }
  return prices;
}

std::vector<PricedPlace> priced_places(Trials& trials, const CertifiedPools& pools, JobId id) {
  const model::InstanceView& instance = trials.valuation().instance();
  const model::Job& job = instance.workload.job(id);
  std::vector<PricedPlace> places;
  for (const GpuTypeId type : trials.occupancy().index().types()) {
    if (!type.valid() || !lists(job, type)) continue;
    PricedPlace place{.gpu_type = type,
                      .place = printable(instance.cluster.gpu_types[type.index()]),
                      .value = trials.valuation().best(id, type),
                      .room = free_tasks(trials, job, type)};
    if (pools.certificate != nullptr) price(trials.valuation(), pools, id, place);
    places.push_back(std::move(place));
  }
  std::ranges::stable_sort(places, {}, [](const PricedPlace& p) { return p.cost - p.value; });
  return places;
}

}  // namespace berth::explain
