// SPDX-License-Identifier: Apache-2.0
#include "berth/speed/throughput_table.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace berth::speed {
namespace {

auto key(const ThroughputRow& row) {
  return std::tuple(row.gpu_type, row.gpus, row.extra_machines);
}

using Row = std::vector<ThroughputRow>::const_iterator;

/// Throughput of the rows [first, end) of one type and number, with this many extra machines.
double with_extra_machines(Row first, Row end, std::int32_t extra_machines) {
  const Row above = std::find_if(
      first, end, [&](const ThroughputRow& row) { return row.extra_machines > extra_machines; });
  return above == first ? first->per_second : std::prev(above)->per_second;
}

void check(const std::vector<ThroughputRow>& rows) {
  bool any = false;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ThroughputRow& row = rows[i];
    if (!row.gpu_type.valid() || row.gpus < 1 || row.extra_machines < 0) {
      throw std::invalid_argument("a throughput needs a GPU type and at least one GPU");
    }
    if (!std::isfinite(row.per_second) || row.per_second < 0.0) {
      throw std::invalid_argument("a throughput is negative or not finite");
    }
    any = any || row.per_second > 0.0;
    if (i == 0 ||
        std::pair(rows[i - 1].gpu_type, rows[i - 1].gpus) != std::pair(row.gpu_type, row.gpus)) {
      continue;
    }
    if (key(rows[i - 1]) == key(row)) throw std::invalid_argument("a throughput is given twice");
    if (row.per_second > rows[i - 1].per_second) {
      throw std::invalid_argument("a throughput grows with the number of machines");
    }
  }
  if (!any) throw std::invalid_argument("no throughput is above 0");
}

}  // namespace

ThroughputTable::ThroughputTable(std::vector<ThroughputRow> rows) : rows_(std::move(rows)) {
  std::ranges::sort(rows_, {}, key);
  check(rows_);
}

double ThroughputTable::at(GpuTypeId type, std::int32_t gpus, std::int32_t extra_machines) const {
  const auto by_number = [](const ThroughputRow& row) { return std::pair(row.gpu_type, row.gpus); };
  const auto first = std::ranges::lower_bound(rows_, type, {}, &ThroughputRow::gpu_type);
  const auto last =
      std::ranges::upper_bound(first, rows_.end(), type, {}, &ThroughputRow::gpu_type);
  if (first == last) return 0.0;
  const auto from = std::ranges::lower_bound(first, last, std::pair(type, gpus), {}, by_number);
  // The throughput of the number of GPUs of the row at `row`.
  const auto of = [&](Row row) {
    const auto [begin, end] =
        std::equal_range(first, last, *row,
                         [&](const auto& a, const auto& b) { return by_number(a) < by_number(b); });
    return with_extra_machines(begin, end, extra_machines);
  };
  if (from == last) return of(std::prev(last));
  if (from->gpus == gpus) return of(from);
  const double upper = of(from);
  const double above = from->gpus;
  if (from == first) return upper * gpus / above;
  const double lower = of(std::prev(from));
  const double below = std::prev(from)->gpus;
  if (lower == 0.0 || upper == 0.0) return 0.0;
  return lower + (upper - lower) * (gpus - below) / (above - below);
}

ThroughputModel::ThroughputModel(const model::Cluster& cluster,
                                 std::span<const ThroughputTable> tables,
                                 std::span<const JobThroughput> jobs, const Model& others)
    : cluster_(&cluster), tables_(tables), jobs_(jobs), others_(&others) {
  for (const JobThroughput& job : jobs) {
    if (job.table == JobThroughput::kNoTable) continue;
    if (job.table >= tables.size()) throw std::invalid_argument("a job names no throughput table");
    if (!std::isfinite(job.reference) || job.reference <= 0.0) {
      throw std::invalid_argument("the reference throughput of a job is not above 0");
    }
  }
}

double ThroughputModel::throughput(const RunningJob& running, const ThroughputTable& table) const {
  std::int32_t gpus = 0;
  std::int32_t machines = 0;
  std::int32_t largest = 1;  // GPUs of the largest machine
  for (const MachineTasks& on : running.machines) {
    if (on.gpus == 0) continue;
    gpus += on.gpus;
    ++machines;
    largest = std::max(largest, cluster_->class_of(on.machine).gpus);
  }
  const std::int32_t fewest = (gpus + largest - 1) / largest;
  return table.at(running.gpu_type, gpus, std::max(machines - fewest, 0));
}

void ThroughputModel::rates(std::span<const RunningJob> running, std::span<Rate> rates) const {
  others_->rates(running, rates);
  for (std::size_t i = 0; i < running.size(); ++i) {
    const JobThroughput& job = jobs_[running[i].job.index()];
    if (job.table == JobThroughput::kNoTable) continue;
    rates[i] = {.per_second = throughput(running[i], tables_[job.table]) / job.reference};
  }
}

}  // namespace berth::speed
