// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Output of a live Slurm's commands, or files with saved output. A text with an empty name was not
/// given; only nodes and jobs are required.
struct SlurmSources {
  struct Source {
    std::string name;  ///< a file, or a command such as "squeue --json"; for messages
    std::string text;
  };
  Source nodes;         ///< `scontrol show nodes --json`; Slurm 22.05 and before: `sinfo --json`
  Source jobs;          ///< `squeue --json`
  Source partitions;    ///< `scontrol -o show partition`, or its JSON
  Source reservations;  ///< `scontrol -o show reservation`, or its JSON
  Source topology;      ///< topology.conf, or `scontrol show topology`
  Source licenses;      ///< `scontrol -o show licenses`
  Source job_details;   ///< `scontrol -o show jobs`: leaf switches, which Slurm 22.05's JSON lacks
  Source config;        ///< `scontrol show config`: does Slurm allocate CPUs and memory at all
};

struct SlurmImportOptions {
  bool held = false;                         ///< plan held jobs, too
  std::vector<std::string> partitions = {};  ///< only these, their machines and jobs; empty: all
  /// Every CPU is a GPU of this type (at most 64 a machine): planning a test Slurm without GPUs.
  std::string cpu_as_gpu = {};
  bool weigh_priority = false;  ///< weight = priority / the largest priority, instead of 1
  /// Priorities are classes 0 .. this less 1, by partition tier and QOS, or quantiles of Slurm's
  /// priority where these are more; 0: Slurm's priorities.
  std::int32_t priority_classes = 16;
  double pod_factor = 0.95;     ///< factor of the value of a job over several racks (leaf switches)
  double cluster_factor = 0.9;  ///< factor of the value of a job over several pods
  std::int64_t now = 0;         ///< time of the snapshot, seconds since 1970
  /// Times for a plan with a horizon, in seconds since 1970: limits, begins and dependencies of
  /// jobs, reservations as windows instead of reserved machines.
  bool times = false;
  double limit_used = 1.0;  ///< part of its time limit that a job is expected to use, in (0, 1]
};

/// @throws InputError naming the option
void validate(const SlurmImportOptions& options);

/// A feature of the cluster that Berth's files cannot express, with its count.
struct SlurmNote {
  std::string what;
  std::int64_t count = 0;
  std::string example;  ///< the first machine, job or switch with it
};

struct SlurmImport {
  model::Instance instance;
  std::vector<SlurmNote> notes;
  std::vector<SlurmNote> left;  ///< jobs that Berth does not plan, by reason
  std::int64_t running = 0;     ///< running jobs; they keep their machines
  std::int64_t classes = 0;     ///< different priorities, if they are classes
  /// JSON that `berth apply slurm` compares with the later state; docs/formats.md
  std::string state;
};

/// Imports machines in the order of the topology, partitions as queues, pending jobs named by their
/// Slurm ids ("17", "17_3"), running jobs as content that no plan moves. docs/formats.md, "Slurm".
///
/// A job may be restricted to machines by partition, features, named and excluded nodes. Berth's
/// jobs know only GPU types, so machines of one type between which jobs distinguish become types of
/// their own ("a100@1", "a100@2").
/// @throws InputError with file and field
/// O(nodes x distinct sets of machines that jobs ask for + jobs).
SlurmImport import_slurm(const SlurmSources& sources, const SlurmImportOptions& options);

}  // namespace berth::io
