// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "local_search/quota_nodes.hpp"
#include "local_search/search_space.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace berth::solver::local_search {

/// Cyclic exchange among the jobs of one task profile (Thompson and Psaraftis 1993; improvement
/// graph: Ahuja, Ergun, Orlin and Punnen 2002): each of these jobs fits into the place of any
/// other. A path in the graph
///
///   unplaced, or a place --job--> class of places of equal value to the job ----> place
///
/// is a sequence of moves; its length is their gain. Cycles of positive gain are cancelled until
/// none is left. Places in equal classes are one node. Running and required jobs keep their places.
///
/// Under quotas an unplaced job is at the node of its quota (`QuotaNodes`). Under limits of racks
/// and pods a place over several racks admits only jobs with the traffic of its present job, so
/// that the use of limits does not change.
template <SearchState State>
class CyclicExchange {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A path: each job moves to the place of the next one, the last job to `last`.
  struct Path {
    std::vector<std::uint32_t> jobs;  ///< indices into the jobs of the exchange
    std::uint32_t last = 0;           ///< a node
  };

  /// @param positions  the jobs of this task profile, ascending
  CyclicExchange(const SearchSpace<State>& space, std::span<const std::uint32_t> positions);

  /// Cancels improving cycles until none is left. Returns the value gained.
  double cancel_cycles();
  /// Runs `cancel_cycles` again if the slack of any quota has changed since the last call.
  double cancel_cycles_if_quotas_changed() { return update_quota_costs() ? cancel_cycles() : 0.0; }

  /// Adds nodes for possible places: one job alone on a machine, for every pool.
  void add_pool_nodes();
  /// The node of such places of a pool; kNone if they have no value to any job. @pre add_pool_nodes
  [[nodiscard]] std::uint32_t node_of_pool(PoolId pool) const { return of_pool_[pool.index()]; }

  /// Gain of one more place of the node, and of one less (<= 0 up to rounding); minus infinity if
  /// it is impossible.
  double value_of_one_more(std::uint32_t node);
  double value_of_one_less(std::uint32_t node);
  /// The paths with these gains. @pre the gains are finite
  [[nodiscard]] Path path_to_add(std::uint32_t node) const;
  [[nodiscard]] Path path_to_remove(std::uint32_t node) const;

  /// Moves the jobs of a path, the last one into `place` (empty: it becomes unplaced). Returns the
  /// value gained. @pre `place` is free, or the place of the first one
  double apply(const Path& path, std::vector<model::TaskPlacement> place);
  /// A job of the node whose tasks are all on this machine; kNone without one.
  [[nodiscard]] std::uint32_t lone_job(std::uint32_t node, MachineId machine) const;

  /// Starts a journal of moves. Slack that they free in a quota is not used before the next
  /// `cancel_cycles_if_quotas_changed`, because it could make cycles improving.
  void begin();
  void roll_back();  ///< @pre the occupancy has been rolled back

  [[nodiscard]] std::uint32_t position(std::uint32_t job) const { return positions_[job]; }
  /// By machine: number of movable jobs whose tasks are all on it.
  [[nodiscard]] std::map<MachineId, int> lone_job_counts() const;

 private:
  struct Arc {
    std::uint32_t place_class;
    double gain;
    std::uint32_t job;
  };
  /// The first nodes are those of `quota_nodes_`: unplaced jobs.
  struct GraphNode {
    std::vector<std::uint32_t> jobs;  ///< jobs that may move
    std::vector<Arc> arcs = {};       ///< best job for each class; ties by precedence
    std::vector<std::uint32_t> leave_candidates = {};  ///< job of least value, for each quota
    bool stale = true;
  };
  /// Longest path to (or from) a vertex: nodes first, then classes.
  struct PathLabel {
    double length;
    std::uint32_t next = kNone;  ///< previous (next) vertex of the path
    std::uint32_t job = kNone;   ///< job that moves on the arc between them
  };
  using PathLabels = std::vector<PathLabel>;
  struct LongestPaths {
    PathLabels more, less;                              ///< empty: not computed
    std::vector<QuotaNodes::CrossingCost> quota_costs;  ///< by quota node less one
  };
  struct ReversedArc {
    std::uint32_t from;
    std::uint32_t next;  ///< another one to the same vertex; kNone: the last
  };
  struct JournalEntry {
    std::uint32_t job, node;
  };
  using PlaceClassKey =
      std::tuple<GpuTypeId, model::Level, model::Level, std::int32_t, std::uint32_t>;

