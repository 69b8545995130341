// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "slurm/gres.hpp"
#include "slurm/own_pin.hpp"
#include "slurm/values.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Slurm's output, field by field, before any name is looked up. Both generations of its JSON (data
/// parser up to v0.0.38, and from v0.0.39 on) and the text of `scontrol show` are read into it.
namespace berth::io::slurm {

struct SlurmNode {
  std::string name;
  std::int64_t cpus = 0;        ///< available to jobs
  std::int64_t memory_mib = 0;  ///< available to jobs
  std::int64_t threads = 1;     ///< of a core
  std::vector<Gres> gres;
  std::vector<std::string> features;
  std::vector<std::string> partitions;
  std::vector<std::string> states;  ///< upper case: IDLE, DRAIN, ...
  std::string reservation;
};

struct Partition {
  std::string name;
  std::vector<std::string> nodes;
  bool starts = true;      ///< jobs may start: UP, DRAIN
  bool exclusive = false;  ///< every job gets whole nodes
  bool shared = false;     ///< resources may be allocated more than once
  std::optional<std::int64_t> max_minutes;
  std::optional<std::int64_t> max_nodes;
  std::optional<std::int64_t> max_cpus_per_node;
  std::int64_t tier = 1;  ///< PriorityTier; Slurm's default
};

struct Reservation {
  std::string name;
  std::vector<std::string> nodes;
  std::int64_t start = 0;  ///< seconds since 1970
  std::int64_t end = 0;
  bool maintenance = false;  ///< flag MAINT
};

/// A job's part of one node.
struct Allocation {
  std::string node;
  std::int64_t cpus = 0;   ///< 0: not given
  std::int64_t cores = 0;  ///< given instead of CPUs by v0.0.39 and before
  std::int64_t memory_mib = 0;
};

struct SlurmJob {
  std::int64_t id = 0;
  std::string state;  ///< PENDING, RUNNING, ...
  std::vector<std::string> states;
  std::string reason;
  bool held = false;
  std::int64_t priority = 0;
  std::int64_t submitted = 0;
  std::int64_t eligible = 0;  ///< seconds since 1970; 0: not given
  std::int64_t started = 0;   ///< seconds since 1970; of a waiting job Slurm's guess
  std::int64_t array_id = 0;  ///< 0: no array
  Number array_task;          ///< of one task
  std::string qos = {};
  std::string name = {}, user = {}, admin_comment = {};
  std::optional<OwnPin> pin = {};  ///< of a waiting job; its request is as before the pin
  bool given_up = false;           ///< by Slurm, as it could not keep the pin; a release is needed
  std::string array_tasks;         ///< of the record that stands for many: "3-4,9%2"
  std::int64_t array_limit = 0;
  std::int64_t het_id = 0;
  std::vector<std::string> partitions;
  std::string dependency, features, reservation, licenses, network, burst_buffer;
  std::vector<std::string> required, excluded;
  std::int64_t min_nodes = 0;  ///< requested; Slurm's own estimate while max_nodes is 0
  std::int64_t max_nodes = 0;
  std::int64_t tasks = 0, cpus = 0, tasks_per_node = 0, min_cpus_per_node = 0;
  std::int64_t sockets_per_node = 0;
  std::int64_t memory_per_node = 0, memory_per_cpu = 0;  ///< MiB; 0: not requested
  std::string per_job, per_node, per_socket, per_task, cpus_per_tres, memory_per_tres;
  std::string requested;      ///< "cpu=8,mem=16G,node=2"
  std::string allocated;      ///< TRES of a running job's allocation, including "gres/gpu=4"
  std::int64_t switches = 0;  ///< most leaf switches; 0: any number
  bool exclusive = false, contiguous = false, core_spec = false;
  Number minutes;                        ///< time limit
  std::vector<std::string> nodes;        ///< of a running job
  std::vector<Allocation> allocation;    ///< may be empty
  std::vector<std::string> gres_detail;  ///< by node of `nodes`; may be empty
};

/// Licenses of one kind, local or remote.
struct SlurmLicense {
  std::string name;
  std::int64_t free = 0;  ///< neither used by running jobs nor reserved
};

/// Allocation policy, from `scontrol show config`.
struct Config {
  std::optional<bool> memory;  ///< jobs are allocated memory; no value: unknown
  bool whole_nodes = false;    ///< select/linear: every job gets whole nodes
};

struct Snapshot {
  std::vector<SlurmNode> nodes;
  std::vector<Partition> partitions;
  std::vector<Reservation> reservations;
  std::vector<SlurmJob> jobs;
  std::vector<SlurmLicense> licenses;
  Config config;
};

/// Reads all sources; pins of earlier plans are taken back in the jobs. @throws InputError with
/// file and field
Snapshot read_snapshot(const SlurmSources& sources);

std::vector<SlurmNode> read_nodes(const Source& source);
std::vector<SlurmJob> read_jobs(const Source& source);
/// JSON, or the text of `scontrol -o show partition` (`reservation`).
std::vector<Partition> read_partitions(const Source& source);
std::vector<Reservation> read_reservations(const Source& source);
/// `scontrol -o show licenses`.
std::vector<SlurmLicense> read_licenses(const Source& source);
/// Adds what `scontrol -o show jobs` tells and the JSON of Slurm 22.05 does not: leaf switches.
void read_job_details(const Source& source, std::vector<SlurmJob>& jobs);
Config read_config(const Source& source);

}  // namespace berth::io::slurm
