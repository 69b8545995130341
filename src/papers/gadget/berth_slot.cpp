// SPDX-License-Identifier: Apache-2.0
#include "utility_pieces.hpp"

#include <algorithm>
#include <vector>

#include "berth/papers/gadget/slot_rules.hpp"

namespace berth::papers::gadget {
namespace {

/// Worker-slots of each job until the last slot, and jobs by the slope of their next piece.
struct HorizonPlan {
  std::vector<std::int64_t> share;  ///< by position
  std::vector<std::size_t> order;   ///< of jobs with a share
};

HorizonPlan plan(const SlotView& view) {
  const std::int64_t slots = view.instance->slots - view.slot;
  std::vector<UtilityPiece> pieces;
  for (std::size_t j = 0; j < view.jobs.size(); ++j) {
    const SlotJob& job = view.jobs[j];
    const std::int64_t more = std::min(job.job->budget - job.done, job.job->most * slots);
    add_pieces(*job.job, j, job.done, more, pieces);
  }
  sort_pieces(pieces);
  HorizonPlan plan{.share = std::vector<std::int64_t>(view.jobs.size(), 0), .order = {}};
  std::int64_t left = view.instance->cluster.total_gpus() * slots;
  for (const UtilityPiece& piece : pieces) {
    const std::int64_t amount = std::min(piece.length, left);
    if (amount == 0) break;
    if (plan.share[piece.job] == 0) plan.order.push_back(piece.job);
    plan.share[piece.job] += amount;
    left -= amount;
  }
  return plan;
}

/// Gives the job so many workers or, where there is no room, as many as fit.
void set_most(SlotEmbedding& slot, std::size_t job, std::int64_t workers) {
  for (auto k = static_cast<std::int32_t>(workers); k > slot.workers(job); --k) {
    if (slot.set(job, k)) return;
  }
}

}  // namespace

std::vector<Ring> berth_slot(const SlotView& view) {
  const HorizonPlan horizon = plan(view);
  const std::int64_t later = view.instance->slots - view.slot - 1;
  SlotEmbedding slot(view.instance->cluster, view.jobs);
  // What cannot be made up for later. All of it fits into the pool, as the share of each job is
  // within N a slot and that of all within the GPUs a slot.
  for (const std::size_t j : horizon.order)
    set_most(slot, j, horizon.share[j] - later * view.jobs[j].job->most);
  for (const std::size_t j : horizon.order)
    set_most(slot, j, std::min<std::int64_t>(horizon.share[j], view.jobs[j].most()));
  slot.grow();
  return slot.take_rings();
}

}  // namespace berth::papers::gadget
