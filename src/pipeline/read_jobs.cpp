// SPDX-License-Identifier: Apache-2.0
#include "read_jobs.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "berth/comm/lists.hpp"
#include "berth/coordinator/job_records.hpp"
#include "berth/coordinator/packed_jobs.hpp"
#include "berth/io/job_blocks.hpp"
#include "berth/parallel/loops.hpp"
#include "berth/parallel/threads.hpp"

namespace berth::pipeline {
namespace {

using comm::Communicator;
using coordinator::JobRecords;

/// Upper limit, about, of one batch's text, for any number of ranks and threads: 32 MiB; chosen,
/// not tuned.
constexpr std::size_t kBatchBytes = std::size_t{1} << 25;

/// Blocks of lines for all ranks, end to end.
struct BlockBatch {
  std::string lines;
  std::vector<std::size_t> bytes;  ///< by rank
  double part_read = 0.0;          ///< fraction of the file read so far
};

/// Rank 0's side. Keeps the first error in file order to the end, and reads nothing more after it.
class BlockMerger {
 public:
  BlockMerger(const std::string& path, model::Cluster& cluster)
      : reader_(path), merger_(cluster, path) {}

  /// @param threads  by rank
  BlockBatch read(std::span<const int> threads, std::size_t block_bytes) {
    BlockBatch batch{.lines = {}, .bytes = std::vector<std::size_t>(threads.size(), 0)};
    for (std::size_t r = 0; r < threads.size() && !stopped(); ++r) {
      const std::size_t before = batch.lines.size();
      read_block(batch.lines, static_cast<std::size_t>(threads[r]) * block_bytes);
      batch.bytes[r] = batch.lines.size() - before;
    }
    batch.part_read = reader_.part_read();
    return batch;
  }

  /// @param blocks     of one batch, by rank
  void merge(std::string_view blocks, double part_read) {
    if (failed_ || blocks.empty()) return;
    try {
      merger_.add(blocks);
      part_merged_ = part_read;
    } catch (...) {
      failed_ = std::current_exception();
    }
  }

  /// Records merged since the last call.
  io::MergedJobs take() {
    if (failed_) return {};
    io::MergedJobs jobs = merger_.take();
    make_room();
    return jobs;
  }

  /// Reserves memory for the records that stay here, once the first lines allow an estimate.
  void make_room() {
    if (part_merged_ > 0.0 && std::exchange(first_, false)) merger_.reserve(part_merged_);
  }

  model::Workload finish() {
    for (const std::exception_ptr& error : {failed_, unreadable_}) {
      if (error) std::rethrow_exception(error);
    }
    return merger_.finish();
  }

 private:
  [[nodiscard]] bool stopped() const { return failed_ || unreadable_; }

  void read_block(std::string& lines, std::size_t bytes) {
    const std::size_t before = lines.size();
    try {
      reader_.append(lines, bytes);
    } catch (...) {  // lines before this one may be bad: their error comes first
      unreadable_ = std::current_exception();
      lines.resize(before);
    }
  }

  io::LineReader reader_;
  io::JobMerger merger_;
  bool first_ = true;
  double part_merged_ = 0.0;
  std::exception_ptr failed_, unreadable_;
};

/// This rank's part of a batch; no value at the end of the file.
std::optional<std::vector<char>> scatter_blocks(const Communicator& comm, BlockBatch batch) {
  std::uint64_t bytes = batch.lines.size();
  comm.broadcast_value(bytes);
  if (bytes == 0) return std::nullopt;
  batch.bytes.resize(static_cast<std::size_t>(comm.size()));  // the other ranks have no batch
  return comm.all_to_all_varying<char>(batch.lines, batch.bytes).values;
}

/// Sends rank 0's records to the ranks where they are at home.
void send_home(const Communicator& comm, const io::MergedJobs& merged, model::JobSet& homes) {
  std::uint64_t jobs = merged.first + merged.jobs.size();
  comm.broadcast_value(jobs);
  if (jobs > homes.position.size()) {
    homes.position.resize(static_cast<std::size_t>(jobs), model::JobSet::kMissing);
  }
  std::vector<coordinator::PackedJobs> words(static_cast<std::size_t>(comm.size()));
  for (std::size_t j = 0; j < merged.jobs.size(); ++j) {
    const JobId id(merged.first + j);
    const model::Job& job = merged.jobs[j];
    coordinator::pack_job(words[static_cast<std::size_t>(JobRecords::home_of(id, comm.size()))], id,
                          job, std::span(merged.groups).subspan(job.first_group, job.groups));
  }
  coordinator::unpack_jobs(comm::exchange_lists(comm, std::move(words)).values, homes);
}

/// Parses the lines, one piece a thread.
std::string parse(const io::JobBlockParser& parser, std::string_view lines) {
  const auto threads = static_cast<std::size_t>(parallel::thread_limit());
  const std::size_t piece = lines.size() / threads + 1;
  std::vector<std::string_view> pieces;
  while (!lines.empty()) pieces.push_back(io::take_lines(lines, piece));
  std::vector<std::string> blocks(pieces.size());
  parallel::run_tasks(pieces.size(), [&](std::size_t i) { blocks[i] = parser.parse(pieces[i]); });
  std::string all;
  for (const std::string& block : blocks) all += block;
  return all;
}

}  // namespace

model::Workload read_jobs(const Communicator& comm, const std::string& path,
                          model::Cluster& cluster, std::size_t block_bytes) {
  const io::JobBlockParser parser(cluster);
  std::optional<BlockMerger> merger;
  comm.agreed_on_root([&] { merger.emplace(path, cluster); });
  const std::vector<int> threads = comm.all_gather(parallel::thread_limit());
  const std::int64_t all = std::accumulate(threads.begin(), threads.end(), std::int64_t{0});
  block_bytes = std::min(block_bytes, kBatchBytes / static_cast<std::size_t>(all));
  const auto read = [&] { return merger ? merger->read(threads, block_bytes) : BlockBatch{}; };
  std::vector<char> blocks;  // of the previous batch, on rank 0
  double part_read = 0.0;
  model::JobSet homes;
  const auto merge = [&] {
    if (merger) merger->merge(std::string_view(blocks.data(), blocks.size()), part_read);
  };
  const auto ship = [&] {
    if (comm.size() > 1) {
      send_home(comm, merger ? merger->take() : io::MergedJobs{}, homes);
    } else {
      merger->make_room();
    }
  };
  BlockBatch batch = read();
  for (;;) {
    const double read_now = batch.part_read;
    const auto mine = scatter_blocks(comm, std::move(batch));
    if (!mine) break;
    batch = read();  // while the other ranks parse
    merge();
    const std::string parsed =
        comm.agreed([&] { return parse(parser, std::string_view(mine->data(), mine->size())); });
    blocks = comm.gather_varying<char>(parsed);
    part_read = read_now;
    ship();
  }
  merge();
  ship();
  model::Workload workload =
      comm.agreed([&] { return merger ? merger->finish() : model::Workload(); });
  if (comm.size() > 1) static_cast<model::JobSet&>(workload) = std::move(homes);
  return workload;
}

}  // namespace berth::pipeline
