// SPDX-License-Identifier: Apache-2.0
#include "gzip.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include <zlib.h>

#include "berth/base/error.hpp"

namespace berth::io {
namespace {

constexpr int kGzipWindow = 15 + 16;                   // zlib: 32 KiB window, gzip wrapper
constexpr std::size_t kMember = std::size_t{4} << 20;  // bytes of text in a member; chosen
constexpr int kLevel = 4;  // measured: half the time of level 6 for 5 % more bytes
constexpr std::size_t kSlice = std::size_t{1} << 30;  // zlib counts in unsigned int

// A file of more text than both is made to fill memory: deflate makes at most 1,032 bytes of one,
// from jobs that differ in their ids alone 25.
constexpr std::size_t kUnjudged = std::size_t{64} << 20;
constexpr std::size_t kTextOfAByte = 500;

Bytef* bytes_of(const char* text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text));  // zlib reads only
}

[[noreturn]] void bad_gzip(const std::string& file, const std::string& problem,
                           const std::string& hint) {
  throw InputError({.file = file, .line = 0, .field = ""}, problem, hint);
}

bool only_zeros(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

}  // namespace

bool has_gz_suffix(std::string_view path) { return path.ends_with(".gz"); }

bool looks_like_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

struct Inflater::InflateStream {
  z_stream z{};
  InflateStream() {
    if (inflateInit2(&z, kGzipWindow) != Z_OK) throw std::bad_alloc();
  }
  ~InflateStream() { inflateEnd(&z); }
  InflateStream(const InflateStream&) = delete;
  InflateStream& operator=(const InflateStream&) = delete;
};

Inflater::Inflater(std::string_view compressed, std::string file)
    : rest_(compressed),
      file_(std::move(file)),
      may_make_(std::max(kUnjudged, kTextOfAByte * compressed.size())),
      stream_(std::make_unique<InflateStream>()) {
  if (compressed.empty()) {
    bad_gzip(file_, "truncated gzip: the file is empty", "fetch or write it again");
  }
}

Inflater::~Inflater() = default;

bool Inflater::at_end() const { return !in_member_ && started_ && only_zeros(rest_); }

void Inflater::begin_member() {
  if (!looks_like_gzip(rest_) && rest_.size() > 1) {
    bad_gzip(file_, started_ ? "bytes after the end of the gzip text" : "not a gzip file",
             started_ ? "" : "a name ending in .gz must hold gzip; rename or compress it");
  }
  inflateReset(&stream_->z);
  in_member_ = started_ = true;
}

/// Inflates as much as zlib gives in one call.
std::size_t Inflater::step(std::span<char> text) {
  z_stream& z = stream_->z;
  const std::size_t in = std::min(rest_.size(), kSlice);
  const std::size_t out = std::min(text.size(), kSlice);
  z.next_in = bytes_of(rest_.data());
  z.avail_in = static_cast<uInt>(in);
  z.next_out = reinterpret_cast<Bytef*>(text.data());
  z.avail_out = static_cast<uInt>(out);
  const int status = inflate(&z, Z_NO_FLUSH);
  rest_.remove_prefix(in - z.avail_in);
  const std::size_t made = out - z.avail_out;
  if (made > may_make_) {
    bad_gzip(file_, "inflates to more than 500 times its size", "no file of jobs or plans does");
  }
  may_make_ -= made;
  if (status == Z_STREAM_END) in_member_ = false;
  if (status == Z_MEM_ERROR) throw std::bad_alloc();
  if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END) {
    bad_gzip(file_, std::string("damaged gzip: ") + (z.msg != nullptr ? z.msg : "unreadable"),
             "the file is corrupt; fetch or write it again");
  }
  if (in_member_ && rest_.empty() && z.avail_out > 0) {
    bad_gzip(file_, "truncated gzip: the file ends in the middle of the compressed text",
             "fetch or write it again");
  }
  return made;
}

std::size_t Inflater::read(std::span<char> text) {
  std::size_t used = 0;
  while (used < text.size() && !at_end()) {
    if (!in_member_) begin_member();
    used += step(text.subspan(used));
  }
  return used;
}

std::string inflate_members(std::string_view compressed, const std::string& file,
                            std::size_t most) {
  Inflater inflater(compressed, file);
  const std::size_t guess = std::max(compressed.size() * 4, std::size_t{1} << 12);
  std::string text(std::min(guess, most + 1), '\0');
  std::size_t used = 0;
  for (;;) {
    used += inflater.read(std::span(text).subspan(used));
    if (used < text.size() || used > most) break;
    text.resize(std::min(text.size() * 3 / 2, most + 1));
  }
  text.resize(used);
  return text;
}

struct Deflater::DeflateStream {
  z_stream z{};
};

Deflater::Deflater() : stream_(std::make_unique<DeflateStream>()) {
  if (deflateInit2(&stream_->z, kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
}

Deflater::~Deflater() { deflateEnd(&stream_->z); }

std::string Deflater::deflate_text(std::string_view text, int flush) {
  z_stream& z = stream_->z;
  std::string out;
  std::size_t used = 0;
  z.next_in = bytes_of(text.data());
  z.avail_in = static_cast<uInt>(text.size());
  int status = Z_OK;
  do {
    out.resize(used + (std::size_t{1} << 16));
    z.next_out = bytes_of(out.data() + used);
    z.avail_out = static_cast<uInt>(out.size() - used);
    status = deflate(&z, flush);
    used = out.size() - z.avail_out;
  } while (flush == Z_FINISH ? status != Z_STREAM_END : z.avail_out == 0);
  out.resize(used);
  return out;
}

std::string Deflater::add(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t part = std::min(text.size(), kMember - in_member_);
    out += deflate_text(text.substr(0, part), Z_NO_FLUSH);
    text.remove_prefix(part);
    in_member_ += part;
    if (in_member_ == kMember) out += finish();
  }
  return out;
}

std::string Deflater::finish() {
  if (in_member_ == 0 && members_ > 0) return {};
  std::string out = deflate_text({}, Z_FINISH);
  deflateReset(&stream_->z);
  in_member_ = 0;
  ++members_;
  return out;
}

}  // namespace berth::io
