// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assignment/option_table.hpp"
#include "assignment/placement_table.hpp"
#include "assignment/pool_index.hpp"
#include "local_search/quota_nodes.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::solver::local_search {

/// The jobs of one task profile and the places they take up: any of these jobs fits where another
/// one lies, so they can trade places, and with those that wait. A path in the graph
///
///   waiting, or a place --job--> set of places worth the same to it ----> place
///
/// is a chain of moves, its length what they gain. Places in the same sets are one node. Jobs that
/// run already and jobs that must run stay where they are.
///
/// Under quotas a job waits behind its gates (`Gates`). Under uplinks a place over several racks is
/// for those alone that talk like the one there: the traffic stays with the place.
class Trade {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// Each job goes to the place of the next one, the last one to `last`.
  struct Chain {
    std::vector<std::uint32_t> jobs;  ///< as indices into the trade's jobs
    std::uint32_t last = 0;           ///< a node
  };

  /// @param positions  the jobs of this task profile, ascending
  Trade(const model::Valuation& valuation, const assignment::OptionTable& option_table,
        const assignment::PoolIndex& pool_index, assignment::PlacementTable& placements,
        std::span<const std::uint32_t> positions);

  /// Trades until nobody gains. Returns the value gained.
  double settle();
  /// The same if gates stand otherwise than when that was last done.
  double settle_again() { return look_at_gates() ? settle() : 0.0; }

  /// Makes nodes for places that are not there yet: one job alone on a machine of any pool.
  void open_pools();
  /// The node of such places; kNone when they are worth nothing to anybody. @pre open_pools
  [[nodiscard]] std::uint32_t node_of_pool(PoolId pool) const { return of_pool_[pool.index()]; }

  /// What one more place of the node is worth, and what one less costs (as a number <= 0, all but
  /// for rounding); minus infinity when that cannot be.
  double worth_of_more(std::uint32_t node);
  double worth_of_less(std::uint32_t node);
  /// The chains that do it. @pre that is not minus infinity
  [[nodiscard]] Chain more(std::uint32_t node) const;
  [[nodiscard]] Chain less(std::uint32_t node) const;

  /// Moves the jobs of a chain, the last one into `place` (empty: it waits). Returns the value
  /// gained; `place` becomes what the first one leaves.
  double carry_out(const Chain& chain, std::vector<model::TaskPlacement>& place);
  /// Some job of the node lies on this machine; kNone: none does.
  [[nodiscard]] std::uint32_t lodger(std::uint32_t node, MachineId machine) const;

  /// From here on changes can be taken back. Room that they make behind a gate is not seen before
  /// the next `settle_again`: it could make cycles that gain.
  void begin();
  void roll_back();

  [[nodiscard]] std::uint32_t position(std::uint32_t job) const { return positions_[job]; }
  /// Jobs that lie alone on a machine and may move: how many on which machine.
  [[nodiscard]] std::map<MachineId, int> lodgers() const;

 private:
  struct Arc {
    std::uint32_t place_class;
    double gain;
    std::uint32_t job;
  };
  /// The first nodes are outside, those of `gates_`: the jobs that wait. Node 0 has no gates.
  struct Node {
    std::vector<std::uint32_t> inside;        ///< jobs that may move
    std::vector<Arc> arcs = {};               ///< the best job for each set
    std::vector<std::uint32_t> leavers = {};  ///< the jobs of least value, one behind each gate
    bool stale = true;
  };
  /// Longest way to (or from) a vertex: nodes first, then sets.
  struct Reach {
    double length;
    std::uint32_t next = kNone;  ///< vertex before (after) it
    std::uint32_t job = kNone;   ///< that moves on the arc between
  };
  using Reaches = std::vector<Reach>;
  struct Measures {
    Reaches more, less;              ///< empty: not measured
    std::vector<Gates::Toll> tolls;  ///< by node outside less one
  };
  struct Former {
    std::uint32_t job, node;
    std::vector<model::TaskPlacement> tasks;
  };
  using PlaceClassKey =
      std::tuple<GpuTypeId, model::Level, model::Level, std::int32_t, std::uint32_t>;

  void tell_talk();
  void gather_place_classes();
  void place_jobs();
  [[nodiscard]] bool choices_are_wider(std::uint32_t position) const;
  std::uint32_t node_of(GpuTypeId type, model::Level width, RackId rack, PodId pod,
                        std::uint32_t talk);
  [[nodiscard]] bool outside(std::uint32_t node) const { return node < gates_.size(); }
  [[nodiscard]] double surcharges() const;
  bool look_at_gates();
  void mind_gates();
  std::uint32_t node_in(std::vector<std::uint32_t> place_classes);
  void move(std::uint32_t job, std::uint32_t node, std::vector<model::TaskPlacement> tasks);
  void refresh(Node& node);
  [[nodiscard]] std::size_t vertices() const { return nodes_.size() + members_.size(); }
  template <class Visit>
  void visit_arcs(std::uint32_t vertex, Visit visit);
  bool relax(Reaches& reaches, std::vector<char>& active);
  void measure_more();
  void measure_less();
  std::optional<Chain> improving_cycle();
  [[nodiscard]] std::optional<Chain> cycle_in(const Reaches& reaches) const;

  const model::Valuation* valuation_;
  const assignment::OptionTable* option_table_;
  const assignment::PoolIndex* pool_index_;
  assignment::PlacementTable* placements_;
  std::vector<std::uint32_t> positions_;
  std::vector<double> value_;           ///< by job: as placed; 0 while it waits
  std::vector<std::uint32_t> node_at_;  ///< by job; kNone: it stays where it is
  Gates gates_;
  std::vector<std::uint32_t> waits_at_;  ///< by job: its node outside
  std::vector<std::uint32_t> talk_;      ///< by job: who talks alike, from 1; 0: nobody cares
  std::vector<std::uint32_t> first_;     ///< by job: its first entry of option_classes_
  std::vector<std::uint32_t> option_classes_;
  std::map<PlaceClassKey, std::uint32_t> place_classes_;
  /// By set of places over racks for those who talk alike: the set of the others of that width,
  /// which everybody may lie in.
  std::vector<std::uint32_t> narrow_;
  std::vector<std::vector<std::uint32_t>> members_;  ///< by set: nodes
  std::map<std::vector<std::uint32_t>, std::uint32_t> known_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> of_pool_;  ///< by PoolId
  std::vector<std::uint32_t> arc_of_;   ///< by set: scratch of refresh
  Measures now_, before_;
  std::vector<Former> journal_;
  double tolerance_ = 0.0;
};

/// The trades of all profiles that have any. CPU tasks beside a gang are not alike: left out.
std::vector<Trade> make_trades(const model::Valuation& valuation,
                               const assignment::OptionTable& option_table,
                               const assignment::PoolIndex& pool_index,
                               assignment::PlacementTable& placements);

}  // namespace berth::solver::local_search
