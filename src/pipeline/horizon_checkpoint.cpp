// SPDX-License-Identifier: Apache-2.0
#include "horizon_checkpoint.hpp"

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "berth/base/archive.hpp"
#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"

namespace berth::pipeline {
namespace {

/// Of the bytes of a checkpoint, what kind of plan it is of.
constexpr std::string_view kKind = "a plan in time";
constexpr std::size_t kDigestSize = 64;  // hexadecimal digits of SHA-256

/// All that the file has.
struct HorizonCheckpoint {
  std::string kind;
  CheckpointOrigin origin;
  HorizonState state;
};

template <class Archive>
void describe(Archive& archive, HorizonCheckpoint& c) {
  archive(c.kind, c.origin.instance_digest, c.origin.options);
  archive(c.state.pass, c.state.required_first, c.state.plan, c.state.makespan);
  archive(c.state.rounds, c.state.homes);
}

std::string digest_of(std::string_view bytes) {
  model::Sha256 sha;
  sha.text(bytes);
  return sha.hex();
}

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw InputError({.file = path, .line = 0, .field = ""}, problem, "start the plan anew");
}

}  // namespace

std::string horizon_options(const HorizonRequest& request) {
  std::string words = fmt::format("horizon={} now={} objective={}", request.horizon.length,
                                  request.horizon.now, model::to_string(request.horizon.objective));
  if (!request.keep) return words;
  model::Sha256 kept;
  for (const model::RawPlacement& placed : request.keep->plan.placements) {
    kept.name(placed.job).integer(placed.start);
    for (const model::RawTask& task : placed.tasks) kept.name(task.shape).name(task.machine);
  }
  words += " keep=" + kept.hex();
  return request.keep_price ? fmt::format("{} keep-price={}", words, *request.keep_price) : words;
}

void write_horizon_checkpoint(const std::string& path, const CheckpointOrigin& origin,
                              const HorizonState& state) {
  std::string bytes = checkpoint_header();
  bytes +=
      to_bytes(HorizonCheckpoint{.kind = std::string(kKind), .origin = origin, .state = state});
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write(bytes);
    file.write(digest_of(bytes));
  });
}

HorizonState read_horizon_checkpoint(const std::string& path, const CheckpointOrigin& origin) {
  const std::string text = io::read_file(path);
  expect_checkpoint(path, text);
  const std::string_view bytes =
      std::string_view(text).substr(0, text.size() - std::min(text.size(), kDigestSize));
  if (digest_of(bytes) != std::string_view(text).substr(bytes.size())) {
    refuse(path, "cut short or damaged");
  }
  HorizonCheckpoint checkpoint;
  try {
    const std::string_view saved = bytes.substr(checkpoint_header().size());
    if (saved.find(kKind) != 1) throw std::out_of_range("kind of a checkpoint");
    checkpoint = from_bytes<HorizonCheckpoint>(saved);
  } catch (const std::out_of_range&) {  // the digest is right: made so, not damaged
    refuse(path, "not a checkpoint of a plan with --horizon");
  }
  expect_same_run(path, checkpoint.origin, origin);
  return std::move(checkpoint.state);
}

}  // namespace berth::pipeline
