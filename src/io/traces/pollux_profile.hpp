// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace berth::io {

/// A measured step of data-parallel training.
struct PolluxStep {
  std::int32_t nodes = 1;
  std::int32_t local_batch = 1;  ///< samples a GPU
  double seconds = 0.0;          ///< of an iteration
  double sync_seconds = 0.0;     ///< of these, in all-reduce
};

/// A point of a training curve.
struct PolluxPoint {
  double progress = 0.0;   ///< scale-invariant iterations: iterations at the smallest batch size
  double iteration = 0.0;  ///< at the batch size of the curve
  double grad_sqr = 0.0;   ///< squared norm of the gradient
  double grad_var = 0.0;   ///< variance of the gradient, summed over its entries
};

/// Profile of an application of Pollux (Qiao et al., OSDI 2021), measured on AWS g4dn.12xlarge
/// (4 x T4): placements.csv, scalability.csv, validation-<batch>.csv of a folder.
struct PolluxProfile {
  std::map<std::int32_t, std::vector<PolluxStep>> steps;    ///< by GPUs; fewest nodes first
  std::map<std::int64_t, std::vector<PolluxPoint>> curves;  ///< by batch size, of all GPUs

  /// Seconds of an iteration of `gpus` GPUs on the fewest nodes; nothing for a number of GPUs that
  /// was not measured. Linear in the local batch size between measured ones; batches larger than
  /// any are accumulated over several passes, of which the last one synchronises.
  [[nodiscard]] std::optional<double> step_seconds(std::int32_t gpus, std::int64_t batch) const;

  /// Iterations to the end of the training curve at this batch size: of the curve nearest to it by
  /// ratio, with as many samples.
  [[nodiscard]] double iterations(std::int64_t batch) const;
};

/// @throws InputError; nothing when the folder has no placements.csv
std::optional<PolluxProfile> read_pollux_profile(const std::string& folder);

}  // namespace berth::io
