// SPDX-License-Identifier: Apache-2.0
#include "job_merge.hpp"

#include "running_room.hpp"
#include "words.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "berth/base/error.hpp"

namespace berth::io {

using model::Workload;

namespace {

/// Number in the whole of each row of a block, by the block's number; appends new rows to the
/// whole.
template <class Row, class Rows>
void merge_rows(const std::vector<Row>& block, Rows& known, std::vector<Row>& whole,
                std::vector<std::uint32_t>& numbers) {
  numbers.clear();
  for (const Row& row : block) {
    numbers.push_back(known.intern(row, [&](const Row& fresh) { whole.push_back(fresh); }));
  }
}

/// Position of the first repeated name and of the earlier equal one; no value when all names
/// differ. Open addressing: at most 24 bytes a name during the call.
std::optional<std::pair<std::size_t, std::size_t>> first_repeated(const NameTable& names) {
  struct HashSlot {
    std::uint32_t tag = 0;   // half of the name's hash; the other half chose the slot
    std::uint32_t name = 0;  // index + 1; 0: empty slot
  };
  std::vector<HashSlot> slots(std::bit_ceil(names.size() + names.size() / 2 + 1));
  for (std::size_t n = 0; n < names.size(); ++n) {
    const std::uint64_t hash = std::hash<std::string_view>()(names[n]);
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = hash & (slots.size() - 1);
    for (; slots[at].name != 0; at = (at + 1) & (slots.size() - 1)) {
      const std::size_t earlier = slots[at].name - std::size_t{1};
      if (slots[at].tag == tag && names[earlier] == names[n]) return std::pair{earlier, n};
    }
    slots[at] = {.tag = tag, .name = static_cast<std::uint32_t>(n + 1)};
  }
  return std::nullopt;
}

}  // namespace

JobMerge::JobMerge(model::Cluster& cluster, std::string file)
    : cluster_(&cluster), file_(std::move(file)), known_types_(cluster.gpu_types.size()) {
  factors_.intern(workload_.factors.front(), [](const model::Factors&) {});
  speeds_.intern({}, [&](const SpeedRow& fresh) { speed_rows_.push_back(fresh); });
}

void JobMerge::fail(std::uint32_t line, const std::string& field, const std::string& problem,
                    const std::string& hint) const {
  throw InputError({.file = file_, .line = std::int64_t{lines_before_} + line, .field = field},
                   problem, hint);
}

void JobMerge::add_types(const JobBlock& block) {
  of_.types.clear();
  auto& all = cluster_->gpu_types;
  for (const JobBlock::NewType& type : block.gpu_types) {
    const auto found = std::ranges::find(all, type.name);
    of_.types.push_back(static_cast<std::uint32_t>(found - all.begin()));
    if (found != all.end()) continue;
    if (all.size() == model::kMaxGpuTypes) {
      fail(type.line, type.field, "more than 64 GPU types in cluster and jobs together",
           did_you_mean(type.name, all));
    }
    all.push_back(type.name);
  }
}

std::uint32_t JobMerge::type_of(std::uint32_t in_block) const {
  return in_block < known_types_ ? in_block : of_.types[in_block - known_types_];
}

std::uint64_t JobMerge::mask_of(std::uint64_t in_block) const {
  if (of_.types.empty() || in_block == ~std::uint64_t{0}) return in_block;
  std::uint64_t mask = 0;
  for (std::uint32_t type = 0; type < known_types_ + of_.types.size(); ++type) {
    if ((in_block >> type & 1) != 0) mask |= std::uint64_t{1} << type_of(type);
  }
  return mask;
}

void JobMerge::add_speeds(const JobBlock& block) {
  of_.speeds.assign(1, 0);
  for (const SpeedRow& row : block.speeds) {
    SpeedRow whole;
    for (const auto& [type, speed] : row) whole.emplace_back(type_of(type), speed);
    std::ranges::sort(whole);
    of_.speeds.push_back(
        speeds_.intern(whole, [&](const SpeedRow& fresh) { speed_rows_.push_back(fresh); }));
  }
}

void JobMerge::add_jobs(const JobBlock& block) {
  const Workload& from = block.workload;
  const auto first_group = static_cast<std::uint32_t>(workload_.groups.size());
  const auto first_running = static_cast<std::int32_t>(workload_.running.size());
  for (model::TaskGroup group : from.groups) {
    group.shape = ShapeId(std::size_t{of_.shapes[group.shape.index()]});
    group.label = of_.labels[group.label];
    workload_.groups.push_back(group);
  }
  for (std::size_t j = 0; j < from.jobs.size(); ++j) {
    model::Job job = from.jobs[j];
    job.first_group += first_group;
    job.gpu_types = mask_of(job.gpu_types);
    job.speed = of_.speeds[job.speed];
    job.home_factor = of_.factors[job.home_factor];
    job.width_factor = of_.factors[job.width_factor];
    if (job.running >= 0) job.running += first_running;
    workload_.jobs.push_back(job);
    workload_.job_names.add(from.job_names[j]);
    lines_.push_back(lines_before_ + block.lines[j]);
  }
}

/// @pre the block's jobs are merged
void JobMerge::add_running(const Workload& from) {
  const std::size_t first_job = taken_ + workload_.jobs.size() - from.jobs.size();
  const auto first_task = static_cast<std::uint32_t>(workload_.running_tasks.size());
  for (model::Running running : from.running) {
    const auto groups = from.groups_of(from.jobs[running.job.index()]);
    for (const model::TaskPlacement& t : from.tasks_of(running)) {
      ran_.emplace_back(std::size_t{of_.shapes[groups[t.group].shape.index()]});
    }
    running.job = JobId(first_job + running.job.index());
    running.first_task += first_task;
    workload_.running.push_back(running);
  }
  workload_.running_tasks.insert(workload_.running_tasks.end(), from.running_tasks.begin(),
                                 from.running_tasks.end());
}

void JobMerge::add(const JobBlock& block) {
  add_types(block);
  if (block.fault) {
    fail(block.fault->line, block.fault->field, block.fault->problem, block.fault->hint);
  }
  const Workload& from = block.workload;
  add_speeds(block);
  merge_rows(from.shapes, shapes_, workload_.shapes, of_.shapes);
  merge_rows(from.factors, factors_, workload_.factors, of_.factors);
  merge_rows(from.labels, labels_, workload_.labels, of_.labels);
  add_jobs(block);
  add_running(from);
  if (block.first_spread > 0 && first_spread_ == 0) {
    first_spread_ = lines_before_ + block.first_spread;
  }
  lines_before_ += block.line_count;
}

MergedJobs JobMerge::take() {
  MergedJobs taken{.first = taken_,
                   .jobs = std::exchange(workload_.jobs, {}),
                   .groups = std::exchange(workload_.groups, {})};
  taken_ += taken.jobs.size();
  return taken;
}

void JobMerge::fill_speeds() {
  const std::size_t types = cluster_->gpu_types.size();
  workload_.speed_types = static_cast<std::uint32_t>(types);
  workload_.speeds.assign(speed_rows_.size() * types, 1.0);
  for (std::size_t row = 0; row < speed_rows_.size(); ++row) {
    for (const auto& [type, speed] : speed_rows_[row]) workload_.speeds[row * types + type] = speed;
  }
}

void JobMerge::refuse_repeated_ids() const {
  const auto twice = first_repeated(workload_.job_names);
  if (!twice) return;
  throw InputError({.file = file_, .line = lines_[twice->second], .field = "id"},
                   "job " + in_quotes(workload_.job_names[twice->second]) + " is given twice",
                   "first on line " + std::to_string(lines_[twice->first]));
}

void JobMerge::reserve(double part) {
  // Lines differ in length, and unused reserve costs no memory. Chosen, not tuned.
  constexpr double kSpare = 1.1;
  const auto all = [&](std::size_t so_far) {
    return static_cast<std::size_t>(kSpare * static_cast<double>(so_far) / part);
  };
  NameTable& names = workload_.job_names;
  names.reserve(all(names.size()), all(names.characters()));
  workload_.jobs.reserve(all(workload_.jobs.size()));
  workload_.groups.reserve(all(workload_.groups.size()));
  lines_.reserve(all(lines_.size()));
}

Workload JobMerge::finish() {
  refuse_repeated_ids();
  fill_speeds();
  if (first_spread_ > 0) {
    workload_.notes.push_back(file_ + ":" + std::to_string(first_spread_) +
                              ": spread: this key is called \"width_factor\" now; jobs that have "
                              "the old name are read all the same");
  }
  pin_running(*cluster_, workload_, ran_, lines_, file_);
  return std::move(workload_);
}

}  // namespace berth::io
