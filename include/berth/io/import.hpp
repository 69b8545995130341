// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Selection and replication of the openb tables.
struct ImportOptions {
  static constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

  /// This many CPU-only jobs, first to arrive, are required; kAll = every one.
  std::int64_t require_cpu_only = 0;
  /// Takes jobs in order of arrival while they ask for at most this much of the cluster's GPUs, per
  /// cent, above 0. The first job that would exceed it and all later ones are left out.
  std::optional<double> prefix_percent = {};
  /// Copies of every machine and every pod, 1 .. 1000.
  std::int64_t replicate = 1;
};

/// @throws InputError naming the option
void validate(const ImportOptions& options);

/// Machines and pods of the openb trace (Alibaba's GPU sharing cluster; Weng et al., ATC 2023).
///
/// Machines: columns sn, cpu_milli, memory_mib, gpu, model. The trace describes no fabric, so the
/// cluster is one pod with one rack per machine class, classes in order of first appearance and
/// named after their content ("G2-8g-96c-384g": type, GPUs, cores, GiB).
/// Jobs: columns name, cpu_milli, memory_mib, num_gpu, gpu_milli and optionally gpu_spec ("A
/// B"; empty = any type, repeats collapse). One task each, in file order, which is also the order
/// of arrival: num_gpu 0 is CPU-only, 1 with gpu_milli < 1000 a share, otherwise whole GPUs.
///
/// With `replicate` K > 1 every name gets a suffix ".0" .. ".K-1". A rack holds copy 0 of its
/// machines, then copy 1, and so on. The copies of one pod arrive one after the other, before any
/// copy of the next: at any time all copies of the trace have progressed equally. Prefix and
/// required jobs are counted in that order, the prefix against the GPUs of all copies.
///
/// Columns are found by name; others are ignored. `.gz` by suffix. Pods left out by the prefix are
/// read and checked too.
/// @throws InputError with line and column, or naming the option: more CPU-only jobs required than
///         there are (in the prefix)
model::Instance import_openb(const std::string& machines_path, const std::string& pods_path,
                             const ImportOptions& options = {});

/// Imports the placement of whole jobs in racks. racks: rack, pod, gpu_type, gpus. jobs: job, gpus,
/// weight, home_rack and speed_T for every GPU type T. Rack R becomes one machine `rack-R` in rack
/// `rack-R` of pod `pod-P`; a job becomes one task of that many GPUs, named by its number, with
/// value weight x GPUs x speed x 1 in its home rack, 0.9 in the home pod, 0.75 elsewhere. CPU and
/// memory are not counted. Racks are numbered pod by pod.
/// @throws InputError with line and column
model::Instance import_rack_placement(const std::string& jobs_path, const std::string& racks_path);

/// A format that describes a fabric but not the hosts: one row of the registry.
struct FabricDescription {
  std::string_view name;  ///< of the subcommand
  std::string_view what;  ///< one line for its help
};

/// All of them, by name: ibnetdiscover, lingjun, slurm-topology, topograph.
std::span<const FabricDescription> fabric_formats();

/// Properties that all hosts share.
struct HostOptions {
  std::string gpu_type;
  std::int64_t gpus = 8;  ///< 0 .. 64
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
};

struct FabricImport {
  model::Cluster cluster;
  std::int64_t nameless_ports = 0;      ///< host ports whose description does not name the host
  std::vector<std::string> notes = {};  ///< what of the file a tree of racks and pods cannot say
};

/// Imports a fabric: leaf switches that share a host are one rack (a rail-optimised host is
/// connected to several), racks that share a switch above them are one pod. Uplink capacities are
/// sums of the links' rates, where the file gives them. `.gz` by suffix.
/// @pre `format` is the name of one of fabric_formats
/// @throws InputError with line, or naming the option
FabricImport import_fabric(std::string_view format, const std::string& path,
                           const HostOptions& host);

}  // namespace berth::io
