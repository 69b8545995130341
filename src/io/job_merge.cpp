// SPDX-License-Identifier: Apache-2.0
#include "job_merge.hpp"

#include <bit>
#include <utility>

namespace berth::io {
namespace {

std::uint64_t renumbered(std::uint64_t mask, const std::vector<std::uint32_t>& types) {
  if (mask == ~std::uint64_t{0}) return mask;
  std::uint64_t all = 0;
  for (; mask != 0; mask &= mask - 1) {
    all |= std::uint64_t{1} << types[static_cast<std::size_t>(std::countr_zero(mask))];
  }
  return all;
}

}  // namespace

void renumber(model::JobSet& records, const BlockNumbers& numbers) {
  for (model::TaskGroup& group : records.groups) {
    group.shape = ShapeId(std::size_t{numbers.shapes[group.shape.index()]});
    group.label = numbers.labels[group.label];
  }
  for (model::Job& job : records.jobs) {
    job.gpu_types = renumbered(job.gpu_types, numbers.types);
    job.speed = numbers.speeds[job.speed];
    job.home_factor = numbers.factors[job.home_factor];
    job.width_factor = numbers.factors[job.width_factor];
    job.rules = numbers.rules[job.rules];
    job.time = numbers.time_rules[job.time];
    if (job.running >= 0) job.running += numbers.first_running;
  }
}

void reserve(model::JobSet& records, double part) {
  records.jobs.reserve(expected(records.jobs.size(), part));
  records.groups.reserve(expected(records.groups.size(), part));
}

void append(model::JobSet& whole, const model::JobSet& block) {
  const auto first_group = static_cast<std::uint32_t>(whole.groups.size());
  for (model::Job job : block.jobs) {
    job.first_group += first_group;
    whole.jobs.push_back(job);
  }
  whole.groups.insert(whole.groups.end(), block.groups.begin(), block.groups.end());
}

void JobMerge::add(JobBlock block) {
  renumber(block.records, tables_.add(block.tables));
  append(records_, block.records);
}

void JobMerge::reserve(double part) {
  tables_.reserve(part);
  io::reserve(records_, part);
}

model::Workload JobMerge::finish() { return {tables_.finish(), std::move(records_)}; }

}  // namespace berth::io
