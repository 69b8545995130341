// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "berth/io/file.hpp"

namespace berth::io {

[[nodiscard]] bool has_gz_suffix(std::string_view path);
[[nodiscard]] bool looks_like_gzip(std::string_view bytes);

/// Inflates gzip members and joins their text; zero bytes after the last one are padding.
class Inflater {
 public:
  /// @param compressed  must outlive this
  /// @param file        for messages
  Inflater(std::string_view compressed, std::string file);
  ~Inflater();
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  /// Fills `text` and returns its size, which is smaller only at the end.
  /// @throws InputError: not gzip, truncated, damaged, too much text for its size
  std::size_t read(std::span<char> text);

  [[nodiscard]] std::size_t left() const { return rest_.size(); }  ///< compressed bytes

 private:
  struct InflateStream;
  [[nodiscard]] bool at_end() const;
  void begin_member();
  std::size_t step(std::span<char> text);

  std::string_view rest_;
  std::string file_;
  std::size_t may_make_;  ///< bytes of text that it may still hold
  std::unique_ptr<InflateStream> stream_;
  bool in_member_ = false;
  bool started_ = false;
};

/// Inflates a whole file, or the first `most` + 1 bytes of its text.
std::string inflate_members(std::string_view compressed, const std::string& file,
                            std::size_t most = kMostText);

/// Deflates text into gzip members.
class Deflater {
 public:
  Deflater();
  ~Deflater();
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  std::string add(std::string_view text);  ///< returns the bytes that are ready; may be none
  std::string finish();  ///< returns the remaining bytes; an empty text gives one empty member

 private:
  std::string deflate_text(std::string_view text, int flush);

  struct DeflateStream;
  std::unique_ptr<DeflateStream> stream_;
  std::size_t in_member_ = 0;
  std::size_t members_ = 0;
};

}  // namespace berth::io
