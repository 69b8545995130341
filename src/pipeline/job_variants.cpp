// SPDX-License-Identifier: Apache-2.0
#include "job_variants.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

namespace berth::pipeline {
namespace {

using model::Job;
using model::Level;

constexpr std::int32_t kCounts = 256;  ///< numbers of tasks that are tried, at most; not tuned

class Variants {
 public:
  Variants(model::Instance& instance, JobId job)
      : instance_(instance), id_(job), job_(instance.workload.job(job)) {}

  std::vector<JobVariant> run() {
    add({.kind = TimedChangeKind::none}, [](Job&) {});
    for (const Level level : {Level::rack, Level::pod, Level::cluster}) {
      if (level <= job_.domain) continue;
      add({.kind = TimedChangeKind::domain, .domain = level},
          [&](Job& job) { job.domain = level; });
    }
    for (std::size_t t = 0; t < instance_.cluster.gpu_types.size(); ++t) {
      const GpuTypeId type(t);
      if (model::lists(job_, type)) continue;
      add({.kind = TimedChangeKind::gpu_type, .gpu_type = type},
          [&](Job& job) { job.gpu_types = std::uint64_t{1} << type.index(); });
    }
    add_counts();
    if (job_.queue.valid()) {
      add({.kind = TimedChangeKind::quota}, [](Job& job) { job.queue = {}; });
    }
    if (!rules().licenses.empty()) {
      model::PlacementRules without = rules();
      without.licenses.clear();
      const std::uint32_t row = add_row(instance_.workload.rules, std::move(without));
      add({.kind = TimedChangeKind::license}, [&](Job& job) { job.rules = row; });
    }
    if (times().deadline != model::kNever) {
      model::TimeRules without = times();
      without.deadline = model::kNever;
      const std::uint32_t row = add_row(instance_.workload.time_rules, std::move(without));
      add({.kind = TimedChangeKind::deadline}, [&](Job& job) { job.time = row; });
    }
    return std::move(variants_);
  }

 private:
  [[nodiscard]] const model::PlacementRules& rules() const {
    return instance_.workload.rules[job_.rules];
  }
  [[nodiscard]] const model::TimeRules& times() const {
    return instance_.workload.time_rules[job_.time];
  }

  template <class Row>
  static std::uint32_t add_row(std::vector<Row>& rows, Row row) {
    rows.push_back(std::move(row));
    return static_cast<std::uint32_t>(rows.size() - 1);
  }

  /// Of a job of one group that is not elastic, from the most on; not fewer than the domains that
  /// it asks for.
  void add_counts() {
    if (job_.groups != 1 || times().configurations != 0) return;
    const std::int32_t all = instance_.workload.groups[job_.first_group].count;
    const std::int32_t least = std::max(1, *std::ranges::max_element(rules().min_domains));
    const std::int32_t step = std::max(1, (all - least) / kCounts);
    for (std::int32_t count = all - 1; count >= least; count -= step) {
      add({.kind = TimedChangeKind::count, .count = count}, [](Job&) {});
      instance_.workload.groups.back().count = count;
    }
  }

  void add(TimedChange change, const std::function<void(Job&)>& edit) {
    model::Workload& workload = instance_.workload;
    Job record = job_;
    edit(record);
    record.first_group = static_cast<std::uint32_t>(workload.groups.size());
    for (std::uint32_t g = 0; g < job_.groups; ++g) {
      workload.groups.push_back(model::TaskGroup(workload.groups[job_.first_group + g]));
    }
    const JobId variant(workload.jobs.size());
    workload.jobs.push_back(record);
    workload.job_names.add(std::string("\x01") + std::to_string(variant.value()));  // no file's
    std::vector<model::Dependency> after;
    for (const model::Dependency& one : instance_.workload.dependencies_of(id_)) {
      after.push_back({.job = variant, .after = one.after});
    }
    workload.dependencies.insert(workload.dependencies.end(), after.begin(), after.end());
    for (model::Window& window : instance_.cluster.windows) {
      if (std::ranges::binary_search(window.job_ids, id_)) window.job_ids.push_back(variant);
    }
    variants_.push_back({.id = variant, .change = std::move(change)});
  }

  model::Instance& instance_;
  JobId id_;
  Job job_;
  std::vector<JobVariant> variants_;
};

}  // namespace

std::vector<JobVariant> add_variants(model::Instance& instance, JobId job) {
  return Variants(instance, job).run();
}

}  // namespace berth::pipeline
