// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth::scale {

/// Forgets the process's largest memory so far, where the system can (Linux).
void forget_peak_memory();

/// The largest since, in MiB.
double peak_memory_mib();

}  // namespace berth::scale
