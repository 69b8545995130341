// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/checkpoint.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "berth/comm/messages.hpp"
#include "berth/coordinator/job_records.hpp"

namespace berth::coordinator {
namespace {

using OneContent = std::pair<ShardId, std::string>;

ShardContents by_shard(std::vector<OneContent> contents) {
  return {std::move_iterator(contents.begin()), std::move_iterator(contents.end())};
}

}  // namespace

ShardContents gather_contents(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                              std::int64_t first, std::int64_t last) {
  std::vector<OneContent> here;
  for (const solver::Shard& shard : mine) {
    if (shard.id().value() < first || shard.id().value() >= last) continue;
    here.emplace_back(shard.id(), to_bytes(shard.content()));
  }
  return by_shard(comm::gather<OneContent>(comm, here));
}

ShardContents scatter_contents(const comm::Communicator& comm, const ShardContents& contents,
                               const partition::Ownership& owners) {
  std::vector<ByteWriter> to(static_cast<std::size_t>(comm.size()));
  for (const auto& [shard, content] : contents) {
    to[static_cast<std::size_t>(owners.owner.at(shard.index()))](shard, content);
  }
  return by_shard(comm::exchange<OneContent>(comm, std::move(to)));
}

void restore_contents(const ShardContents& contents, std::span<solver::Shard> mine) {
  for (solver::Shard& shard : mine) {
    shard.restore(from_bytes<solver::ShardContent>(contents.at(shard.id())));
  }
}

std::vector<JobId> jobs_of(const ShardContents& contents) {
  std::vector<JobId> jobs;
  for (const auto& [shard, bytes] : contents) {
    const auto content = from_bytes<solver::ShardContent>(bytes);
    std::ranges::move(jobs_of(content.placed), std::back_inserter(jobs));
    std::ranges::copy(content.unplaced, std::back_inserter(jobs));  // evicted ones are among them
  }
  return jobs;
}

}  // namespace berth::coordinator
