// SPDX-License-Identifier: Apache-2.0
#include "berth/horizon/problem.hpp"

#include "berth/base/assert.hpp"

namespace berth::horizon {

double cost_at(std::span<const CostPiece> pieces, Seconds completion) {
  BERTH_EXPECT(!pieces.empty());
  std::size_t i = 0;
  while (i + 1 < pieces.size() && pieces[i + 1].after < completion) ++i;
  return pieces[i].cost + pieces[i].slope * static_cast<double>(completion - pieces[i].after);
}

}  // namespace berth::horizon
