// SPDX-License-Identifier: Apache-2.0
#include "gzip.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "berth/base/error.hpp"
#include "berth/io/file.hpp"

namespace berth::io {
namespace {

[[noreturn]] void cannot_read(const std::string& path, int error) {
  throw InputError({.file = path, .line = 0, .field = ""},
                   std::string("cannot read: ") + std::strerror(error));
}

const dev_t kNull = makedev(1, 3);  // /dev/null on Linux

/// Seconds that a named pipe may be without a writer. Chosen, not tuned.
constexpr int kWriterSeconds = 10;

/// True when a process has the pipe open for writing, or has written to it. A writer that waits
/// lets tee fail; without a writer tee returns 0.
bool has_writer(int pipe) {
  pollfd now{.fd = pipe, .events = POLLIN, .revents = 0};
  if (::poll(&now, 1, 0) > 0) return true;  // data, or the last writer has left
  std::array<int, 2> copy{};
  if (::pipe2(copy.data(), O_CLOEXEC) != 0) return true;
  const ssize_t copied = ::tee(pipe, copy[1], 1, SPLICE_F_NONBLOCK);
  ::close(copy[0]);
  ::close(copy[1]);
  return copied != 0;
}

/// Waits for a writer of a named pipe: opening it would block for ever without one.
bool wait_for_writer(int pipe) {
  constexpr int kTries = 20;  // a second
  for (int i = 0; i < kTries * kWriterSeconds; ++i) {
    if (has_writer(pipe)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kTries));
  }
  return false;
}

/// A file open for reading. Its size is only an estimate: a pipe has none, a file may grow.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : path_(path), fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) cannot_read(path, errno);
    struct stat found {};
    if (::fstat(fd_, &found) != 0) return;
    if (S_ISREG(found.st_mode)) size_ = static_cast<std::size_t>(found.st_size);
    const bool device = S_ISCHR(found.st_mode) || S_ISBLK(found.st_mode);
    if (device && found.st_rdev != kNull) refuse("is a device", "give a file or a pipe");
    if (S_ISFIFO(found.st_mode) && !wait_for_writer(fd_)) {
      refuse("is a pipe that nobody writes to",
             "it had no writer for " + std::to_string(kWriterSeconds) + " s");
    }
    ::fcntl(fd_, F_SETFL, O_RDONLY);  // reads wait for data
  }
  ~OpenFile() { ::close(fd_); }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] std::size_t size() const { return size_; }  ///< 0: unknown

  /// Fills the span and returns its size, which is smaller only at the end.
  std::size_t read(std::span<char> bytes) const {
    std::size_t used = 0;
    while (used < bytes.size()) {
      const ssize_t got = ::read(fd_, bytes.data() + used, bytes.size() - used);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) cannot_read(path_, errno);
      if (got == 0) break;
      used += static_cast<std::size_t>(got);
    }
    return used;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem, const std::string& hint) const {
    ::close(fd_);
    throw InputError({.file = path_, .line = 0, .field = ""}, problem, hint);
  }

  std::string path_;
  int fd_;
  std::size_t size_ = 0;
};

[[noreturn]] void too_long(const std::string& path, std::size_t most) {
  throw InputError({.file = path, .line = 0, .field = ""},
                   "holds more than " + std::to_string(most >> 20) + " MiB of text");
}

std::string read_bytes(const std::string& path, std::size_t most) {
  const OpenFile file(path);
  std::string bytes(file.size() > 0 ? file.size() + 1 : std::size_t{1} << 16, '\0');
  std::size_t used = 0;
  for (;;) {
    used += file.read(std::span(bytes).subspan(used));
    if (used < bytes.size()) break;
    if (used > most) too_long(path, most);
    bytes.resize(bytes.size() * 2);
  }
  if (used > most) too_long(path, most);
  bytes.resize(used);
  return bytes;
}

void refuse_gzip(const std::string& path, std::string_view bytes) {
  if (!looks_like_gzip(bytes)) return;
  throw InputError({.file = path, .line = 0, .field = ""}, "is gzip, but its name does not say so",
                   "let the name end in .gz");
}

}  // namespace

struct PieceReader::OpenInput {
  explicit OpenInput(const std::string& named) : path(named) {
    if (!has_gz_suffix(path)) {
      file.emplace(path);
      return;
    }
    compressed = read_bytes(path, kMostText);
    inflater.emplace(compressed, path);
  }

  std::string path;
  std::optional<OpenFile> file;  // plain
  std::size_t used = 0;          // bytes of `file` read so far
  std::string compressed;        // of a .gz file
  std::optional<Inflater> inflater;
};

PieceReader::PieceReader(const std::string& path) : state_(std::make_unique<OpenInput>(path)) {}
PieceReader::PieceReader(PieceReader&&) noexcept = default;
PieceReader::~PieceReader() = default;

bool PieceReader::append(std::string& text, std::size_t size) {
  OpenInput& s = *state_;
  const std::size_t before = text.size();
  text.resize(before + size);
  const auto piece = std::span(text).subspan(before);
  const std::size_t got = s.inflater ? s.inflater->read(piece) : s.file->read(piece);
  text.resize(before + got);
  if (s.file && s.used == 0) refuse_gzip(s.path, std::string_view(text).substr(before));
  s.used += got;
  return got > 0;
}

void PieceReader::refuse(const std::string& problem) const {
  throw InputError({.file = state_->path, .line = 0, .field = ""}, problem);
}

double PieceReader::part_read() const {
  const OpenInput& s = *state_;
  const std::size_t all = s.inflater ? s.compressed.size() : s.file->size();
  const std::size_t read = s.inflater ? all - s.inflater->left() : s.used;
  return all == 0 ? 1.0 : static_cast<double>(read) / static_cast<double>(all);
}

std::string read_file(const std::string& path, std::size_t most) {
  const bool gz = has_gz_suffix(path);
  std::string bytes = read_bytes(path, gz ? kMostText : most);
  if (gz) {
    std::string text = inflate_members(bytes, path, most);
    if (text.size() > most) too_long(path, most);
    return text;
  }
  refuse_gzip(path, bytes);
  return bytes;
}

}  // namespace berth::io
