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

#include "berth/comm/messages.hpp"
#include "berth/coordinator/job_records.hpp"
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

/// Numbers of a rank's blocks, and how many jobs there are in all blocks so far.
struct BatchNumbers {
  std::uint64_t jobs = 0;
  std::vector<io::BlockNumbers> blocks = {};
};

template <class Archive>
void describe(Archive& archive, BatchNumbers& numbers) {
  archive(numbers.jobs, numbers.blocks);
}

/// Rank 0's side. Keeps the first error in file order to the end, and reads and numbers nothing
/// more after it.
class FileReader {
 public:
  FileReader(const std::string& path, model::Cluster& cluster)
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

  /// By rank; no blocks after an error. @param blocks  of one batch, by rank
  std::vector<BatchNumbers> number(const std::vector<std::vector<io::BlockTables>>& blocks,
                                   double part_read) {
    std::vector<BatchNumbers> numbers(blocks.size());
    try {
      for (std::size_t r = 0; r < blocks.size() && !failed_; ++r) {
        for (const auto& block : blocks[r]) numbers[r].blocks.push_back(merger_.add(block));
      }
    } catch (...) {
      failed_ = std::current_exception();
    }
    for (BatchNumbers& of_rank : numbers) {
      of_rank.jobs = merger_.jobs();
      if (failed_) of_rank.blocks.clear();
    }
    if (merger_.jobs() > 0 && std::exchange(first_, false)) merger_.reserve(part_read);
    return numbers;
  }

  model::WorkloadTables finish() {
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
  io::TableMerger merger_;
  bool first_ = true;  // batch
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

/// A block for each thread.
std::vector<io::JobBlock> parse(const io::JobBlockParser& parser, std::string_view lines) {
  const auto threads = static_cast<std::size_t>(parallel::thread_limit());
  const std::size_t piece = lines.size() / threads + 1;
  std::vector<std::string_view> pieces;
  while (!lines.empty()) pieces.push_back(io::take_lines(lines, piece));
  std::vector<io::JobBlock> blocks(pieces.size());
  parallel::run_tasks(pieces.size(), [&](std::size_t i) { blocks[i] = parser.parse(pieces[i]); });
  return blocks;
}

/// Numbers this rank's blocks: rank 0 is sent their tables. @param file  on rank 0
BatchNumbers number(const Communicator& comm, std::optional<FileReader>& file,
                    std::vector<io::JobBlock>& blocks, double part_read) {
  std::vector<io::BlockTables> tables;
  for (io::JobBlock& block : blocks) tables.push_back(std::exchange(block.tables, {}));
  const auto all = comm::gather<std::vector<io::BlockTables>>(comm, std::span(&tables, 1));
  std::vector<ByteWriter> to(static_cast<std::size_t>(comm.size()));
  if (file) {
    const std::vector<BatchNumbers> numbers = file->number(all, part_read);
    for (std::size_t r = 0; r < to.size(); ++r) to[r](numbers[r]);
  }
  return std::move(comm::exchange<BatchNumbers>(comm, std::move(to)).front());
}

/// Sends the records of this rank's blocks to the homes of the jobs; one rank alone keeps them.
void send_home(const Communicator& comm, const BatchNumbers& numbers,
               std::vector<io::JobBlock> blocks, model::JobSet& homes) {
  std::vector<ByteWriter> to(static_cast<std::size_t>(comm.size()));
  for (std::size_t b = 0; b < numbers.blocks.size(); ++b) {
    const io::BlockNumbers& of_block = numbers.blocks[b];
    model::JobSet& records = blocks[b].records;
    io::renumber(records, of_block);
    if (comm.size() == 1) io::append(homes, records);
    for (std::size_t j = 0; comm.size() > 1 && j < records.jobs.size(); ++j) {
      const JobId id(of_block.first_job.index() + j);
      const model::Job& job = records.jobs[j];
      to[static_cast<std::size_t>(JobRecords::home_of(id, comm.size()))](id, job,
                                                                         records.groups_of(job));
    }
    records = {};
  }
  if (comm.size() == 1) return;
  homes.position.resize(static_cast<std::size_t>(numbers.jobs), model::JobSet::kMissing);
  coordinator::add_records(comm::exchange_bytes(comm, std::move(to)), homes);
}

}  // namespace

model::Workload read_jobs(const Communicator& comm, const std::string& path,
                          model::Cluster& cluster, std::size_t block_bytes) {
  const io::JobBlockParser parser(cluster);
  std::optional<FileReader> file;
  comm.agreed_on_root([&] { file.emplace(path, cluster); });
  const std::vector<int> threads = comm.all_gather(parallel::thread_limit());
  const std::int64_t all = std::accumulate(threads.begin(), threads.end(), std::int64_t{0});
  block_bytes = std::min(block_bytes, kBatchBytes / static_cast<std::size_t>(all));
  const auto read = [&] { return file ? file->read(threads, block_bytes) : BlockBatch{}; };
  model::JobSet records;
  BlockBatch batch = read();
  for (bool first = true;; first = false) {
    const double part_read = batch.part_read;
    const auto lines = scatter_blocks(comm, std::move(batch));
    if (!lines) break;
    batch = read();  // while the others parse
    auto blocks =
        comm.agreed([&] { return parse(parser, std::string_view(lines->data(), lines->size())); });
    const BatchNumbers numbers = number(comm, file, blocks, part_read);
    send_home(comm, numbers, std::move(blocks), records);
    if (first && comm.size() == 1) io::reserve(records, part_read);
  }
  model::Workload workload{
      comm.agreed([&] { return file ? file->finish() : model::WorkloadTables(); }), {}};
  static_cast<model::JobSet&>(workload) = std::move(records);
  return workload;
}

}  // namespace berth::pipeline
