// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "berth/scale/model.hpp"
#include "berth/scale/point.hpp"

namespace berth::scale {

/// A whole sweep: what was measured, and what the model says beyond.
struct ScalingSweep {
  Scaling scaling = Scaling::strong;
  std::string instance;  ///< in words
  std::string machine;   ///< name of the host of rank 0
  std::vector<ScalingPoint> points;
  Network network;
  std::vector<ScalingForecast> forecasts;
};

/// T(first) x ranks(first) / (T x ranks) where the instance is one, T(first) / T where it grows:
/// 1 = ideal.
double efficiency(const ScalingSweep& sweep, const ScalingPoint& point);

/// Tables for people: measured, by stage, and modelled under its own heading.
std::string table_text(const ScalingSweep& sweep);

/// Everything, one JSON document (docs/formats.md).
std::string json_text(const ScalingSweep& sweep);

/// One line per point, stage and rank, with a header; modelled lines say so in the first column.
std::string csv_text(const ScalingSweep& sweep);

}  // namespace berth::scale
