// SPDX-License-Identifier: Apache-2.0
#include "content_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/comm/lists.hpp"
#include "berth/coordinator/packed_placement.hpp"

namespace berth::coordinator {

using model::JobPlacement;
using model::Placement;

void ContentExchange::add(ShardId piece, ContentKind kind, JobId job,
                          std::span<const std::int64_t> values) {
  const auto rank = static_cast<std::size_t>(owners_.owner[piece.index()]);
  if (records_.distributed()) jobs_[rank].push_back(job);
  std::vector<std::int64_t>& stream = streams_[rank];
  stream.insert(stream.end(), {piece.value(), static_cast<std::int64_t>(kind),
                               static_cast<std::int64_t>(values.size())});
  stream.insert(stream.end(), values.begin(), values.end());
}

void ContentExchange::add(ShardId piece, ContentKind kind, const JobPlacement& placed) {
  add(piece, kind, placed.job, pack_placement(Placement{placed}));
}

void ContentExchange::add(ShardId piece, JobId waiting) {
  const std::int64_t job = waiting.value();
  add(piece, ContentKind::waiting, waiting, std::span(&job, 1));
}

std::vector<std::int64_t> ContentExchange::exchange_streams() {
  const std::size_t ranks = streams_.size();
  return comm::exchange_lists(comm_, std::exchange(streams_, Streams(ranks))).values;
}

std::map<ShardId, PieceContent> ContentExchange::deliver() {
  std::map<ShardId, PieceContent> content;
  records_.send(std::exchange(jobs_, JobLists(streams_.size())));
  const std::vector<std::int64_t> got = exchange_streams();
  for (std::size_t at = 0; at < got.size();) {
    PieceContent& to = content[ShardId(static_cast<std::int32_t>(got[at]))];
    const auto kind = static_cast<ContentKind>(got[at + 1]);
    const auto length = static_cast<std::size_t>(got[at + 2]);
    insert(to, kind, std::span(got).subspan(at + 3, length));
    at += 3 + length;
  }
  for (auto& [piece, c] : content) {
    std::ranges::sort(c.placed, {}, &JobPlacement::job);
    std::ranges::sort(c.pinned, {}, &JobPlacement::job);
    std::ranges::sort(c.waiting);
  }
  return content;
}

void ContentExchange::insert(PieceContent& to, ContentKind kind,
                             std::span<const std::int64_t> values) {
  if (kind == ContentKind::waiting) {
    to.waiting.emplace_back(static_cast<std::int32_t>(values.front()));
    return;
  }
  Placement one = unpack_placement(values);
  (kind == ContentKind::placed ? to.placed : to.pinned).push_back(std::move(one.front()));
}

std::vector<JobId> jobs_of(const std::map<ShardId, PieceContent>& contents) {
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
