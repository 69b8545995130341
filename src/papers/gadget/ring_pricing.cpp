// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "berth/base/infinity.hpp"
#include "berth/papers/gadget/ring_relaxation.hpp"

namespace berth::papers::gadget {
namespace {

struct PricedRing {
  double price = kInfinity;
  Ring ring;
};

/// Least price by number of workers; 0 workers: nothing.
using PriceTable = std::vector<PricedRing>;

PriceTable empty_table(std::int32_t workers) {
  PriceTable table(static_cast<std::size_t>(workers) + 1);
  table[0].price = 0.0;
  return table;
}

/// Adds what another part of the cluster offers, with an additional price if it is used.
void join(PriceTable& table, const PriceTable& part, double price) {
  for (std::size_t k = table.size(); k-- > 1;) {
    for (std::size_t w = 1; w <= k; ++w) {
      const double sum = table[k - w].price + part[w].price + price;
      if (sum >= table[k].price) continue;
      Ring ring = table[k - w].ring;
      ring.insert(ring.end(), part[w].ring.begin(), part[w].ring.end());
      table[k] = {sum, std::move(ring)};
    }
  }
}

}  // namespace

Ring cheapest_ring(const RingCluster& cluster, const RingPrices& prices, std::int32_t workers,
                   double bandwidth) {
  const std::size_t racks = cluster.rack_link.size();
  std::vector<PriceTable> in_rack(racks, empty_table(workers));
  PricedRing best;
  const auto offer = [&](const PricedRing& ring) {
    if (ring.price < best.price) best = ring;
  };
  for (std::size_t s = 0; s < cluster.servers(); ++s) {
    PriceTable server = empty_table(workers);
    for (std::int32_t w = 1; w <= std::min(workers, cluster.gpus[s]); ++w)
      server[static_cast<std::size_t>(w)] = {w * prices.gpu[s], {{s, w}}};
    offer(server.back());  // without links; one with links that has one server is never better
    join(in_rack[cluster.rack[s]], server, bandwidth * prices.server_link[s]);
  }
  PriceTable all = empty_table(workers);
  for (std::size_t rack = 0; rack < racks; ++rack) {
    offer(in_rack[rack].back());
    join(all, in_rack[rack], bandwidth * prices.rack_link[rack]);
  }
  offer(all.back());
  return best.ring;
}

}  // namespace berth::papers::gadget
