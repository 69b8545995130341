// SPDX-License-Identifier: Apache-2.0
#include "gzip.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "berth/base/assert.hpp"
#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw SystemError(path + ": cannot write: " + std::strerror(error));
}

/// write(2) past RLIMIT_FSIZE sends SIGXFSZ, which kills: blocks the signal, so that EFBIG returns.
ssize_t write_quietly(int fd, const char* bytes, std::size_t size) {
  sigset_t limit;
  sigset_t before;
  sigemptyset(&limit);
  sigaddset(&limit, SIGXFSZ);
  pthread_sigmask(SIG_BLOCK, &limit, &before);
  const ssize_t written = ::write(fd, bytes, size);
  const int error = errno;
  if (written < 0 && error == EFBIG) {
    const timespec now{};
    sigtimedwait(&limit, nullptr, &now);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

/// The file that links lead to, so that replacing it keeps the links.
std::filesystem::path real_target(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::weakly_canonical(path, ignored);
  return ignored || real.empty() ? std::filesystem::path(path) : real;
}

bool is_device(const std::filesystem::path& target) {
  struct stat target_status {};
  return ::stat(target.c_str(), &target_status) == 0 && !S_ISREG(target_status.st_mode) &&
         !S_ISDIR(target_status.st_mode);
}

}  // namespace

struct AtomicFile::PendingOutput {
  std::string path;              // as the user named it, for messages
  std::filesystem::path target;  // links followed
  std::string temporary;         // empty without a name: a device, O_TMPFILE, and once renamed
  bool nameless = false;         // opened by O_TMPFILE
  int fd = -1;
  std::optional<Deflater> deflater;

  explicit PendingOutput(std::string named) : path(std::move(named)), target(real_target(path)) {}
  PendingOutput(const PendingOutput&) = delete;
  PendingOutput& operator=(const PendingOutput&) = delete;
  ~PendingOutput() {
    if (fd >= 0) ::close(fd);
    if (!temporary.empty()) ::unlink(temporary.c_str());
  }

  void open_beside();
  void open_nameless(const std::filesystem::path& folder);
  void name_beside();
  template <class Take>
  void take_name(const Take& take);
  void put(std::string_view bytes);
  void close_synced();
  void sync_folder() const;
};

/// A file without a name in the folder (Linux, most local file systems): nothing is left of it when
/// the program is killed. Leaves fd = -1 where there are none.
void AtomicFile::PendingOutput::open_nameless(const std::filesystem::path& folder) {
  fd = ::open(folder.empty() ? "." : folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
  if (fd < 0) return;
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  nameless = ::access(link.c_str(), F_OK) == 0;  // which gives it a name later
  if (!nameless) ::close(std::exchange(fd, -1));
}

/// Sets `temporary` to the first free name beside the target. @param take  false, with errno: taken
template <class Take>
void AtomicFile::PendingOutput::take_name(const Take& take) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; temporary.empty(); ++attempt) {
    const std::string name = "." + target.filename().string() + "." + std::to_string(::getpid()) +
                             "-" + std::to_string(attempt) + ".tmp";
    const std::string candidate = (target.parent_path() / name).string();
    if (take(candidate.c_str())) {
      temporary = candidate;
    } else if (errno != EEXIST || attempt == kAttempts) {
      cannot_write(path, errno);
    }
  }
}

void AtomicFile::PendingOutput::name_beside() {
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  take_name([&](const char* name) {
    return ::linkat(AT_FDCWD, link.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
  });
}

/// Opens a new file in the target's folder, with the mode of the file that it replaces, if any.
void AtomicFile::PendingOutput::open_beside() {
  struct stat earlier {};
  const bool replaces = ::stat(target.c_str(), &earlier) == 0;
  if (replaces && S_ISDIR(earlier.st_mode)) cannot_write(path, EISDIR);
  open_nameless(target.parent_path());
  if (fd < 0) {
    take_name([&](const char* name) {
      fd = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      return fd >= 0;
    });
  }
  if (replaces) static_cast<void>(::fchmod(fd, earlier.st_mode & 07777));
}

void AtomicFile::PendingOutput::put(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write_quietly(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) cannot_write(path, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void AtomicFile::PendingOutput::close_synced() {
  if (::fsync(fd) != 0 && errno != EINVAL && errno != EROFS) cannot_write(path, errno);
  if (nameless) name_beside();
  if (::close(std::exchange(fd, -1)) != 0) cannot_write(path, errno);
}

/// Syncs the folder: only then does the rename survive a crash. Some file systems refuse it.
void AtomicFile::PendingOutput::sync_folder() const {
  const auto folder = target.has_parent_path() ? target.parent_path() : ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;  // writable but not readable: the folder cannot be synced
  const int error = ::fsync(directory) == 0 ? 0 : errno;
  ::close(directory);
  if (error == EIO || error == ENOSPC) cannot_write(path, error);
}

AtomicFile::AtomicFile(std::string path)
    : state_(std::make_unique<PendingOutput>(std::move(path))) {
  if (is_device(state_->target)) {
    state_->fd = ::open(state_->target.c_str(), O_WRONLY | O_CLOEXEC);
    if (state_->fd < 0) cannot_write(state_->path, errno);
  } else {
    state_->open_beside();
  }
  if (has_gz_suffix(state_->path)) state_->deflater.emplace();
}

AtomicFile::AtomicFile(AtomicFile&&) noexcept = default;
AtomicFile::~AtomicFile() = default;

void AtomicFile::write(std::string_view text) {
  BERTH_EXPECT(state_->fd >= 0);
  if (state_->deflater) {
    state_->put(state_->deflater->add(text));
  } else {
    state_->put(text);
  }
}

void AtomicFile::commit() {
  BERTH_EXPECT(state_->fd >= 0);
  if (state_->deflater) state_->put(state_->deflater->finish());
  state_->close_synced();
  if (state_->temporary.empty()) return;
  if (::rename(state_->temporary.c_str(), state_->target.c_str()) != 0) {
    cannot_write(state_->path, errno);
  }
  state_->temporary.clear();
  state_->sync_folder();
}

void expect_writable(const std::string& path) {
  if (is_device(real_target(path))) return;
  const AtomicFile probe(path);  // never committed: its destructor removes the temporary file
}

void write_atomically(const std::string& path, const std::function<void(AtomicFile&)>& writer) {
  AtomicFile file(path);
  writer(file);
  file.commit();
}

}  // namespace berth::io
