// SPDX-License-Identifier: Apache-2.0
#include "peak_memory.hpp"

#include <fstream>
#include <string>

#include <malloc.h>
#include <sys/resource.h>

namespace berth::scale {

void forget_peak_memory() {
  malloc_trim(0);  // unused memory of earlier work would count
  std::ofstream("/proc/self/clear_refs") << "5\n";
}

double peak_memory_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    double kib = 0.0;
    if (word == "VmHWM:" && status >> kib) return kib / 1024.0;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace berth::scale
