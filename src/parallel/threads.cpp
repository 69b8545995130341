// SPDX-License-Identifier: Apache-2.0
#include "berth/parallel/threads.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include <hwloc.h>
#include <omp.h>
#include <tbb/global_control.h>

#include "berth/base/assert.hpp"

namespace berth::parallel {

struct ThreadLimit::Controls {
  explicit Controls(int threads)
      : tbb(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
        openmp_before(omp_get_max_threads()) {
    omp_set_num_threads(threads);
  }
  ~Controls() { omp_set_num_threads(openmp_before); }
  Controls(const Controls&) = delete;
  Controls& operator=(const Controls&) = delete;

  tbb::global_control tbb;
  int openmp_before;
};

namespace {

int checked(int threads) {
  BERTH_EXPECT(threads >= 1);
  return threads;
}

}  // namespace

ThreadLimit::ThreadLimit(int threads) : controls_(std::make_unique<Controls>(checked(threads))) {}
ThreadLimit::~ThreadLimit() = default;

int thread_limit() {
  return static_cast<int>(
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism));
}

namespace {

std::vector<std::int32_t> find_bound_cores() {
  std::vector<std::int32_t> cores;
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return cores;
  hwloc_bitmap_t bound = hwloc_bitmap_alloc();
  if (hwloc_topology_load(topology) == 0 &&
      hwloc_get_cpubind(topology, bound, HWLOC_CPUBIND_PROCESS) == 0) {
    hwloc_obj_t core = nullptr;
    while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core)) != nullptr) {
      if (hwloc_bitmap_intersects(core->cpuset, bound) == 0) continue;
      cores.push_back(static_cast<std::int32_t>(hwloc_bitmap_first(core->cpuset)));
    }
  }
  hwloc_bitmap_free(bound);
  hwloc_topology_destroy(topology);
  std::sort(cores.begin(), cores.end());
  return cores;
}

}  // namespace

std::vector<std::int32_t> bound_cores() {
  static const std::vector<std::int32_t> cores = find_bound_cores();
  return cores;
}

int default_threads(int ranks_sharing) {
  BERTH_EXPECT(ranks_sharing >= 1);
  if (const char* const wanted = std::getenv("OMP_NUM_THREADS")) {
    const long threads = std::strtol(wanted, nullptr, 10);  // "4,2" asks for 4 on the outer level
    if (1 <= threads && threads <= 4096) return static_cast<int>(threads);
  }
  std::size_t cores = bound_cores().size();
  if (cores == 0) cores = std::max(1U, std::thread::hardware_concurrency());
  return std::max(1, static_cast<int>(cores) / ranks_sharing);
}

}  // namespace berth::parallel
