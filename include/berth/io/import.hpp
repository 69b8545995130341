// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "berth/model/instance.hpp"

namespace berth::io {

/// Machines and pods of the openb trace (Alibaba's GPU sharing cluster; Weng et al., ATC 2023).
///
/// Machines: columns sn, cpu_milli, memory_mib, gpu, model. The trace tells no fabric, so the
/// cluster is one pod with one rack per machine class, classes in order of first appearance and
/// named after their content ("G2-8g-96c-384g": type, GPUs, cores, GiB).
/// Jobs: columns name, cpu_milli, memory_mib, num_gpu, gpu_milli and, when there, gpu_spec
/// ("A|B"; empty = any type, repeats collapse). One task each, in file order, which is also the
/// arrival: num_gpu 0 is CPU-only, 1 with gpu_milli < 1000 a share, otherwise whole GPUs.
///
/// Columns are found by name; others are ignored. `.gz` by suffix.
/// @throws InputError with line and column
model::Instance import_openb(const std::string& machines_path, const std::string& pods_path);

/// Placement of whole jobs in racks. racks: rack, pod, gpu_type, gpus. jobs: job, gpus, weight,
/// home_rack and speed_T for every GPU type T. Rack R becomes one machine `rack-R` in rack
/// `rack-R` of pod `pod-P`; a job becomes one task of that many GPUs, named by its number, worth
/// weight x GPUs x speed x 1 in its home rack, 0.9 in the home pod, 0.75 elsewhere. CPU and memory
/// are not counted. Racks are numbered pod by pod.
/// @throws InputError with line and column
model::Instance import_rack_placement(const std::string& jobs_path, const std::string& racks_path);

}  // namespace berth::io
