// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace berth::apps {

/// Makes room for the next allocations of all threads, so many bytes in all, in pages of 2 MiB
/// where the system has them on request: a program that fills 100 MB once and ends would else
/// spend half of its time on 25,000 page faults (docs/decisions/0106-an-index-keyed-by-content.md).
/// For commands that answer and end: allocations of threads share one heap from then on, which
/// gives nothing back. No effect with another C library than glibc.
void allocate_in_huge_pages(std::size_t bytes);

}  // namespace berth::apps
