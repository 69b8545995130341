// SPDX-License-Identifier: Apache-2.0
#include "checkpoint_writer.hpp"

#include <cstdint>
#include <optional>

#include "berth/coordinator/checkpoint.hpp"
#include "berth/pipeline/option_table.hpp"

namespace berth::pipeline {
namespace {

constexpr std::int64_t kSlices = 16;  ///< messages in which contents reach rank 0: decision 19

}  // namespace

CheckpointWriter::CheckpointWriter(const PlanningContext& context, const LocalSolution& solution)
    : comm_(context.comm), path_(context.options.checkpoint.file) {
  if (path_.empty() || context.comm.rank() != 0) return;
  checkpoint_.instance_digest = context.digest;
  checkpoint_.options = fingerprint(context.options);
  checkpoint_.consensus = solution.relaxation.consensus;
  checkpoint_.task_prices = solution.local.task_prices;
}

void CheckpointWriter::operator()(const coordinator::RoundState& rounds,
                                  std::span<const solver::Shard> mine) {
  std::optional<CheckpointOutput> file;  // on rank 0
  comm_.agreed_on_root([&] {
    checkpoint_.rounds = rounds;
    file.emplace(path_, checkpoint_);
  });
  const std::int64_t at_once = rounds.shards / kSlices + 1;
  for (std::int64_t first = 0; first < rounds.shards; first += at_once) {
    const auto contents = coordinator::gather_contents(comm_, mine, first, first + at_once);
    comm_.agreed_on_root([&] { file->add(contents); });
  }
  comm_.agreed_on_root([&] { file->commit(); });
}

}  // namespace berth::pipeline
