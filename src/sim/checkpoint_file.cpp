// SPDX-License-Identifier: Apache-2.0
#include "berth/sim/checkpoint_file.hpp"

#include <algorithm>

#include "berth/base/archive.hpp"
#include "berth/base/build_id.hpp"
#include "berth/base/error.hpp"
#include "berth/io/file.hpp"
#include "berth/model/digest.hpp"

namespace berth::sim {
namespace {

constexpr std::string_view kFirstWords = "berth simulation 1 ";
constexpr std::size_t kDigestSize = 64;  // hexadecimal digits of SHA-256

std::string header() { return std::string(kFirstWords) + std::string(build_id()) + "\n"; }

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw InputError({.file = path, .line = 0, .field = ""}, problem, "simulate from the begin");
}

}  // namespace

void write_checkpoint(const std::string& path, std::string_view input, std::string_view bytes) {
  ByteWriter writer;
  writer(std::string(input), std::string(bytes));
  const std::string text = header() + writer.take();
  io::write_atomically(path, [&](io::AtomicFile& file) {
    file.write(text);
    file.write(model::Sha256().text(text).hex());
  });
}

std::string read_checkpoint(const std::string& path, std::string_view input) {
  const std::string file = io::read_file(path);
  if (!file.starts_with(kFirstWords)) refuse(path, "not a checkpoint of a simulation");
  if (!file.starts_with(header())) refuse(path, "a checkpoint of another build of berth");
  const std::size_t size = file.size() - std::min(file.size(), kDigestSize);
  const std::string_view text = std::string_view(file).substr(0, size);
  if (model::Sha256().text(text).hex() != std::string_view(file).substr(size))
    refuse(path, "cut short or damaged");
  ByteReader reader(text.substr(header().size()));
  std::string of, bytes;
  reader(of, bytes);
  if (of != input) refuse(path, "made from other files or options");
  return bytes;
}

}  // namespace berth::sim