  void classify_traffic();
  void gather_place_classes();
  void add_jobs();
  [[nodiscard]] bool options_exceed_domain(std::uint32_t position) const;
  std::uint32_t node_of(GpuTypeId type, model::Level width, RackId rack, PodId pod,
                        std::uint32_t traffic_class);
  [[nodiscard]] bool is_unplaced(std::uint32_t node) const { return node < quota_nodes_.size(); }
  bool update_quota_costs();
  void tighten_quota_costs();
  std::uint32_t node_of_classes(std::vector<std::uint32_t> place_classes);
  void set_node(std::uint32_t job, std::uint32_t node);
  [[nodiscard]] const JobEntry& entry(std::uint32_t job) const {
    return space_.state.entries()[entries_[job]];
  }
  void rebuild_arcs(GraphNode& node);
  [[nodiscard]] std::size_t vertex_count() const { return nodes_.size() + class_nodes_.size(); }
  template <class Visit>
  void visit_arcs(std::uint32_t vertex, Visit visit);
  bool relax_arcs(PathLabels& labels, std::vector<char>& active);
  [[nodiscard]] PathLabels no_paths() const;
  void label_additions();
  void label_removals();
  void reverse_arcs();
  std::optional<Path> improving_cycle();
  [[nodiscard]] std::optional<Path> cycle_in(const PathLabels& labels) const;

  SearchSpace<State> space_;
  std::vector<std::uint32_t> positions_;  ///< by job: in the option table
  std::vector<std::uint32_t> entries_;    ///< by job: among the entries of the occupancy
  std::vector<double> value_;             ///< by job: value as placed; 0 when unplaced
  std::vector<std::uint32_t> node_at_;    ///< by job; kNone: the job keeps its place
  QuotaNodes quota_nodes_;
  std::vector<std::uint32_t> unplaced_node_;  ///< by job: its quota node
  std::vector<std::uint32_t>
      traffic_class_;  ///< by job: equal communication, from 1; 0: no limits of racks and pods
  std::vector<std::uint32_t> first_option_;  ///< by job: its first entry of option_classes_
  std::vector<std::uint32_t> option_classes_;
  std::map<PlaceClassKey, std::uint32_t> place_classes_;
  /// By class of places over several racks for one traffic class: the class of equal width without
  /// traffic.
  std::vector<std::uint32_t> without_traffic_;
  std::vector<std::vector<std::uint32_t>> class_nodes_;  ///< by class: nodes
  std::map<std::vector<std::uint32_t>, std::uint32_t> node_of_class_list_;
  std::vector<GraphNode> nodes_;
  std::vector<std::uint32_t> of_pool_;      ///< by PoolId
  std::vector<std::uint32_t> arc_of_;       ///< by class: scratch of rebuild_arcs
  std::vector<std::uint32_t> last_arc_to_;  ///< by vertex: in reversed_arcs_; kNone without one
  std::vector<ReversedArc> reversed_arcs_;  ///< set by reverse_arcs
  LongestPaths paths_, paths_before_;
  std::vector<JournalEntry> journal_;
  double tolerance_ = 0.0;
};

/// The exchanges of all task profiles, except those of gangs with CPU-only tasks, whose places are
/// not equivalent.
template <SearchState State>
std::vector<CyclicExchange<State>> make_exchanges(const SearchSpace<State>& space);

}  // namespace berth::solver::local_search
