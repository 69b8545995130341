// SPDX-License-Identifier: Apache-2.0
#include "berth/pipeline/checkpoint.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "berth/base/archive.hpp"
#include "berth/base/build_id.hpp"
#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"

namespace berth::pipeline {
namespace {

constexpr std::string_view kFirstWords = "berth checkpoint ";
constexpr std::size_t kDigestSize = 64;  // hexadecimal digits of SHA-256

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

[[noreturn]] void refuse(const std::string& path, const std::string& field,
                         const std::string& problem, const std::string& hint) {
  throw InputError({.file = path, .line = 0, .field = field}, problem, hint);
}

/// Number of bytes before the digest, after verifying it.
std::uint64_t verified_size(const std::string& path) {
  std::error_code none;  // a missing file, or a name too long, is told when it is opened
  if (std::filesystem::exists(path, none) && !std::filesystem::is_regular_file(path, none)) {
    refuse(path, "", "not a file, which could be read twice", "copy it into one");
  }
  io::PieceReader file(path);
  model::Sha256 digest;
  std::uint64_t size = 0;
  std::string text;
  file.append(text);
  expect_checkpoint(path, text);
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

const std::string& checkpoint_header() {
  static const std::string line = fmt::format("{}9 {}\n", kFirstWords, build_id());
  return line;
}

CheckpointOutput::CheckpointOutput(const std::string& path, const Checkpoint& checkpoint)
    : file_(path) {
  write(checkpoint_header());
  add_block(to_bytes(checkpoint));
}

void CheckpointOutput::add(const coordinator::ShardContents& contents) {
  add_block(to_bytes(contents));
}

void CheckpointOutput::add(const model::Placement& part) { add_block(to_bytes(part)); }

void CheckpointOutput::commit() {
  file_.write(digest_.hex());
  file_.commit();
}

void CheckpointOutput::write(std::string_view bytes) {
  digest_.text(bytes);
  file_.write(bytes);
}

void CheckpointOutput::add_block(std::string_view bytes) {
  write(to_bytes(std::uint64_t{bytes.size()}));
  write(bytes);
}

CheckpointInput::CheckpointInput(const std::string& path)
    : path_(path), left_(verified_size(path)), file_(path) {
  take(checkpoint_header().size());
  head_ = next_block<Checkpoint>();
}

std::optional<coordinator::ShardContents> CheckpointInput::next() {
  if (left_ == 0) return std::nullopt;
  return next_block<coordinator::ShardContents>();
}

std::optional<model::Placement> CheckpointInput::next_placed() {
  if (left_ == 0) return std::nullopt;
  return next_block<model::Placement>();
}

template <class T>
T CheckpointInput::next_block() {
  try {
    return from_bytes<T>(take(from_bytes<std::uint64_t>(take(sizeof(std::uint64_t)))));
  } catch (const std::out_of_range&) {  // the digest is right: made so, not damaged
    refuse(path_, "", "not what this version of berth writes", "start the plan anew");
  }
}

std::string CheckpointInput::take(std::uint64_t bytes) {
  if (bytes > left_) throw std::out_of_range("block of a checkpoint");
  while (read_.size() < bytes && file_.append(read_)) {
  }
  const std::string taken = read_.substr(0, static_cast<std::size_t>(bytes));
  read_.erase(0, taken.size());
  left_ -= bytes;
  return taken;
}

void expect_same_run(const std::string& path, const CheckpointOrigin& made,
                     const CheckpointOrigin& now) {
  if (made.instance_digest != now.instance_digest) {
    refuse(path, "instance", "made from other clusters or jobs than these",
           "give the files of the interrupted run");
  }
  if (made.options != now.options) {
    refuse(
        path, "options",
        fmt::format("made with {}, now asked for {}", printable(without(made.options, now.options)),
                    without(now.options, made.options)),
        "give the options of the interrupted run");
  }
}

void expect_same_run(const std::string& path, const Checkpoint& checkpoint,
                     const std::string& instance_digest, const std::string& options) {
  expect_same_run(path, {checkpoint.instance_digest, checkpoint.options},
                  {instance_digest, options});
}

void expect_checkpoint(const std::string& path, std::string_view bytes) {
  if (!bytes.starts_with(kFirstWords)) {
    refuse(path, "", "not a checkpoint of berth", "give a file that --checkpoint wrote");
  }
  if (!bytes.starts_with(checkpoint_header())) {
    refuse(path, "", "a checkpoint of another build of berth", "start the plan anew");
  }
}

}  // namespace berth::pipeline
