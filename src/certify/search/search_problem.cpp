// SPDX-License-Identifier: Apache-2.0
#include "search/search_problem.hpp"

#include "exact.hpp"
#include "job_value.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace berth::certify::search {
namespace {

using model::Level;

/// The parts of `room` that start with `mark`, without what precedes the first.
std::vector<Room> parts(std::span<const std::uint32_t> room, std::uint32_t mark) {
  std::vector<Room> found;
  for (const std::uint32_t word : room) {
    if ((word & mark) != 0) found.emplace_back();
    if (!found.empty()) found.back().push_back(word);
  }
  return found;
}

std::int64_t cpu_of(const model::WorkloadView& workload, const model::Job& job) {
  std::int64_t cpu = 0;
  for (const model::TaskGroup& g : workload.groups_of(job)) {
    cpu += g.count * workload.shape(g.shape).needs[model::kCpu];
  }
  return cpu;
}

}  // namespace

void sort_room(Room& room) {
  std::vector<Room> pods = parts(room, kPodMark);
  for (Room& pod : pods) {
    std::vector<Room> racks = parts(pod, kRackMark);
    for (Room& rack : racks) std::sort(rack.begin() + 1, rack.end());
    std::ranges::sort(racks);
    pod.resize(1);
    for (const Room& rack : racks) pod.insert(pod.end(), rack.begin(), rack.end());
  }
  std::ranges::sort(pods);
  room.clear();
  for (const Room& pod : pods) room.insert(room.end(), pod.begin(), pod.end());
}

SearchProblem::SearchProblem(const model::InstanceView& instance, model::Objective objective,
                             int scale_log2, std::span<const JobId> required_placed)
    : instance_(instance),
      objective_(objective),
      scale_log2_(scale_log2),
      quotas_(instance, objective),
      rack_mark_(instance.cluster.racks.size(), 0),
      pod_mark_(instance.cluster.pods.size(), 0) {
  for (const JobId id : model::planned_jobs(instance.workload)) {
    add(instance.workload.job(id), id, std::ranges::count(required_placed, id) > 0);
  }
  const model::WorkloadView& workload = instance.workload;
  std::ranges::stable_sort(jobs_, [&](const SearchedJob& a, const SearchedJob& b) {
    const auto key = [&](const SearchedJob& j) {
      Int128 most = 0;
      for (const auto& c : j.choices) most = std::max(most, c.most);
      return std::tuple(j.milli, cpu_of(workload, workload.job(j.id)), most);
    };
    return key(a) > key(b);
  });
  find_identities();
}

void SearchProblem::add(const model::Job& job, JobId id, bool required) {
  const model::Cluster& cluster = instance_.cluster;
  SearchedJob searched{.id = id,
                       .required = required,
                       .one_task = instance_.workload.tasks(job) == 1,
                       .domain = job.domain,
                       .milli = milli_of(instance_.workload, job),
                       .types = job.gpu_types};
  if (quotas_.allow(job)) add_choices(job, searched);
  const bool gains =
      std::ranges::any_of(searched.choices, [](const auto& c) { return c.most > 0; });
  if (!required && !gains) return;
  for (QueueId q = job.queue; q.valid(); q = cluster.queues[q.index()].parent) {
    if (quotas_.room(q)) searched.queues.push_back(q.index());
  }
  for (const model::TaskGroup& group : instance_.workload.groups_of(job)) {
    searched.groups.push_back({kind_of(job, group.shape), group.count});
  }
  PodId home = job.home_pod;
  if (job.home_rack.valid()) {
    home = cluster.racks[job.home_rack.index()].pod;
    searched.home_rack = rack_mark_[job.home_rack.index()] =
        static_cast<std::uint32_t>(job.home_rack.index() + 1);
  }
  if (home.valid()) {
    searched.home_pod = pod_mark_[home.index()] = static_cast<std::uint32_t>(home.index() + 1);
  }
  jobs_.push_back(std::move(searched));
}

