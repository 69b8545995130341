// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "berth/model/instance.hpp"

namespace berth::generate {

/// What to generate. Equal options give an equal instance, bit for bit, on every machine.
struct GenerateOptions {
  std::int64_t gpus = 16384;  ///< GPUs of the cluster, exactly; 1 .. 16,777,216
  std::int64_t jobs = -1;  ///< number of jobs; -1 = the number that the usual mix needs for `load`
  std::uint64_t seed = 1;  ///< key of every draw
  double load = 1.2;       ///< GPUs asked for by all jobs / GPUs of the cluster, > 0
  double cpu_machines = 0.0;  ///< CPU-only machines added, as a share of the GPU machines, 0 .. 1;
                              ///< hetero and openb_like only
  /// NIC bandwidth of a machine for each of its GPUs; GPU tasks then ask for 0, 50, 100 or 150 % of
  /// that a GPU, drawn by shape. 0: no NICs
  std::int64_t nic_mbps = 0;
  std::int32_t gpu_slices = 0;  ///< every GPU is cut into this many slices; 0: shares of any size
};

/// Kinds of cluster and workload.
///
/// In all presets: when `jobs` is given, the mix of sizes is tilted (every size w from 1 GPU
/// re-weighted by w^t) until the sizes sum to about the load, within what the sizes allow.
/// Otherwise hetero uses its mix in exact proportion, while the others draw job by job until less
/// than the smallest size is missing to the load, so that seeds differ in their few large gangs.
enum class Preset : std::uint8_t {
  /// Machines of 8 GPUs (one smaller when `gpus` is no multiple of 8), racks of 8 or 16, pods of
  /// 256 machines: 16,384 GPUs are 2,048 machines in 8 pods. Four GPU types, each with two CPU and
  /// memory outfits by rack; a pod is of one type, every fourth is half of another. Below 8 pods
  /// the types follow each other along the racks instead, and below 256 machines racks shrink.
  ///
  /// After published traces (Philly, Kalos, openb): most jobs use one GPU or less, most GPUs go to
  /// large gangs in powers of two; 17 % ask for a share of one GPU, 8 % for CPUs only, a quarter
  /// for certain GPU types; 30 % have a home rack or pod. Gangs above 8 GPUs are workers of 8 (some
  /// of 4), may be held to a rack or pod, and lose value when spread; a few have CPU-only parameter
  /// servers beside the workers. No job asks for more than an eighth of the cluster (or one
  /// machine).
  hetero,

  /// openb's default workload (Alibaba, 2023), from rounded statistics: single tasks, 13 %
  /// CPU-only, 37 % a share of one GPU (most of 810, 470 or 320 thousandths), 48 % one GPU, 1 % two
  /// to eight; CPU and memory limit placement beside the GPUs. Machines of 2, 4 and 8 GPUs of six
  /// types, seven in ten GPUs in machines of 8 of one type. All jobs have weight 1 and may be
  /// placed anywhere; the trace describes no fabric, so the cluster is one pod with one rack per
  /// machine kind.
  openb_like,

  /// Philly's sizes on a fabric of pods > 8 racks > 8 machines > 8 GPUs: three GPU types, 20 % of
  /// the pods hold two of them (4 + 4 racks).
  ///
  /// Sizes 1/2/4/8/16/32/64/128/256/512 with .47/.12/.12/.145/.05/.03/.017/.008/.003/.001, and 3,
  /// 6, 24, 96 with .009 each, cut at a quarter of the cluster (that size, or one machine). Up to 8
  /// GPUs one task; from 16 workers of 8 GPUs, 15 % of them workers of 4. Value = weight
  /// (lognormal, sigma 0.6) x GPUs x speed of the job's model on the type x factor of its width:
  /// rack 1, pod 0.95 .. 0.75, cluster 0.85 .. 0.55; above 64 GPUs pod 1, cluster 0.92 .. 0.62. 30
  /// % have a home pod, worth 2 to 8 % more there. CPU and memory never bind.
  ///
  /// Left out: running jobs and the cost of moving them, tenants with quotas, traffic over the
  /// racks' uplinks, a second preferred pod.
  philly_like,

  /// Pre-training after Kalos (Shanghai AI Laboratory, 2023): half of the jobs are gangs of 256 to
  /// 1,024 GPUs and ask for nine GPUs in ten; the others are of 64 GPUs or tests of one or two.
  /// Pods of 32 racks of 64 GPUs, two GPU types by pod, all jobs language models, workers of 8
  /// GPUs, weights and widths as in philly_like; 30 % of the gangs that fit in half a pod may not
  /// leave their pod, 20 % of the jobs have a home pod. Cut at a quarter of the cluster.
  llm_like,
};

/// A cluster and a workload for it. O(machines + jobs log jobs).
/// @throws InputError when an option is out of range
model::Instance generate(Preset preset, const GenerateOptions& options);

inline model::Instance generate_hetero(const GenerateOptions& options) {
  return generate(Preset::hetero, options);
}

}  // namespace berth::generate
