// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/checkpoint.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "berth/base/bytes.hpp"
#include "berth/base/error.hpp"
#include "berth/coordinator/packed_placement.hpp"

namespace berth::pipeline {
namespace {

constexpr std::string_view kFirstWords = "berth checkpoint ";
constexpr std::string_view kFormat = "5";
constexpr std::size_t kDigestSize = 64;  // hexadecimal digits of SHA-256

std::string header() { return fmt::format("{}{}\n", kFirstWords, kFormat); }

/// The words of `these`, separated by spaces, that are not in `others`; never empty text.
std::string without(std::string_view these, std::string_view others) {
  const auto words = [](std::string_view text) {
    std::vector<std::string_view> list;
    while (!text.empty()) {
      const std::size_t end = std::min(text.find(' '), text.size());
      list.push_back(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return list;
  };
  std::vector<std::string_view> left = words(these);
  const std::vector<std::string_view> known = words(others);
  std::erase_if(left, [&](std::string_view w) { return std::ranges::count(known, w) > 0; });
  return left.empty() ? "fewer options" : fmt::format("{}", fmt::join(left, " "));
}

std::string bytes_of(const Checkpoint& c) {
  ByteWriter w;
  w.list<char>(c.instance_digest);
  w.list<char>(c.options);
  w.list<double>(c.consensus.prices);
  w.list<double>(c.consensus.limits);
  w.value(c.consensus.bound);
  w.value(std::int64_t{c.consensus.evaluations});
  w.list<solver::TaskPrice>(c.task_prices);
  w.list<std::int64_t>(coordinator::pack_placement(c.rounds.spanning));
  w.value(std::int64_t{c.rounds.round});
  w.value(std::int64_t{c.rounds.regroups});
  w.value(std::int64_t{c.rounds.idle_rounds});
  w.value(c.rounds.shards);
  w.list<coordinator::Refusal>(c.rounds.refusals);
  w.value(std::uint64_t{c.rounds.pending.size()});
  for (const coordinator::PendingRound& pending_round : c.rounds.pending) {
    w.list<solver::JobOffer>(pending_round.offers);
    w.list<solver::Bid>(pending_round.bids);
  }
  return w.take();
}

int small(ByteReader& reader) {
  std::int64_t value = 0;
  reader.value(value);
  return static_cast<int>(value);
}

Checkpoint parse(std::string_view bytes) {
  Checkpoint c;
  ByteReader r(bytes);
  r.list(c.instance_digest);
  r.list(c.options);
  r.list(c.consensus.prices);
  r.list(c.consensus.limits);
  r.value(c.consensus.bound);
  c.consensus.evaluations = small(r);
  r.list(c.task_prices);
  std::vector<std::int64_t> spanning;
  r.list(spanning);
  c.rounds.spanning = coordinator::unpack_placement(spanning);
  c.rounds.round = small(r);
  c.rounds.regroups = small(r);
  c.rounds.idle_rounds = small(r);
  r.value(c.rounds.shards);
  r.list(c.rounds.refusals);
  std::uint64_t pending = 0;
  r.value(pending);
  while (pending-- > 0) {
    coordinator::PendingRound& pending_round = c.rounds.pending.emplace_back();
    r.list(pending_round.offers);
    r.list(pending_round.bids);
  }
  return c;
}

[[noreturn]] void refuse(const std::string& path, const std::string& field,
                         const std::string& problem, const std::string& hint) {
  throw InputError({.file = path, .line = 0, .field = field}, problem, hint);
}

void expect_header(const std::string& path, std::string_view text) {
  if (!text.starts_with(kFirstWords)) {
    refuse(path, "", "not a checkpoint of berth", "give a file that --checkpoint wrote");
  }
  if (!text.starts_with(header())) {
    refuse(path, "", "a checkpoint of another version of berth", "start the plan anew");
  }
}

/// Number of bytes before the digest, after verifying it.
std::uint64_t verified_size(const std::string& path) {
  if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) {
    refuse(path, "", "not a file, which could be read twice", "copy it into one");
  }
  io::PieceReader file(path);
  model::Sha256 digest;
  std::uint64_t size = 0;
  std::string text;
  file.append(text);
  expect_header(path, text);
  do {
    const std::size_t more = text.size() - std::min(text.size(), kDigestSize);
    digest.text(std::string_view(text).substr(0, more));
    text.erase(0, more);
    size += more;
  } while (file.append(text));
  if (digest.hex() != text) refuse(path, "", "cut short or damaged", "start the plan anew");
  return size;
}

}  // namespace

CheckpointOutput::CheckpointOutput(const std::string& path, const Checkpoint& checkpoint)
    : file_(path) {
  write(header());
  add_block(bytes_of(checkpoint));
}

void CheckpointOutput::add(std::span<const std::int64_t> contents) {
  add_block({reinterpret_cast<const char*>(contents.data()), contents.size_bytes()});
}

void CheckpointOutput::commit() {
  file_.write(digest_.hex());
  file_.commit();
}

void CheckpointOutput::write(std::string_view bytes) {
  digest_.text(bytes);
  file_.write(bytes);
}

void CheckpointOutput::add_block(std::string_view bytes) {
  ByteWriter size;
  size.value(std::uint64_t{bytes.size()});
  write(size.take());
  write(bytes);
}

CheckpointInput::CheckpointInput(const std::string& path)
    : left_(verified_size(path)), file_(path) {
  take(header().size());
  head_ = parse(next_block());
}

std::optional<coordinator::ContentStream> CheckpointInput::next() {
  if (left_ == 0) return std::nullopt;
  const std::string bytes = next_block();
  coordinator::ContentStream contents(bytes.size() / sizeof(std::int64_t));
  if (!contents.empty()) std::memcpy(contents.data(), bytes.data(), bytes.size());
  return contents;
}

std::string CheckpointInput::next_block() {
  std::uint64_t size = 0;
  ByteReader(take(sizeof size)).value(size);
  return take(static_cast<std::size_t>(size));
}

std::string CheckpointInput::take(std::size_t bytes) {
  while (read_.size() < bytes && file_.append(read_)) {
  }
  const std::string taken = read_.substr(0, bytes);
  read_.erase(0, bytes);
  left_ -= bytes;
  return taken;
}

void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options) {
  if (checkpoint.instance_digest != instance_digest) {
    refuse(path, "instance", "made from other clusters or jobs than these",
           "give the files of the interrupted run");
  }
  if (checkpoint.options != options) {
    refuse(path, "options",
           fmt::format("made with {}, now asked for {}", without(checkpoint.options, options),
                       without(options, checkpoint.options)),
           "give the options of the interrupted run");
  }
}

}  // namespace berth::pipeline
