// SPDX-License-Identifier: Apache-2.0
#include "job_line.hpp"
#include "job_merge.hpp"
#include "openb_tables.hpp"
#include "unique_names.hpp"
#include "words.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

using model::kGpuMilli;

model::Shape read_shape(const Csv& csv, const Csv::Column& gpus, const Csv::Column& share) {
  model::Shape shape;
  const std::int64_t count = csv.integer(gpus, kMaxCount);
  if (count == 0) return shape;
  const std::int64_t milli = csv.integer(share, kGpuMilli);
  if (milli == 0) csv.fail(share.name, "a pod with a GPU takes 1 to 1000 thousandths of it");
  if (milli < kGpuMilli && count > 1) {
    csv.fail(share.name, fmt::format("{} GPUs and a share of {}", count, milli),
             "a share is of one GPU; several GPUs are whole (1000)");
  }
  if (milli < kGpuMilli) {
    shape.gpu_milli = static_cast<std::int32_t>(milli);
  } else {
    shape.gpus = static_cast<std::int32_t>(count);
  }
  return shape;
}

/// Splits "A B" into its parts.
std::vector<std::string_view> read_types(std::string_view list) {
  std::vector<std::string_view> types;
  while (!list.empty()) {
    const std::size_t bar = std::min(list.find('|'), list.size());
    if (bar > 0) types.push_back(list.substr(0, bar));
    list.remove_prefix(std::min(bar + 1, list.size()));
  }
  return types;
}

/// Decides which jobs are taken and which are required, by counts in order of arrival.
class Gate {
 public:
  Gate(const ImportOptions& options, const model::Cluster& cluster) : options_(options) {
    if (options.prefix_percent) {
      room_ = std::llround(*options.prefix_percent * 10.0 * static_cast<double>(cluster.gpus()));
    }
  }

  /// Whether the next job to arrive is taken. After the first refusal, all later jobs are refused.
  bool admits(const model::Shape& shape) {
    if (shape.total_milli() > room_) room_ = kClosed;
    if (room_ == kClosed) return false;
    if (options_.prefix_percent) room_ -= shape.total_milli();
    return true;
  }

  /// Whether the job just admitted is required.
  bool requires_it(const model::Shape& shape) {
    return !shape.uses_gpu() && cpu_only_++ < options_.require_cpu_only;
  }

  void finish() const {
    if (options_.require_cpu_only == ImportOptions::kAll) return;
    if (options_.require_cpu_only <= cpu_only_) return;
    throw InputError({.file = "", .line = 0, .field = "require-cpu-only"},
                     fmt::format("{} CPU-only pods, but there are only {}",
                                 options_.require_cpu_only, cpu_only_),
                     "\"all\" takes as many as there are");
  }

 private:
  static constexpr std::int64_t kClosed = -1;  // as `room_`: no more jobs are admitted
  const ImportOptions& options_;
  std::int64_t room_ = ImportOptions::kAll;  // GPU thousandths that the jobs may still ask for
  std::int64_t cpu_only_ = 0;                // number of admitted CPU-only jobs
};

/// Reads one row of the table and checks it by itself.
class PodReader {
 public:
  explicit PodReader(const Csv& csv)
      : csv_(csv),
        name_(csv.need("name")),
        cpu_(csv.need("cpu_milli")),
        memory_(csv.need("memory_mib")),
        gpus_(csv.need("num_gpu")),
        share_(csv.need("gpu_milli")),
        types_(csv.find("gpu_spec")) {
    job_.tasks.resize(1);
  }

  /// The job of the current row, without its name.
  JobLine& read() {
    names_.add(csv_, name_);
    model::Shape& shape = job_.tasks.front().shape;
    shape = read_shape(csv_, gpus_, share_);
    shape.needs[model::kCpu] = csv_.integer(cpu_, kMaxAmount);
    shape.needs[model::kMemory] = csv_.integer(memory_, kMaxAmount);
    job_.gpu_types.clear();
    if (types_ && shape.uses_gpu()) job_.gpu_types = read_types(csv_.cell(*types_));
    for (const std::string_view type : job_.gpu_types) {
      if (const std::string fault = name_fault(type); !fault.empty())
        csv_.fail(types_->name, fault);
    }
    return job_;
  }

  [[nodiscard]] const Csv::Column& name() const { return name_; }

 private:
  const Csv& csv_;
  Csv::Column name_, cpu_, memory_, gpus_, share_;
  std::optional<Csv::Column> types_;
  UniqueNames names_;
  JobLine job_;
};

}  // namespace

model::Workload read_openb_pods(Csv csv, const std::string& file, const ImportOptions& options,
                                model::Cluster& cluster) {
  PodReader reader(csv);
  SerialJobs jobs(cluster, file);
  Gate gate(options, cluster);
  for (std::int64_t arrival = 0; csv.next();) {
    JobLine& job = reader.read();
    check_copies(csv, reader.name(), options);
    const model::Shape& shape = job.tasks.front().shape;
    for (std::int64_t copy = 0; copy < options.replicate && gate.admits(shape); ++copy) {
      const std::string name = copy_name(csv.cell(reader.name()), copy, options);
      job.id = name;
      job.arrival = arrival++;
      job.required = gate.requires_it(shape);
      jobs.add(job, csv.line());
    }
  }
  gate.finish();
  return jobs.finish();
}

}  // namespace berth::io
