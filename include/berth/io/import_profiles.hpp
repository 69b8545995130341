// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "berth/io/import_trace.hpp"

namespace berth::io {

/// An imported set of profiles.
struct ProfileImport {
  std::string text;                ///< lines with "profile" and "model" of a profiles file
  std::int64_t profiles = 0;       ///< of them
  std::int64_t rows = 0;           ///< measurements in the files
  std::int64_t taken = 0;          ///< of these, in the profiles
  std::vector<TraceNote> skipped;  ///< measurements left out, by reason
  std::vector<TraceNote> changed;  ///< measurements taken otherwise than they stand
};

/// A format of profiles: one row of the registry, one file of src/io/profiles.
struct ProfileFormat {
  std::string_view name;      ///< of the subcommand
  std::string_view what;      ///< one line for its help
  std::string_view file;      ///< as published
  std::string_view gpu_type;  ///< on which it was measured; empty: the files name types
  ProfileImport (*read)(const std::string& path, const std::string& gpu_type);
};

/// All formats, by name.
std::span<const ProfileFormat> profile_formats();

/// Throughputs of Gavel (Narayanan et al., OSDI 2020), simulation_throughputs.json: a profile
/// `throughput` for each job type, steps/s by GPU type and number of GPUs, on several machines too.
/// Rates of two jobs that share GPUs are left out; a rate on several machines above that on one is
/// taken as on one. @throws InputError naming the key
ProfileImport import_gavel_profiles(const std::string& path, const std::string& gpu_type);

/// Applications of Pollux (Qiao et al., OSDI 2021): a folder with one folder for each, which has
/// placements.csv, scalability.csv and validation-<batch>.csv. A profile `goodput` for each: the
/// times of an iteration by least squares (equations 8 to 11 without overlap), the noise scale from
/// the training curve of the smallest batch. `work` of the curve is seconds on one GPU at that
/// batch, which is the reference. @throws InputError
ProfileImport import_pollux_profiles(const std::string& path, const std::string& gpu_type);

/// Tables of ElasticFlow (Gu et al., ASPLOS 2023): a folder of <model>.csv with iterations/s by
/// global batch (rows) and GPUs (columns). A profile `throughput` "<model> b<batch>" for each row;
/// 0 and empty cells: does not fit. @throws InputError
ProfileImport import_elasticflow_profiles(const std::string& path, const std::string& gpu_type);

}  // namespace berth::io
