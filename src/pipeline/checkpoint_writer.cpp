// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_writer.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "berth/base/error.hpp"
#include "berth/comm/messages.hpp"
#include "berth/coordinator/checkpoint.hpp"
#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kSlices = 16;  ///< messages in which contents reach rank 0: decision 19

}  // namespace

CheckpointWriter::CheckpointWriter(const PlanningContext& context, const LocalSolution& solution)
    : comm_(context.comm), progress_(context.progress), path_(context.options.checkpoint.file) {
  if (path_.empty() || context.comm.rank() != 0) return;
  checkpoint_.instance_digest = context.digest;
  checkpoint_.options = fingerprint(context.options);
  checkpoint_.consensus = solution.relaxation.consensus;
  checkpoint_.configurations = solution.relaxation.configurations;
  checkpoint_.task_prices = solution.local.task_prices;
}

/// Runs work on rank 0. @return  on all ranks: the machine let it write
template <class Work>
bool CheckpointWriter::written(const Work& work) {
  bool done = true;
  comm_.agreed_on_root([&] {
    try {
      work();
    } catch (const SystemError& error) {
      done = false;
      if (!std::exchange(warned_, true)) {
        progress_.warn(fmt::format("no checkpoint: {}; planning goes on", error.what()));
      }
    }
  });
  comm_.broadcast_value(done);
  return done;
}

/// Writes the file. @param gather  collects slice 0 .. kSlices - 1 of the contents on rank 0
template <class Gather>
void CheckpointWriter::write(const Gather& gather) {
  std::optional<CheckpointOutput> file;  // on rank 0
  bool done = written([&] { file.emplace(path_, checkpoint_); });
  for (std::int64_t slice = 0; done && slice < kSlices; ++slice) {
    const auto contents = gather(slice);
    done = written([&] { file->add(contents); });
  }
  if (done) written([&] { file->commit(); });
}

void CheckpointWriter::operator()(const coordinator::RoundState& rounds,
                                  std::span<const solver::Shard> mine) {
  checkpoint_.rounds = rounds;
  const std::int64_t at_once = rounds.shards / kSlices + 1;
  write([&](std::int64_t slice) {
    return coordinator::gather_contents(comm_, mine, slice * at_once, (slice + 1) * at_once);
  });
}

void CheckpointWriter::operator()(const coordinator::RoundState& rounds, const EffortState& effort,
                                  std::span<const model::JobPlacement> here) {
  checkpoint_.rounds = rounds;
  checkpoint_.effort = effort;
  const std::int64_t at_once = std::ssize(here) / kSlices + 1;
  write([&](std::int64_t slice) {
    const std::int64_t first = std::min(slice * at_once, std::ssize(here));
    const std::int64_t last = std::min(first + at_once, std::ssize(here));
    return comm::gather<model::JobPlacement>(comm_, {here.begin() + first, here.begin() + last});
  });
}

}  // namespace berth::pipeline
