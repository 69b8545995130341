// SPDX-License-Identifier: Apache-2.0
#include "berth/papers/elastic_jobs.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "berth/base/error.hpp"

namespace berth::papers {
namespace {

struct Reader {
  std::string_view policy;
  const PaperWorld& world;

  [[noreturn]] void refuse(JobId job, const char* field, const std::string& what,
                           const std::string& hint) const {
    throw InputError({.file = "", .line = 0, .field = field},
                     "job " + std::string(world.instance.workload.job_names[job.index()]) + " " +
                         what + ", which " + std::string(policy) + " needs",
                     hint);
  }

  /// GPUs of so many tasks of each group. All are of one group, a GPU each.
  [[nodiscard]] std::int32_t gpus_of(JobId id, std::span<const std::int32_t> counts) const {
    const model::Workload& workload = world.instance.workload;
    const auto groups = workload.groups_of(workload.job(id));
    std::int32_t gpus = 0, used = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (counts[g] == 0) continue;
      const model::Shape& shape = workload.shape(groups[g].shape);
      used += shape.gpus == 1 && shape.gpu_milli == 0 ? 1 : 2;
      gpus += counts[g];
    }
    if (used != 1) {
      refuse(id, "tasks", "has not only workers of one shape with a GPU each",
             "give it one task group with \"gpus\": 1");
    }
    return gpus;
  }

  [[nodiscard]] ElasticJob read(JobId id) const {
    const model::Workload& workload = world.instance.workload;
    const auto& choices =
        workload.configurations[workload.time_of(workload.job(id)).configurations];
    if (!world.profiles.has(id) ||
        world.profiles.jobs[id.index()].kind != speed::ProfileKind::goodput) {
      refuse(id, "profile", "has no profile of the model goodput", "name one in --profiles");
    }
    std::vector<std::int32_t> counts;
    for (const model::TaskGroup& group : workload.groups_of(workload.job(id)))
      counts.push_back(group.count);
    ElasticJob job{.requested = gpus_of(id, counts), .configurations = {}};
    constexpr std::uint32_t kMissing = ~std::uint32_t{0};
    for (std::size_t c = 0; c < choices.size(); ++c) {
      const auto gpus = static_cast<std::size_t>(gpus_of(id, choices[c].counts));
      if (job.configurations.size() < gpus) job.configurations.resize(gpus, kMissing);
      job.configurations[gpus - 1] = static_cast<std::uint32_t>(c);
    }
    const auto missing = std::ranges::find(job.configurations, kMissing);
    if (choices.empty() || missing != job.configurations.end()) {
      refuse(id, "configurations",
             "has no configuration of " + std::to_string(missing - job.configurations.begin() + 1) +
                 " GPUs",
             "list every number of GPUs from 1 to the largest");
    }
    return job;
  }
};

}  // namespace

std::vector<ElasticJob> elastic_jobs(std::string_view policy, const PaperWorld& world) {
  const model::Cluster& cluster = world.instance.cluster;
  GpuTypeId type;
  for (const model::MachineClass& machines : cluster.classes) {
    if (!machines.gpu_type.valid()) continue;
    if (type.valid() && machines.gpu_type != type) {
      throw InputError({.file = "", .line = 0, .field = "gpu_type"},
                       std::string(policy) + " knows one GPU type, the cluster has several",
                       "give it the machines of one type");
    }
    type = machines.gpu_type;
  }
  const Reader reader{policy, world};
  std::vector<ElasticJob> jobs;
  for (std::size_t j = 0; j < world.instance.workload.size(); ++j)
    jobs.push_back(reader.read(JobId(j)));
  return jobs;
}

std::vector<Gpu> gpu_line(const model::Cluster& cluster) {
  std::vector<Gpu> line;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const std::int32_t gpus = cluster.class_of(MachineId(m)).gpus;
    for (std::int32_t device = 0; device < gpus; ++device) line.push_back({MachineId(m), device});
  }
  return line;
}

bool run_on(policy::State& state, JobId id, const ElasticJob& job, std::span<const Gpu> gpus,
            std::int64_t batch) {
  if (state.progress(id).phase == policy::Phase::running) state.stop(id);
  state.choose(id, job.configurations[gpus.size() - 1]);
  state.set_batch(id, batch);
  const policy::Demand& demand = state.demand(id);
  std::vector<model::TaskPlacement> tasks;
  for (const Gpu& gpu : gpus) {
    tasks.push_back({.machine = gpu.machine,
                     .group = demand.groups.front().group,
                     .devices = std::uint64_t{1} << gpu.device,
                     .milli = static_cast<std::int32_t>(model::kGpuMilli)});
  }
  return state.start_on(id, state.free().cluster().class_of(gpus.front().machine).gpu_type, tasks);
}

}  // namespace berth::papers
