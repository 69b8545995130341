// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/scale/model.hpp"
#include "berth/scale/point.hpp"

namespace berth::scale {

/// A whole sweep: the measured points and the forecasts of the model.
struct ScalingSweep {
  Scaling scaling = Scaling::strong;
  std::string instance;  ///< description
  std::string machine;   ///< name of the host of rank 0
  std::vector<ScalingPoint> points;
  Network network;
  std::vector<ScalingForecast> forecasts;
};

/// Parallel efficiency: T(first) x ranks(first) / (T x ranks) for strong scaling, T(first) / T for
/// weak scaling; 1 = ideal.
double efficiency(const ScalingSweep& sweep, const ScalingPoint& point);

/// Tables as text: measured points, stages, and forecasts under a heading of their own.
std::string table_text(const ScalingSweep& sweep);

/// All results as one JSON document (docs/formats.md).
std::string json_text(const ScalingSweep& sweep);

/// One line per point, stage and rank, after a header; the first column marks forecasts.
std::string csv_text(const ScalingSweep& sweep);

}  // namespace berth::scale
