// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/instance.hpp"

namespace berth::policy {

/// What to generate. The same options give the same instance on every machine.
struct GenerateOptions {
  std::int64_t gpus = 16384;  ///< GPUs of the cluster, exactly; 1 .. 16,777,216
  std::int64_t jobs = -1;     ///< number of jobs; -1 = as many as the usual mix needs for `load`
  std::uint64_t seed = 1;     ///< key of every draw
  double load = 1.2;          ///< GPUs asked for by all jobs / GPUs of the cluster, > 0
  double cpu_machines = 0.0;  ///< CPU-only machines added, as a share of the GPU machines, 0 .. 1
};

/// A heterogeneous cluster and a workload for it.
///
/// Cluster: machines of 8 GPUs (one smaller when `gpus` is no multiple of 8), racks of 8 or 16,
/// pods of 256 machines: 16,384 GPUs are 2,048 machines in 8 pods. Four GPU types, each with two
/// CPU and memory outfits by rack; a pod is of one type, every fourth is half of another. Below 8
/// pods the types follow each other along the racks instead, and below 256 machines racks shrink.
///
/// Workload, after published traces (Philly, Kalos, openb): most jobs use one GPU or less, most
/// GPUs go to large gangs in powers of two; 17 % ask for a share of one GPU, 8 % for CPUs only, a
/// quarter for certain GPU types; 30 % have a home rack or pod. Gangs above 8 GPUs are workers of 8
/// (some of 4), may be held to a rack or pod, and lose value when spread; a few have CPU-only
/// parameter servers beside the workers. No job asks for more than an eighth of the cluster (or
/// one machine). When `jobs` is given, the mix of sizes is tilted until their sum meets `load`,
/// within what sizes from 1 to 512 GPUs allow.
///
/// O(machines + jobs log jobs). @throws InputError when an option is out of range.
model::Instance generate_hetero(const GenerateOptions& options);

}  // namespace berth::policy
