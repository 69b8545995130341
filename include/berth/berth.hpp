// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Planning from a program of one's own: describe a cluster and jobs, call `plan`, read names.
///
///   berth::ClusterBuilder cluster;
///   cluster.add_class("h100", {.gpu_type = "H100", .gpus = 8});
///   cluster.add_machines("pod-0", "rack-a", "a[1-5]", "h100");
///   berth::JobsBuilder jobs;
///   jobs.add({.id = "llm", .tasks = {{.count = 4, .gpus = 8}}, .domain = "rack"});
///   const berth::PlanResult result = berth::plan(cluster, jobs, {.named = {{"gap", "1%"}}});
///
/// This header, version.hpp and base/error.hpp keep their form within 0.1.y: structs grow at their
/// ends only. All other headers may change with any version (docs/install.md).

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/base/error.hpp"
#include "berth/version.hpp"

namespace berth {

/// Equipment of equal machines. Units as in docs/formats.md.
struct MachineSpec {
  std::string gpu_type = {};  ///< needed with GPUs
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;   ///< thousandths of a core
  std::int64_t memory_mib = 0;
  std::string more = {};  ///< further keys of docs/formats.md, a JSON object: R"({"gpu_slices":7})"
};

/// A queue; `gpu_quota` < 0: none. Queues above it come first.
struct QueueSpec {
  std::int64_t gpu_quota = -1;
  std::string parent = {};
  std::string more = {};  ///< as in MachineSpec
};

/// A cluster in memory. Names and amounts are checked by `plan`.
class ClusterBuilder {
 public:
  ClusterBuilder& add_class(const std::string& name, const MachineSpec& spec);
  /// @param ids  a name, or a range such as "a[01-32]"; pods and racks are made when first named
  ClusterBuilder& add_machines(const std::string& pod, const std::string& rack,
                               const std::string& ids, const std::string& machine_class);
  ClusterBuilder& add_queue(const std::string& name, const QueueSpec& spec = {});
  /// @param ids    machines as above, or a rack or pod
  /// @param state  "up", "drain", "drained" or "reserved"
  ClusterBuilder& set_state(const std::string& ids, const std::string& state);

  [[nodiscard]] std::string text() const;  ///< as a cluster file

 private:
  struct Rack {
    std::string pod, rack;
    std::string machines;  ///< JSON objects
  };
  std::vector<std::string> pods_;  ///< in order of their first machines
  std::vector<Rack> racks_;
  std::string classes_, queues_, states_;  ///< JSON, without the brackets around it
};

/// Equal tasks of a job: whole GPUs, or a share of one in thousandths.
struct TaskSpec {
  std::string shape = {};  ///< name of the group; needed when a job has several
  std::int64_t count = 1;
  std::int64_t gpus = 0;
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
};

/// A job; the meaning of each member is that of the key of its name in docs/formats.md.
struct JobSpec {
  std::string id = {};
  std::vector<TaskSpec> tasks = {};
  double weight = 1.0;
  std::optional<double> value = {};
  std::int32_t priority = 0;
  bool required = false;
  std::string queue = {};
  std::string domain = {};  ///< "machine", "rack", "pod"; empty: anywhere
  std::vector<std::string> gpu_types = {};
  std::map<std::string, double> speed = {};
  std::string more = {};  ///< further keys, a JSON object: R"({"home":{"rack":"rack-a"}})"
};

/// Jobs in memory, in this order.
class JobsBuilder {
 public:
  JobsBuilder& add(const JobSpec& job);
  [[nodiscard]] const std::string& text() const { return text_; }  ///< as a jobs file

 private:
  std::string text_;
};

/// A line of progress; NaN where a stage has no value yet, and -1 outside rounds.
struct Progress {
  double seconds = 0.0;  ///< since the call
  std::string stage;
  int round = -1;
  double objective = 0.0, bound = 0.0, gap = 0.0;
};

struct Options {
  /// Options of docs/options.md by name, without dashes: {{"gap", "1%"}, {"effort", "3"}}.
  std::map<std::string, std::string> named = {};
  int threads = 0;               ///< of this rank; 0: its share of the cores that it may use
  double time_limit = 0.0;       ///< seconds, then the best plan so far; 0: none
  bool this_rank_alone = false;  ///< under a launcher: plans without the other ranks
  std::function<void(const Progress&)> progress = {};         ///< on the calling thread of rank 0
  std::function<void(const std::string&)> warning = {};       ///< likewise; empty: on stderr
  /// True: the best plan so far. Asked often, one thread at a time, but not always the same one.
  std::function<bool()> cancelled = {};
};

struct PlacedTask {
  std::string shape;
  std::string machine;
  std::vector<int> gpus;  ///< devices of the machine
  int gpu_milli = 1000;   ///< thousandths of each of them
};
struct PlacedJob {
  std::string job;
  std::vector<PlacedTask> tasks;
};
struct WaitingReason {
  std::string job;
  std::string reason;
};

/// A plan with its proof; the same on every rank that took part.
struct PlanResult {
  double objective = 0.0;
  double upper_bound = 0.0;  ///< no plan of these jobs is worth more
  double gap = 0.0;          ///< a fraction
  bool reproducible = true;  ///< false: a time limit or `cancelled` ended it
  std::vector<std::string> required_missing;
  std::vector<PlacedJob> placed;
  std::vector<WaitingReason> waiting;
  std::string instance_digest, plan_digest;
  std::string text;  ///< content of plan.json, for `berth check` and the other commands
};

/// MPI and PETSc, from construction to destruction. Optional: the first `plan` makes one that lasts
/// to the end of the program. A program that ends MPI itself makes one that ends before. One a
/// process, on the main thread; uses an MPI that runs already and then does not end it.
class Session {
 public:
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Plans, and judges the plan as `berth check` does before it returns. Equal input and `named` give
/// an equal plan on any number of ranks and threads. Main thread only. Under a launcher every rank
/// calls it with equal arguments (callbacks apart), unless `this_rank_alone`.
///
/// @throws InputError with file ("cluster", "jobs"), line and field: bad input, unknown options
/// @throws SystemError when MPI has ended already, or memory or another resource runs out
PlanResult plan(const ClusterBuilder& cluster, const JobsBuilder& jobs,
                const Options& options = {});
/// The same from the texts of a cluster file and a jobs file.
PlanResult plan_texts(std::string_view cluster, std::string_view jobs, const Options& options = {});
/// The same from files, `.gz` by suffix; every rank reads them.
PlanResult plan_files(const std::string& cluster, const std::string& jobs,
                      const Options& options = {});

}  // namespace berth
