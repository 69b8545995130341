// SPDX-License-Identifier: Apache-2.0
// Any bytes inflate or are refused; what Berth deflates comes back, as one member or as many.
#include "fuzz.hpp"
#include "gzip.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string text = fuzz::text_of(bytes, size);
  fuzz::accepted([&] { io::inflate_members(text, "x.gz"); });
  io::Deflater deflater;
  std::string deflated = deflater.add(text.substr(0, size / 2));
  deflated += deflater.add(text.substr(size / 2));
  deflated += deflater.finish();
  fuzz::require(io::inflate_members(deflated, "x.gz") == text, "round trip");
  fuzz::require(io::inflate_members(deflated + deflated, "x.gz") == text + text, "two members");
  return 0;
}
