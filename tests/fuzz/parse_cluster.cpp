// SPDX-License-Identifier: Apache-2.0
// Any text is a cluster or refused; a cluster survives being written and read again.
#include "fuzz.hpp"

#include "berth/io/cluster_file.hpp"
#include "berth/model/instance.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace berth;
  const std::string text = fuzz::text_of(bytes, size);
  model::Instance read, again;
  std::string written;
  if (!fuzz::accepted([&] { read.cluster = io::parse_cluster(text, "cluster.yaml"); })) return 0;
  if (!fuzz::accepted([&] { written = io::cluster_text(read.cluster); })) return 0;  // brackets
  again.cluster = io::parse_cluster(written, "written");
  fuzz::require(model::instance_digest(read) == model::instance_digest(again), "round trip");
  return 0;
}