void SearchProblem::add_choices(const model::Job& job, SearchedJob& searched) {
  const JobValue worth(instance_, objective_, job, searched.milli);
  const Int128 stop = fixed_down(worth.stop_cost(), scale_log2_);
  const Int128 shift = stop - fixed_down(worth.move_cost(), scale_log2_);
  const auto now = present(instance_.workload, searched.id);
  std::vector<GpuTypeId> types;
  if (searched.milli == 0) types.emplace_back();
  for (std::size_t t = 0; searched.milli > 0 && t < instance_.cluster.gpu_types.size(); ++t) {
    if (((job.gpu_types >> t) & 1) != 0) types.emplace_back(t);
  }
  for (const GpuTypeId type : types) {
    SearchedJob::Choice choice{.type = type};
    for (std::size_t w = 0; w < model::kLevels; ++w) {
      for (std::size_t d = 0; d < model::kLevels; ++d) {
        const auto value = worth.at(type, static_cast<Level>(w), static_cast<Level>(d));
        choice.gain[w][d] = fixed_up(value, scale_log2_) + shift;
      }
    }
    // A placement of the present type, width and distance counts as staying.
    if (now && worth.move_cost() > 0.0 && may_stay(instance_.cluster, *now)) {
      racks_matter_ = pods_matter_ = true;
      const PlacementExtent at = extent_of(instance_, *now);
      const auto w = static_cast<std::size_t>(at.width), d = static_cast<std::size_t>(at.distance);
      if (at.type == type) {
        choice.gain[w][d] = fixed_up(worth.at(type, at.width, at.distance), scale_log2_) + stop;
      }
    }
    choice.most = choice.gain[0][0];
    for (const auto& row : choice.gain)
      choice.most = std::max(choice.most, *std::ranges::max_element(row));
    searched.choices.push_back(choice);
  }
}

KindId SearchProblem::kind_of(const model::Job& job, ShapeId shape) {
  auto at = std::ranges::find(kinds_, shape, &TaskKind::shape);
  if (at == kinds_.end()) at = kinds_.insert(at, TaskKind{.shape = shape});
  const model::Shape& s = instance_.workload.shape(shape);
  const bool anywhere = may_be_anywhere(job, s, milli_of(instance_.workload, job) > 0);
  at->types |= anywhere ? ~std::uint64_t{0} : job.gpu_types;
  at->without_gpu = at->without_gpu || anywhere;
  return static_cast<KindId>(at - kinds_.begin());
}

void SearchProblem::find_identities() {
  const auto& factors = instance_.workload.tables().factors;
  for (const SearchedJob& job : jobs_) {
    pods_matter_ = pods_matter_ || job.home_pod != 0;
    racks_matter_ = racks_matter_ || job.home_rack != 0;
    if (job.one_task) continue;
    const auto& width = factors[instance_.workload.job(job.id).width_factor];
    const bool at_racks = job.domain == Level::rack || width[1] != width[2];
    const bool at_pods = job.domain == Level::pod || width[2] != width[3];
    racks_matter_ = racks_matter_ || (job.domain >= Level::rack && at_racks);
    pods_matter_ = pods_matter_ || (job.domain >= Level::pod && at_pods);
  }
}

Room SearchProblem::empty_room(const MachineStates& states) const {
  const model::Cluster& cluster = instance_.cluster;
  Room room;
  for (std::size_t m = 0; m < cluster.machines(); ++m) {
    const RackId rack = cluster.machine_rack[m];
    const PodId pod = cluster.racks[rack.index()].pod;
    const bool first = m == 0;
    const bool new_rack = first || cluster.machine_rack[m - 1] != rack;
    const bool new_pod = first || cluster.pod_of(MachineId(m - 1)) != pod;
    if (first || (new_pod && pods_matter_)) room.push_back(kPodMark | pod_mark_[pod.index()]);
    if (first || (new_pod && pods_matter_) || (new_rack && racks_matter_)) {
      room.push_back(kRackMark | rack_mark_[rack.index()]);
    }
    room.push_back(states.of(MachineId(m)));
  }
  sort_room(room);
  return room;
}

std::vector<std::optional<std::int64_t>> SearchProblem::quotas() const {
  std::vector<std::optional<std::int64_t>> all;
  for (std::size_t q = 0; q < instance_.cluster.queues.size(); ++q) {
    all.push_back(quotas_.room(QueueId(q)));
  }
  return all;
}

std::optional<Int128> SearchProblem::penalty(std::size_t queue, std::int64_t milli) const {
  const model::Queue& q = instance_.cluster.queues[queue];
  if (q.hard()) return std::nullopt;
  return fixed_down(q.over_quota_penalty, scale_log2_) * milli / model::kGpuMilli;
}

}  // namespace berth::certify::search
