// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_writer.hpp"

#include <cstdint>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "berth/base/error.hpp"
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

void CheckpointWriter::operator()(const coordinator::RoundState& rounds,
                                  std::span<const solver::Shard> mine) {
  std::optional<CheckpointOutput> file;  // on rank 0
  bool done = written([&] {
    checkpoint_.rounds = rounds;
    file.emplace(path_, checkpoint_);
  });
  const std::int64_t at_once = rounds.shards / kSlices + 1;
  for (std::int64_t first = 0; done && first < rounds.shards; first += at_once) {
    const auto contents = coordinator::gather_contents(comm_, mine, first, first + at_once);
    done = written([&] { file->add(contents); });
  }
  if (done) written([&] { file->commit(); });
}

}  // namespace berth::pipeline
