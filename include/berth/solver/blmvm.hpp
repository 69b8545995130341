// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "berth/base/stop.hpp"

namespace berth::solver {

struct BlmvmOptions {
  int max_iterations = 60;            ///< the limit of evaluations is about twice as large
  double gradient_tolerance = 1e-10;  ///< norm of the projected gradient / |value|; untuned guard
  int memory = 0;                     ///< past steps in the curvature; 0: PETSc's default
  int patience = 0;                   ///< stops if this many iterations gain less than ...
  double least_gain = 0.0;            ///< ... this share of the value; patience 0: never
};

enum class BlmvmStatus : std::uint8_t {
  converged,
  iteration_limit,    ///< limit of iterations or of evaluations
  numerical_trouble,  ///< the line search found no better point; the best point is returned
  stopped,            ///< a stop was requested
};

struct BlmvmResult {
  double value = 0.0;  ///< at the returned x: the lowest value seen
  int iterations = 0;
  int evaluations = 0;
  BlmvmStatus status = BlmvmStatus::converged;
};

using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Minimises a smooth function over 0 <= x <= upper by PETSc's TAO BLMVM (Benson and More, limited
/// memory variable metric with bounds).
/// @param x         start; holds the best point seen afterwards. A stop before the first evaluation
///                  leaves x unchanged and returns the value 0
/// @param evaluate  its exceptions pass through
/// @param stop      checked before every evaluation
/// @pre a PetscSession exists; main thread
BlmvmResult minimise(std::span<double> x, std::span<const double> upper,
                     const SmoothFunction& evaluate, const BlmvmOptions& options = {},
                     const StopToken& stop = {});

}  // namespace berth::solver
