// SPDX-License-Identifier: Apache-2.0
#include "plan_cache.hpp"

#include "cache_folder.hpp"
#include "huge_pages.hpp"
#include "options.hpp"
#include "plan_image.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <fmt/format.h>

#include "berth/base/build_id.hpp"
#include "berth/base/error.hpp"
#include "berth/base/printable.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"
#include "berth/parallel/loops.hpp"

namespace berth::apps {
namespace {

/// Smaller files are read in less time than a person notices.
constexpr std::uintmax_t kLeastBytes = std::uintmax_t{16} << 20;
constexpr std::size_t kImages = 4;  ///< kept in a folder
constexpr std::size_t kNotes = 16;  ///< the same image may be of several copies of the files
constexpr std::chrono::seconds kSettled{2};  ///< the coarsest clock of a file system in use (FAT)
/// Memory of a command that reads an image and answers, in bytes of the image: about 3 of
/// 250,000 jobs.
constexpr std::size_t kHeapPerByte = 4;

bool worth_keeping(const CacheFlags& flags, const std::vector<std::string>& files) {
  std::uintmax_t bytes = 0;
  for (const std::string& file : files) {
    const auto size = regular_size(file);
    if (!size) return false;
    bytes += *size;
  }
  return !flags.folder.empty() || bytes >= kLeastBytes;
}

}  // namespace

void add_cache(CLI::App& command, CacheFlags& flags) {
  command
      .add_option("--cache", flags.folder,
                  "Folder for an index of what is read, so that the next question about the same "
                  "files is quick; by default the user's, for files of 16 MiB and more")
      ->check(file_name())
      ->excludes(
          command.add_flag("--no-cache", flags.off, "Neither look for an index nor keep one"));
}

PlanCache::PlanCache(const CacheFlags& flags, std::vector<std::string> files)
    : files_(std::move(files)) {
  if (flags.off || build_id() == "none" || !worth_keeping(flags, files_)) return;
  folder_ = flags.folder.empty() ? user_cache_folder() : flags.folder;
  if (folder_.empty()) return;
  state_ = state();
  key_ = remembered_key();
  is_remembered_ = key_.has_value();
  if (!key_) key_ = key();
}

std::string PlanCache::path(const std::string& key) const { return folder_ + "/" + key + ".plan"; }
std::string PlanCache::note() const { return folder_ + "/" + state_->digest + ".state"; }

/// Of the states of the files (file_state). None when one cannot be seen.
std::optional<PlanCache::State> PlanCache::state() const {
  State state;
  model::Sha256 sha;
  sha.name("berth plan files").name(build_id());
  for (const std::string& path : files_) {
    const auto file = file_state(path);
    if (!file) return std::nullopt;
    sha.integer(path.ends_with(".gz") ? 1 : 0);
    for (const std::int64_t word : file->words) sha.integer(word);
    state.changed = std::max(state.changed, file->changed);
  }
  state.digest = sha.hex();
  return state;
}

std::optional<std::string> PlanCache::remembered_key() const {
  if (!state_) return std::nullopt;
  const OwnFile found = map_own_file(note());
  if (!found.file || found.file->bytes().size() != state_->digest.size()) return std::nullopt;
  return std::string(found.file->bytes());
}

/// Notes which image belongs to the states of the files, when they have not changed since before
/// they were digested nor just before that: in the same tick of a clock they could change again.
void PlanCache::remember() const {
  const auto now = state();
  if (is_remembered_ || !state_ || !now || now->digest != state_->digest) return;
  if (std::chrono::system_clock::now().time_since_epoch() - now->changed < kSettled) return;
  try {
    io::write_atomically(note(), [&](io::AtomicFile& file) { file.write(*key_); });
    make_private(note());
  } catch (const SystemError&) {
    return;  // the files will be digested again
  }
  remove_oldest(folder_, ".state", kNotes);
}

/// Of the bytes of the files and of their kinds, since a `.gz` file is read otherwise. None when
/// one cannot be read.
std::optional<std::string> PlanCache::key() const {
  std::vector<std::optional<std::string>> digests(files_.size());
  parallel::run_tasks(files_.size(), [&](std::size_t f) { digests[f] = file_digest(files_[f]); });
  model::Sha256 sha;
  sha.name("berth plan image").name(build_id());
  for (std::size_t f = 0; f < files_.size(); ++f) {
    if (!digests[f]) return std::nullopt;
    sha.integer(files_[f].ends_with(".gz") ? 1 : 0).name(*digests[f]);
  }
  return sha.hex();
}

std::optional<PlannedInstance> PlanCache::find(Heap heap) {
  auto read = key_ ? open(path(*key_), heap) : std::nullopt;
  if (!read && is_remembered_) {  // the image is gone or damaged, or the note is
    is_remembered_ = false;
    const auto noted = std::exchange(key_, key());
    if (key_ && key_ != noted) read = open(path(*key_), heap);
  }
  if (read) remember();
  return read;
}

std::optional<PlannedInstance> PlanCache::open(const std::string& name, Heap heap) const {
  const OwnFile found = map_own_file(name);
  std::string fault = found.fault;
  if (fault.empty() && found.file) {
    if (heap == Heap::of_huge_pages) {
      allocate_in_huge_pages(kHeapPerByte * found.file->bytes().size());
    }
    if (auto read = from_image(found.file->bytes(), *key_)) {
      touch(name);
      return read;
    }
    fault = "it is damaged";
  }
  if (!fault.empty()) {
    fmt::print(stderr, "berth: warning: {}: not used: {}\n", printable(name), fault);
  }
  return std::nullopt;
}

void PlanCache::keep(const PlannedInstance& read) const {
  if (!key_ || read.plan.in_time || key() != key_ || !make_own_folder(folder_)) return;
  try {
    const std::string image = to_image(read, *key_);
    io::write_atomically(path(*key_), [&](io::AtomicFile& file) { file.write(image); });
    make_private(path(*key_));
  } catch (const SystemError&) {
    return;  // the files will be read again
  }
  remove_oldest(folder_, ".plan", kImages);
  remember();
}

}  // namespace berth::apps
