// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/io/import_trace.hpp"

namespace berth::io {

/// A factor that holds for completions until this many seconds after submission.
struct TraceValueStep {
  double seconds = 0.0;
  double factor = 0.0;
};

/// One job of a trace in the trace's own terms. Times are in seconds from any origin.
struct TraceJob {
  std::string id;         ///< empty: named after its line
  std::int64_t line = 0;  ///< in the file
  double submit = 0.0;
  double duration = 0.0;                    ///< that the job ran, at speed 1
  std::optional<double> limit = {};         ///< wall time that was asked for
  std::string queue = {};                   ///< or virtual cluster; empty: none
  std::int64_t tasks = 0;                   ///< equal parts that the trace names; 0: it names none
  std::int64_t gpus = 0;                    ///< of all tasks
  std::int64_t gpu_milli = 0;               ///< instead of `gpus`: a share of one GPU
  std::int64_t cpu_milli = 0;               ///< of all tasks
  std::int64_t memory_mib = 0;              ///< of all tasks
  std::vector<std::string> gpu_types = {};  ///< allowed; empty: any
  std::vector<std::pair<std::string, double>> speeds = {};  ///< by GPU type; others have 1
  double weight = 1.0;
  std::optional<double> value = {};
  std::optional<double> deadline = {};     ///< seconds after submission, hard
  std::vector<TraceValueStep> steps = {};  ///< ascending; after the last step the factor is 0
  std::string profile = {};                ///< name of its application in a profiles file
  double throughput = 0.0;                 ///< of the profile, at which it takes `duration`
};

/// Jobs read from a trace, and what was left out or changed.
class TraceJobs {
 public:
  /// Takes a job of the trace.
  void add(TraceJob job) { jobs_.push_back(std::move(job)); }

  /// Leaves out the row of this line, for a reason that several rows may share.
  void skip(std::int64_t line, std::string_view reason) { count(skipped_, line, reason); }

  /// Counts a row that was taken otherwise than it stands.
  void note(std::int64_t line, std::string_view change) { count(changed_, line, change); }

  [[nodiscard]] std::vector<TraceJob>& jobs() { return jobs_; }
  [[nodiscard]] std::int64_t skipped() const;  ///< rows
  [[nodiscard]] std::vector<TraceNote> take_skipped() { return sorted(skipped_); }
  [[nodiscard]] std::vector<TraceNote> take_changed() { return sorted(changed_); }

 private:
  using Notes = std::map<std::string, TraceNote, std::less<>>;
  static void count(Notes& notes, std::int64_t line, std::string_view what);
  static std::vector<TraceNote> sorted(const Notes& notes);

  std::vector<TraceJob> jobs_;
  Notes skipped_, changed_;
};

/// Orders the jobs by submission, takes the selected ones and writes them in Berth's terms, with
/// submission 0 at the first of them. Adds the queues of the jobs to the cluster.
/// @throws InputError about `file`
model::Workload make_workload(TraceJobs& jobs, const TraceOptions& options, const std::string& file,
                              model::Cluster& cluster);

}  // namespace berth::io
