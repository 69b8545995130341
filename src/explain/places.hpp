// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trials.hpp"

#include <vector>

#include "berth/explain/explain.hpp"

namespace berth::explain {

/// Of each GPU type that the job may use, the cheapest pool of the certificate, by value less cost.
/// O(pools + domains of the job's level)
std::vector<PricedPlace> priced_places(const Trials& trials, const model::Certificate* certificate,
                                       JobId job);

}  // namespace berth::explain
