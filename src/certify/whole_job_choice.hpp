// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pricing.hpp"

#include <span>

#include "berth/base/int128.hpp"
#include "berth/certify/job_bests.hpp"
#include "berth/model/certificate.hpp"

namespace berth::certify {

/// Most that jobs with GPUs earn net of the prices of machines and limits of racks and pods, chosen
/// as whole jobs within the quotas and the free GPUs of the cluster (bound.hpp, "Whole jobs").
Int128 chosen_in_cluster(const Pricing& pricing, const model::Certificate& certificate,
                         std::span<const JobChoice> choices);

/// Most that jobs gain by being in their home racks, chosen as whole jobs within the free GPUs of
/// each rack.
Int128 chosen_at_home(const Pricing& pricing, std::span<const JobChoice> choices);

}  // namespace berth::certify
