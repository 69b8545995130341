// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/offline_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "berth/horizon/problem_builder.hpp"
#include "berth/policy/demand.hpp"

namespace berth::sim {
namespace {

using horizon::Problem;

std::vector<horizon::PoolSetId> add_types(const model::Cluster& cluster,
                                          horizon::ProblemBuilder& builder) {
  std::vector<horizon::PoolSetId> sets;
  for (std::size_t t = 0; t < cluster.gpu_types.size(); ++t) {
    const PoolId pool = builder.add_pool(horizon::CurveId(t), 0, 0);
    for (std::size_t m = 0; m < cluster.machines(); ++m) {
      const model::MachineClass& equipment = cluster.class_of(MachineId(m));
      if (equipment.gpu_type == GpuTypeId(t)) builder.add_machines(1, equipment.gpus);
    }
    sets.push_back(builder.add_pool_set(std::span(&pool, 1)));
  }
  return sets;
}

double to_seconds(std::int64_t micros) {
  return static_cast<double>(micros) / static_cast<double>(model::kMicros);
}

}  // namespace

OfflineProblem offline_problem(const model::Instance& instance,
                               std::span<const model::JobRecord> records) {
  OfflineProblem made;
  horizon::ProblemBuilder builder;
  const auto sets = add_types(instance.cluster, builder);
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const model::JobRecord& record : records) {
    if (record.finished()) first = std::min(first, record.arrival);
  }
  for (const model::JobRecord& record : records) {
    if (!record.finished()) continue;
    ++made.finished;
    const auto gpus = static_cast<std::int32_t>(record.milli / model::kGpuMilli);
    if (gpus == 0 || record.alone < model::kMicros) {
      made.outside += to_seconds(record.alone);
      continue;
    }
    const policy::Demand demand = policy::demand_of(instance, instance.workload.job(record.job));
    const horizon::Seconds release = (record.arrival - first) / model::kMicros;
    made.outside -= to_seconds((record.arrival - first) % model::kMicros);  // released earlier
    builder.add_job(release);
    const horizon::CostPiece cost = horizon::flow_cost(release, 1.0);
    const horizon::IndexRange pieces = builder.add_cost(std::span(&cost, 1));
    const horizon::TaskGroup tasks{.tasks = gpus, .gpus = 1};
    for (std::size_t t = 0; t < demand.types.size(); ++t) {
      if (!demand.types[t].valid()) continue;
      const double length = std::floor(to_seconds(record.work) / demand.speeds[t]);
      builder.add_option(sets[demand.types[t].index()],
                         std::max<horizon::Seconds>(1, static_cast<horizon::Seconds>(length)),
                         std::span(&tasks, 1), pieces);
    }
  }
  made.problem = builder.build();
  return made;
}

}  // namespace berth::sim
