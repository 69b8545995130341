// SPDX-License-Identifier: Apache-2.0
#include "berth/coordinator/checkpoint.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "berth/coordinator/wire.hpp"

namespace berth::coordinator {
namespace {

using Stream = std::vector<std::int64_t>;

void append(Stream& stream, std::span<const std::int64_t> values) {
  stream.push_back(std::ssize(values));
  stream.insert(stream.end(), values.begin(), values.end());
}

void append(Stream& stream, std::span<const JobId> jobs) {
  stream.push_back(std::ssize(jobs));
  for (const JobId job : jobs) stream.push_back(job.value());
}

/// Takes lists off the front of a stream.
class Reader {
 public:
  explicit Reader(std::span<const std::int64_t> stream) : rest_(stream) {}

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

}  // namespace

std::vector<std::int64_t> gather_contents(const comm::Communicator& comm,
                                          std::span<const solver::Shard> mine) {
  Stream stream;
  for (const solver::Shard& shard : mine) {
    const solver::ShardContent content = shard.content();
    Stream one;
    append(one, to_wire(content.placed));
    append(one, content.unplaced);
    append(one, content.pushed_out);
    stream.push_back(shard.id().value());
    append(stream, one);
  }
  stream = comm.gather_varying<std::int64_t>(stream, 0);
  std::map<std::int64_t, std::span<const std::int64_t>> by_shard;
  for (Reader reader(stream); !reader.done();) {
    const std::int64_t shard = reader.value();
    by_shard[shard] = reader.list();
  }
  Stream sorted;
  sorted.reserve(stream.size());
  for (const auto& [shard, content] : by_shard) {
    sorted.push_back(shard);
    append(sorted, content);
  }
  return sorted;
}

void restore_contents(std::span<const std::int64_t> stream, std::span<solver::Shard> mine) {
  std::map<std::int64_t, std::span<const std::int64_t>> by_shard;
  for (Reader reader(stream); !reader.done();) {
    const std::int64_t shard = reader.value();
    by_shard[shard] = reader.list();
  }
  for (solver::Shard& shard : mine) {
    Reader reader(by_shard.at(shard.id().value()));
    solver::ShardContent content;
    content.placed = from_wire(reader.list());
    content.unplaced = reader.jobs();
    content.pushed_out = reader.jobs();
    shard.restore(std::move(content));
  }
}

JobLists jobs_in_contents(std::span<const std::int64_t> stream, const partition::Ownership& owners,
                          std::size_t ranks) {
  JobLists lists(ranks);
  for (Reader shards(stream); !shards.done();) {
    const int owner = owners.owner.at(static_cast<std::size_t>(shards.value()));
    auto& list = lists[static_cast<std::size_t>(owner)];
    Reader content(shards.list());
    std::ranges::move(jobs_of(from_wire(content.list())), std::back_inserter(list));
    std::ranges::move(content.jobs(), std::back_inserter(list));  // who was pushed out waits too
  }
  return lists;
}

}  // namespace berth::coordinator
