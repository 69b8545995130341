// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace berth::io {

/// Throughputs of Gavel (Narayanan et al., OSDI 2020), simulation_throughputs.json: steps/s by GPU
/// type, job type and number of GPUs. `X_unconsolidated` are workers on several machines.
struct GavelThroughputs {
  using Key = std::pair<std::string, std::int32_t>;  ///< job type, GPUs

  /// Steps/s of a job that shares no GPU, by GPU type; 0: it does not fit.
  std::map<std::string, std::map<Key, double>> consolidated, spread;

  /// Steps/s on a type, consolidated; 0 when the table has none.
  [[nodiscard]] double at(const std::string& gpu_type, const Key& key) const;
};

/// @throws InputError naming the key
GavelThroughputs read_gavel_throughputs(const std::string& path);

}  // namespace berth::io
