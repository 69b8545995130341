// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/checkpoint.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "berth/comm/lists.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/coordinator/packed_placement.hpp"

namespace berth::coordinator {
namespace {

void append(ContentStream& stream, std::span<const std::int64_t> values) {
  stream.push_back(std::ssize(values));
  stream.insert(stream.end(), values.begin(), values.end());
}

void append(ContentStream& stream, std::span<const JobId> jobs) {
  stream.push_back(std::ssize(jobs));
  for (const JobId job : jobs) stream.push_back(job.value());
}

/// Reads lists from the front of a stream.
class StreamReader {
 public:
  explicit StreamReader(std::span<const std::int64_t> stream) : rest_(stream) {}

  [[nodiscard]] bool done() const { return rest_.empty(); }
  std::int64_t value() { return take(1).front(); }
  std::span<const std::int64_t> list() { return take(value()); }

  std::vector<JobId> jobs() {
    std::vector<JobId> jobs;
    for (const std::int64_t id : list()) jobs.emplace_back(static_cast<std::int32_t>(id));
    return jobs;
  }

 private:
  std::span<const std::int64_t> take(std::int64_t count) {
    if (count < 0 || count > std::ssize(rest_)) throw std::out_of_range("content of shards");
    const auto taken = rest_.first(static_cast<std::size_t>(count));
    rest_ = rest_.subspan(taken.size());
    return taken;
  }

  std::span<const std::int64_t> rest_;
};

/// Contents by shard, ascending.
std::map<std::int64_t, std::span<const std::int64_t>> by_shard(
    std::span<const std::int64_t> contents) {
  std::map<std::int64_t, std::span<const std::int64_t>> found;
  for (StreamReader reader(contents); !reader.done();) {
    const std::int64_t shard = reader.value();
    found[shard] = reader.list();
  }
  return found;
}

}  // namespace

ContentStream gather_contents(const comm::Communicator& comm, std::span<const solver::Shard> mine,
                              std::int64_t first, std::int64_t last) {
  ContentStream stream;
  for (const solver::Shard& shard : mine) {
    if (shard.id().value() < first || shard.id().value() >= last) continue;
    const solver::ShardContent content = shard.content();
    ContentStream one;
    append(one, pack_placement(content.placed));
    append(one, content.unplaced);
    append(one, content.evicted);
    stream.push_back(shard.id().value());
    append(stream, one);
  }
  stream = comm.gather_varying<std::int64_t>(stream, 0);
  ContentStream sorted;
  sorted.reserve(stream.size());
  for (const auto& [shard, content] : by_shard(stream)) {
    sorted.push_back(shard);
    append(sorted, content);
  }
  return sorted;
}

ContentStream scatter_contents(const comm::Communicator& comm,
                               std::span<const std::int64_t> contents,
                               const partition::Ownership& owners) {
  std::vector<ContentStream> to(static_cast<std::size_t>(comm.size()));
  for (const auto& [shard, content] : by_shard(contents)) {
    const int owner = owners.owner.at(static_cast<std::size_t>(shard));
    ContentStream& stream = to[static_cast<std::size_t>(owner)];
    stream.push_back(shard);
    append(stream, content);
  }
  return comm::exchange_lists(comm, std::move(to)).values;
}

void restore_contents(std::span<const std::int64_t> contents, std::span<solver::Shard> mine) {
  const auto content_of = by_shard(contents);
  for (solver::Shard& shard : mine) {
    StreamReader reader(content_of.at(shard.id().value()));
    solver::ShardContent content;
    content.placed = unpack_placement(reader.list());
    content.unplaced = reader.jobs();
    content.evicted = reader.jobs();
    shard.restore(std::move(content));
  }
}

std::vector<JobId> jobs_of(std::span<const std::int64_t> contents) {
  std::vector<JobId> jobs;
  for (const auto& [shard, stream] : by_shard(contents)) {
    StreamReader content(stream);
    std::ranges::move(jobs_of(unpack_placement(content.list())), std::back_inserter(jobs));
    std::ranges::move(content.jobs(), std::back_inserter(jobs));  // evicted jobs are unplaced too
  }
  return jobs;
}

}  // namespace berth::coordinator
