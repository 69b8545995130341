// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "berth/base/strong_id.hpp"
#include "berth/model/ledger.hpp"

namespace berth::solver::local_search {

/// The quotas between outside and a place, as nodes of a graph: 0 is outside of all, a job waits
/// (or arrives, when it leaves its place) at the node of its own quota, and the way from 0 to there
/// passes the gates of the quotas its own one lies in, the widest first. So jobs of one quota
/// replace each other without passing any gate, and those of two pass only what they do not share.
class Gates {
 public:
  static constexpr double kShut = -1.0;

  /// What one more job pays to pass, or what one less saves: 0 but for soft quotas.
  struct Toll {
    double in = 0.0;  ///< kShut: a hard quota has no room for it
    double out = 0.0;
    bool operator==(const Toll&) const = default;
    [[nodiscard]] bool shut() const { return in < 0.0; }
  };

  /// @param ledger  null: there are no quotas
  /// @param milli   GPU thousandths of each job that passes
  Gates(const model::Ledger* ledger, std::int64_t milli) : ledger_(ledger), milli_(milli) {}

  /// Where the job waits. May add nodes.
  std::uint32_t node_of(JobId job);

  [[nodiscard]] std::uint32_t size() const { return static_cast<std::uint32_t>(limit_.size()) + 1; }
  /// @pre node > 0, as below
  [[nodiscard]] std::uint32_t outer(std::uint32_t node) const { return outer_[node - 1]; }
  [[nodiscard]] const std::vector<std::uint32_t>& inner(std::uint32_t node) const {
    return inner_[node];
  }
  /// By node less one: at present.
  [[nodiscard]] std::vector<Toll> tolls() const;

 private:
  const model::Ledger* ledger_;
  std::int64_t milli_;
  std::vector<std::uint32_t> limit_, outer_;              ///< by node less one
  std::vector<std::vector<std::uint32_t>> inner_ = {{}};  ///< by node
  std::map<std::uint32_t, std::uint32_t> node_of_limit_;
};

}  // namespace berth::solver::local_search
