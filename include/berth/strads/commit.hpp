// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

namespace berth::strads {

/// Items that a proposal reads and changes, and that no other commit may change meanwhile: a job
/// (capacity 1) or a machine.
enum class ItemKind : std::uint8_t { job, machine };
struct ItemKey {
  ItemKind kind = ItemKind::job;
  std::int64_t id = 0;
  auto operator<=>(const ItemKey&) const = default;
};

/// Counts the changes of every item; unknown items have version 0.
class Versions {
 public:
  [[nodiscard]] std::uint32_t of(ItemKey key) const;
  void change(ItemKey key) { ++count_[key]; }

 private:
  std::map<ItemKey, std::uint32_t> count_;
};

/// An item's version at the time of the proposal.
struct ReadVersion {
  ItemKey key;
  std::uint32_t version = 0;
};

/// A coupling resource. Hard: its use must stay within `capacity`. Soft: its marginal cost rises by
/// at most `curvature` per unit of use.
struct SharedResource {
  double capacity = 0.0;
  double curvature = 0.0;  ///< >= 0; 0 = hard
};

/// Change of the use of one resource.
struct ResourceChange {
  std::size_t resource = 0;
  double change = 0.0;
};

struct Proposal {
  std::int64_t id = 0;                  ///< order among equal gains
  double gain = 0.0;                    ///< on the snapshot it was made on, > 0
  std::uint64_t snapshot = 0;           ///< CommitLog::now() at that time
  std::vector<ReadVersion> reads = {};  ///< all it reads; a commit changes them
  std::vector<ResourceChange> use = {};
};

enum class CommitVerdict : std::uint8_t {
  committed,
  stale,          ///< an item that it read has changed since
  over_capacity,  ///< a hard resource would exceed its capacity
  interference,   ///< other commits since its snapshot may have taken too much of its gain
};

/// Use of the resources, and the amounts added and taken since any earlier commit.
class CommitLog {
 public:
  explicit CommitLog(std::vector<SharedResource> resources);

  [[nodiscard]] std::uint64_t now() const { return log_.size(); }
  [[nodiscard]] double use(std::size_t resource) const { return use_[resource]; }

  [[nodiscard]] bool fits(std::span<const ResourceChange> changes) const;
  /// Upper bound on what the commits since `snapshot` can have cost a proposal with these changes:
  /// sum over soft r of curvature_r x (ups since then x its up, downs since then x its down).
  [[nodiscard]] double interference(std::span<const ResourceChange> changes,
                                    std::uint64_t snapshot) const;
  void apply(std::span<const ResourceChange> changes);

 private:
  std::vector<SharedResource> resources_;
  std::vector<double> use_;
  std::vector<std::vector<ResourceChange>> log_;  ///< by commit
};

/// *Pull*: commits proposals one by one, gain descending, then id, in whatever order they arrived.
/// Every commit raises the common objective by at least (1 - theta) x gain, whatever the age of its
/// snapshot, as long as the costs of soft resources are convex; hard capacities hold throughout.
/// Soft resources with their limit on interference are the dependency check of STRADS (Lee et al.
/// 2013, arXiv:1312.5766), which is stated for coupled variables of one convex objective; the
/// rounds over shards use hard resources alone.
///
/// @param theta  share of its gain that a proposal may lose to others, in [0, 1)
/// @return by position in `proposals`. O(n log n + footprints + commits since the oldest snapshot)
std::vector<CommitVerdict> commit(std::span<const Proposal> proposals, Versions& versions,
                                  CommitLog& log, double theta = 0.5);

/// The least gain on the current state at which a proposal of this gain is still carried out.
[[nodiscard]] constexpr double least_gain(double gain, double theta) {
  return (1.0 - theta) * gain;
}

/// Positions in the order in which `commit` visits the proposals.
std::vector<std::size_t> commit_order(std::span<const Proposal> proposals);

}  // namespace berth::strads
