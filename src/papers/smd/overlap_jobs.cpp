// SPDX-License-Identifier: Apache-2.0
#include "overlap_jobs.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "berth/base/error.hpp"
#include "berth/model/free_machine.hpp"

namespace berth::papers::smd {
namespace {

[[noreturn]] void refuse(std::string_view policy, const PaperWorld& world, JobId job,
                         const char* field, const std::string& what, const std::string& hint) {
  throw InputError({.file = "", .line = 0, .field = field},
                   "job " + std::string(world.instance.workload.job_names[job.index()]) + " " +
                       what + ", which " + std::string(policy) + " needs",
                   hint);
}

Amounts capacity_of(const model::Cluster& cluster, std::span<const std::size_t> rows) {
  Amounts capacity(rows.size() + 1, 0.0);
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const model::FreeMachine machine(cluster, MachineId(m));
    if (!machine.is_up()) continue;
    capacity[0] += static_cast<double>(machine.milli());
    for (std::size_t k = 0; k < rows.size(); ++k) {
      capacity[k + 1] += static_cast<double>(machine.resources()[rows[k]]);
    }
  }
  return capacity;
}

class JobReader {
 public:
  JobReader(std::string_view policy, const PaperWorld& world, std::span<const std::size_t> rows)
      : policy_(policy), world_(world), rows_(rows) {}

  [[nodiscard]] OfferedJob read(JobId id) const {
    const model::Workload& workload = world_.instance.workload;
    if (!world_.profiles.has(id) ||
        world_.profiles.jobs[id.index()].kind != speed::ProfileKind::overlap) {
      refuse(policy_, world_, id, "profile", "has no profile of the model overlap",
             "name one in --profiles");
    }
    OfferedJob job;
    job.limit.assign(rows_.size() + 1, 0.0);
    const auto& choices =
        workload.configurations[workload.time_of(workload.job(id)).configurations];
    if (choices.empty()) {
      std::vector<std::int32_t> counts;
      for (const auto& group : workload.groups_of(workload.job(id))) counts.push_back(group.count);
      add(id, 0, counts, job);
    }
    for (std::size_t c = 0; c < choices.size(); ++c) {
      add(id, static_cast<std::uint32_t>(c), choices[c].counts, job);
    }
    if (job.crews.empty()) {
      refuse(policy_, world_, id, "configurations", "has no workers beside servers",
             "give it both task groups");
    }
    return job;
  }

 private:
  void add(JobId id, std::uint32_t configuration, std::span<const std::int32_t> counts,
           OfferedJob& job) const {
    const model::Workload& workload = world_.instance.workload;
    const auto groups = workload.groups_of(workload.job(id));
    const speed::JobProfile& profile = world_.profiles.jobs[id.index()];
    OfferedCrew crew{.configuration = configuration};
    Amounts used(job.limit.size(), 0.0);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      (g == profile.servers ? crew.servers : crew.workers) += counts[g];
      const model::Shape& shape = workload.shape(groups[g].shape);
      used[0] += static_cast<double>(shape.total_milli()) * counts[g];
      for (std::size_t k = 0; k < rows_.size(); ++k) {
        used[k + 1] += static_cast<double>(shape.needs[rows_[k]]) * counts[g];
      }
    }
    if (crew.workers < 1 || crew.servers < 1) return;
    const speed::OverlapProfile& overlap = world_.profiles.overlaps[id.index()];
    speed::OverlapJob speed = overlap.job;
    if (profile.batch > 0) speed.batch = static_cast<double>(profile.batch);
    crew.rate = iterations_per_second(speed, static_cast<double>(crew.workers),
                                      static_cast<double>(crew.servers)) /
                overlap.reference;
    job.crews.push_back(crew);
    for (std::size_t k = 0; k < used.size(); ++k) job.limit[k] = std::max(job.limit[k], used[k]);
  }

  std::string_view policy_;
  const PaperWorld& world_;
  std::span<const std::size_t> rows_;
};

}  // namespace

std::vector<std::size_t> limited_rows(const model::Cluster& cluster) {
  std::vector<std::size_t> rows;
  for (std::size_t r = 0; r < model::kResources; ++r) {
    const auto limits = [&](const model::MachineClass& c) {
      return model::FreeMachine(c).resources()[r] != model::kNoLimit;
    };
    if (std::ranges::all_of(cluster.classes, limits)) rows.push_back(r);
  }
  return rows;
}

OfferedWorld offered_world(std::string_view policy, const PaperWorld& world) {
  const std::vector<std::size_t> rows = limited_rows(world.instance.cluster);
  OfferedWorld offered;
  offered.capacity = capacity_of(world.instance.cluster, rows);
  const JobReader reader(policy, world, rows);
  for (std::size_t j = 0; j < world.instance.workload.size(); ++j) {
    OfferedJob job = reader.read(JobId(j));
    for (std::size_t k = 0; k < job.limit.size(); ++k) {
      job.limit[k] = std::min(job.limit[k], offered.capacity[k]);
    }
    offered.jobs.push_back(std::move(job));
  }
  return offered;
}

}  // namespace berth::papers::smd
