// SPDX-License-Identifier: Apache-2.0
#include "plan_cache.hpp"

#include "cache_folder.hpp"
#include "options.hpp"
#include "plan_image.hpp"

#include <algorithm>
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
  if (!folder_.empty()) key_ = key();
}

std::string PlanCache::path(const std::string& key) const { return folder_ + "/" + key + ".plan"; }

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

std::optional<PlannedInstance> PlanCache::find() const {
  if (!key_) return std::nullopt;
  const std::string name = path(*key_);
  const OwnFile file = read_own_file(name);
  std::string fault = file.fault;
  if (fault.empty() && file.bytes) {
    if (auto read = from_image(*file.bytes, *key_)) {
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
}

}  // namespace berth::apps
