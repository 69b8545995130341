// SPDX-License-Identifier: Apache-2.0
#include "content_exchange.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/comm/messages.hpp"

namespace berth::coordinator {

using model::JobPlacement;

void ContentExchange::add(ShardId piece, ContentKind kind, const JobPlacement& placed) {
  const auto rank = static_cast<std::size_t>(owners_.owner[piece.index()]);
  if (records_.distributed()) jobs_[rank].push_back(placed.job);
  to_[rank](piece, kind, placed);
}

void ContentExchange::add(ShardId piece, JobId waiting) {
  add(piece, ContentKind::waiting, JobPlacement{.job = waiting});
}

std::map<ShardId, PieceContent> ContentExchange::deliver() {
  const std::size_t ranks = to_.size();
  records_.send(std::exchange(jobs_, JobLists(ranks)));
  std::map<ShardId, PieceContent> content;
  const auto bytes =
      comm::exchange_bytes(comm_, std::exchange(to_, std::vector<ByteWriter>(ranks)));
  for (ByteReader reader(bytes); !reader.done();) {
    PieceContent& to = content[reader.next<ShardId>()];
    const auto kind = reader.next<ContentKind>();
    auto placed = reader.next<JobPlacement>();
    if (kind == ContentKind::waiting) {
      to.waiting.push_back(placed.job);
    } else {
      (kind == ContentKind::placed ? to.placed : to.pinned).push_back(std::move(placed));
    }
  }
  for (auto& [piece, c] : content) {
    std::ranges::sort(c.placed, {}, &JobPlacement::job);
    std::ranges::sort(c.pinned, {}, &JobPlacement::job);
    std::ranges::sort(c.waiting);
  }
  return content;
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
