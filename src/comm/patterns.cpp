// SPDX-License-Identifier: Apache-2.0
#include "berth/comm/patterns.hpp"

#include <algorithm>
#include <array>

#include <unistd.h>

namespace berth::comm {
namespace {

using HostName = std::array<char, 256>;

HostName host_name() {
  HostName name{};
  gethostname(name.data(), name.size() - 1);  // on failure all ranks count as one machine
  return name;
}

bool overlap(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  if (a.empty() || b.empty()) return true;
  return std::find_first_of(a.begin(), a.end(), b.begin(), b.end()) != a.end();
}

}  // namespace

int ranks_sharing(const Communicator& comm, std::span<const std::int32_t> cores) {
  const HostName mine = host_name();
  const std::vector<HostName> hosts = comm.all_gather(mine);
  const ByRank<std::int32_t> all = comm.all_gather_by_rank<std::int32_t>(cores);
  int sharing = 0;
  for (int r = 0; r < comm.size(); ++r) {
    if (hosts[static_cast<std::size_t>(r)] == mine && overlap(cores, all[r])) ++sharing;
  }
  return sharing;
}

}  // namespace berth::comm
