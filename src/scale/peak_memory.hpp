// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::scale {

/// Resets the process's peak memory, where the system can (Linux).
void forget_peak_memory();

/// The peak memory since the last reset, in MiB.
double peak_memory_mib();

}  // namespace berth::scale
