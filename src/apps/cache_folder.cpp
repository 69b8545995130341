// SPDX-License-Identifier: Apache-2.0
#include "cache_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/model/digest.hpp"

namespace berth::apps {
namespace {

namespace fs = std::filesystem;

/// A file descriptor that is closed at the end.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int descriptor() const { return fd_; }
  [[nodiscard]] bool status(struct stat& status) const { return ::fstat(fd_, &status) == 0; }
  /// Bytes read; 0 at the end, -1 after a failure.
  [[nodiscard]] ssize_t read(char* to, std::size_t most) const {
    for (;;) {
      const ssize_t got = ::read(fd_, to, most);
      if (got >= 0 || errno != EINTR) return got;
    }
  }

 private:
  int fd_;
};

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string user_cache_folder() {
  const std::string cache = variable("XDG_CACHE_HOME"), home = variable("HOME");
  if (cache.starts_with('/')) return cache + "/berth";
  return home.starts_with('/') ? home + "/.cache/berth" : std::string();
}

bool make_own_folder(const std::string& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return true;
  const fs::path path(folder);
  if (path.has_parent_path()) fs::create_directories(path.parent_path(), error);
  return ::mkdir(folder.c_str(), S_IRWXU) == 0 || fs::is_directory(folder, error);
}

std::optional<std::uintmax_t> regular_size(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return static_cast<std::uintmax_t>(status.st_size);
}

std::optional<FileState> file_state(const std::string& path) {
  const OpenFile file(path, O_RDONLY);  // which makes file servers say what is true now
  struct stat status {};
  if (!file.is_open() || !file.status(status) || !S_ISREG(status.st_mode)) return std::nullopt;
  const auto nanoseconds = [](const timespec& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  const std::chrono::nanoseconds changed = nanoseconds(status.st_ctim);
  return FileState{
      .words = {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
                status.st_size, nanoseconds(status.st_mtim).count(), changed.count()},
      .changed = changed};
}

std::optional<std::string> file_digest(const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const OpenFile file(path, O_RDONLY);
  if (!file.is_open()) return std::nullopt;
  std::vector<char> piece(kPiece);
  model::Sha256 sha;
  for (;;) {
    const ssize_t got = file.read(piece.data(), piece.size());
    if (got < 0) return std::nullopt;
    if (got == 0) return sha.hex();
    sha.text({piece.data(), static_cast<std::size_t>(got)});
  }
}

MappedFile::MappedFile(int descriptor, std::size_t size) {
  if (size == 0) return;
  void* const at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, descriptor, 0);
  if (at != MAP_FAILED) bytes_ = {static_cast<const char*>(at), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<char*>(bytes_.data()), bytes_.size());
}

OwnFile map_own_file(const std::string& path) {
  const OpenFile file(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (!file.is_open()) {
    return {.file = {}, .fault = errno == ELOOP ? "it is a link" : ""};
  }
  struct stat status {};
  if (!file.status(status) || !S_ISREG(status.st_mode))
    return {.file = {}, .fault = "it is no file"};
  if (status.st_uid != ::geteuid()) return {.file = {}, .fault = "it is somebody else's"};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return {.file = {}, .fault = "others may write it"};
  }
  return {.file = MappedFile(file.descriptor(), static_cast<std::size_t>(status.st_size)),
          .fault = ""};
}

void make_private(const std::string& path) { (void)::chmod(path.c_str(), S_IRUSR | S_IWUSR); }

void touch(const std::string& path) { (void)::utimensat(AT_FDCWD, path.c_str(), nullptr, 0); }

void remove_oldest(const std::string& folder, std::string_view suffix, std::size_t kept) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    const auto time = fs::last_write_time(at->path(), gone);
    if (!gone && at->path().native().ends_with(suffix)) files.emplace_back(time, at->path());
  }
  std::ranges::sort(files, std::greater<>());
  for (std::size_t i = kept; i < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace berth::apps
