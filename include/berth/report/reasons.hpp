// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace berth::report {

/// What a reason for waiting begins with when the job was stopped.
inline constexpr std::string_view kStopped = "stopped; ";
inline constexpr std::string_view kEvacuated = "stopped, a machine of it is evacuated; ";

/// The reason for waiting of one job (docs/formats.md) without the amounts that are only its own,
/// so that equal reasons of many jobs can be counted.
std::string reason_summary(std::string_view reason);

}  // namespace berth::report
