// SPDX-License-Identifier: Apache-2.0
#include "workload_builder.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace berth::generate {
namespace {

constexpr double kDay = 86'400.0;  ///< seconds of a day, by definition

}  // namespace

WorkloadBuilder::WorkloadBuilder(std::size_t jobs, std::size_t types,
                                 std::vector<std::string> labels)
    : jobs_(jobs) {
  out_.labels = std::move(labels);
  out_.speed_types = static_cast<std::uint32_t>(types);
  out_.speeds.assign(types, 1.0);
  out_.jobs.reserve(jobs);
  out_.groups.reserve(jobs);
  out_.job_names.reserve(jobs, 10 * jobs);
}

model::Job WorkloadBuilder::start_job(Dice& dice) {
  const std::size_t j = out_.jobs.size();
  out_.job_names.add(fmt::format("job-{:06}", j));
  model::Job job;
  job.first_group = static_cast<std::uint32_t>(out_.groups.size());
  const double into_day = (static_cast<double>(j) + dice.unit()) / static_cast<double>(jobs_);
  job.arrival = static_cast<std::int64_t>(into_day * kDay);
  return job;
}

void WorkloadBuilder::add_group(const model::Shape& shape, std::int32_t count,
                                std::uint32_t label) {
  const auto [at, fresh] = shapes_.try_emplace(shape, ShapeId(out_.shapes.size()));
  if (fresh) out_.shapes.push_back(shape);
  out_.groups.push_back({.shape = at->second, .count = count, .label = label});
}

void WorkloadBuilder::finish_job(model::Job job) {
  job.groups = static_cast<std::uint32_t>(out_.groups.size()) - job.first_group;
  out_.jobs.push_back(job);
}

std::uint32_t WorkloadBuilder::factor_row(const model::Factors& factors) {
  const auto found = std::ranges::find(out_.factors, factors);
  const auto row = static_cast<std::uint32_t>(found - out_.factors.begin());
  if (found == out_.factors.end()) out_.factors.push_back(factors);
  return row;
}

void WorkloadBuilder::add_speed_row(const std::vector<double>& row) {
  out_.speeds.insert(out_.speeds.end(), row.begin(), row.end());
}

}  // namespace berth::generate
