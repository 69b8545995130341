// SPDX-License-Identifier: Apache-2.0
#include "post.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/comm/lists.hpp"
#include "berth/coordinator/packed_placement.hpp"

namespace berth::coordinator {

using model::JobPlacement;
using model::Placement;

void Post::add(ShardId piece, Kind kind, JobId job, std::span<const std::int64_t> values) {
  const auto rank = static_cast<std::size_t>(owners_.owner[piece.index()]);
  if (records_.distributed()) jobs_[rank].push_back(job);
  std::vector<std::int64_t>& stream = to_[rank];
  stream.insert(stream.end(), {piece.value(), static_cast<std::int64_t>(kind),
                               static_cast<std::int64_t>(values.size())});
  stream.insert(stream.end(), values.begin(), values.end());
}

void Post::add(ShardId piece, Kind kind, const JobPlacement& placed) {
  add(piece, kind, placed.job, pack_placement(Placement{placed}));
}

void Post::add(ShardId piece, JobId waiting) {
  const std::int64_t job = waiting.value();
  add(piece, Kind::waiting, waiting, std::span(&job, 1));
}

std::vector<std::int64_t> Post::exchange() {
  const std::size_t ranks = to_.size();
  return comm::exchange_lists(comm_, std::exchange(to_, Streams(ranks))).values;
}

std::map<ShardId, Content> Post::deliver() {
  std::map<ShardId, Content> content;
  records_.send(std::exchange(jobs_, JobLists(to_.size())));
  const std::vector<std::int64_t> got = exchange();
  for (std::size_t at = 0; at < got.size();) {
    Content& to = content[ShardId(static_cast<std::int32_t>(got[at]))];
    const auto kind = static_cast<Kind>(got[at + 1]);
    const auto length = static_cast<std::size_t>(got[at + 2]);
    put(to, kind, std::span(got).subspan(at + 3, length));
    at += 3 + length;
  }
  for (auto& [piece, c] : content) {
    std::ranges::sort(c.placed, {}, &JobPlacement::job);
    std::ranges::sort(c.pinned, {}, &JobPlacement::job);
    std::ranges::sort(c.waiting);
  }
  return content;
}

void Post::put(Content& to, Kind kind, std::span<const std::int64_t> values) {
  if (kind == Kind::waiting) {
    to.waiting.emplace_back(static_cast<std::int32_t>(values.front()));
    return;
  }
  Placement one = unpack_placement(values);
  (kind == Kind::placed ? to.placed : to.pinned).push_back(std::move(one.front()));
}

std::vector<JobId> jobs_of(const std::map<ShardId, Content>& contents) {
  std::vector<JobId> jobs;
  for (const auto& [piece, content] : contents) {
    std::ranges::move(jobs_of(content.placed), std::back_inserter(jobs));
    std::ranges::move(jobs_of(content.pinned), std::back_inserter(jobs));
    jobs.insert(jobs.end(), content.waiting.begin(), content.waiting.end());
  }
  return jobs;
}

std::set<ShardId> pieces_of(const JobPlacement& placed, std::span<const ShardId> of_machine) {
  std::set<ShardId> pieces;
  for (const model::TaskPlacement& t : placed.tasks) pieces.insert(of_machine[t.machine.index()]);
  return pieces;
}

}  // namespace berth::coordinator
