// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tariff.hpp"

#include <optional>
#include <vector>

#include "berth/base/int128.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// Best a job can do beyond being left out or stopped: net of prices, and before prices. Empty when
/// no option fits, or it is pinned.
struct JobBest {
  std::optional<Int128> net;
  std::optional<Int128> gross;
};

/// By JobId, at the tariff's prices in units of 2^-scale_log2.
std::vector<JobBest> job_bests(const model::Instance& instance, model::Objective objective,
                               const Tariff& tariff, int scale_log2);

}  // namespace berth::certify
