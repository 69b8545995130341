// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace berth {

/// Exact sums and products of int64 amounts (prices x capacities).
__extension__ using Int128 = __int128;
__extension__ using Uint128 = unsigned __int128;

}  // namespace berth
