// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "berth/model/certificate.hpp"
#include "berth/model/instance.hpp"

namespace berth::certify {

/// The limit of a rack or a pod in units of its prices, rounded down; from 2^62 on there is none.
std::optional<std::int64_t> limit_of(const model::Cluster& cluster, model::LimitKind kind,
                                     const model::LimitScope& scope);

/// "gpu_quota of queue research".
std::string describe(const model::Cluster& cluster, model::LimitKind kind,
                     const model::LimitScope& scope);

/// Why the prices of limits cannot be used; empty when they can.
std::string unusable_limits(const model::InstanceView& instance, model::Objective objective,
                            const model::Certificate& certificate);

}  // namespace berth::certify
