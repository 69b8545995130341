// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "berth/base/stop.hpp"

namespace berth::solver {

struct BlmvmOptions {
  int max_iterations = 60;            ///< evaluations end at about twice as many
  double gradient_tolerance = 1e-10;  ///< norm of the projected gradient over |value|
  int memory = 0;                     ///< steps its curvature is made of; 0: as PETSc does
  int patience = 0;                   ///< ends when so many iterations gained less than ...
  double least_gain = 0.0;            ///< ... this share of the value; patience 0: never
};

enum class BlmvmStatus : std::uint8_t {
  converged,
  iteration_limit,    ///< or that of evaluations
  numerical_trouble,  ///< the line search found no better point; the best one stands
  stopped,            ///< `stop` said so
};

struct BlmvmResult {
  double value = 0.0;  ///< at the x returned: the lowest seen
  int iterations = 0;
  int evaluations = 0;
  BlmvmStatus status = BlmvmStatus::converged;
};

using SmoothFunction = std::function<double(std::span<const double> x, std::span<double> gradient)>;

/// Minimises a smooth function over 0 <= x <= upper by PETSc's TAO BLMVM (Benson and More, limited
/// memory variable metric with bounds), starting from x, which becomes the best point seen.
/// Stopped before the first evaluation, it leaves x as it was and the value 0.
/// `stop` is asked before every evaluation. What `evaluate` throws passes through. @pre PETSc is up
/// (PetscSession); main thread
BlmvmResult minimise(std::span<double> x, std::span<const double> upper,
                     const SmoothFunction& evaluate, const BlmvmOptions& options = {},
                     const StopToken& stop = {});

}  // namespace berth::solver
