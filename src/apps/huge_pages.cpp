// SPDX-License-Identifier: Apache-2.0
#include "huge_pages.hpp"

#include <cstdint>
#include <cstdlib>
#include <limits>

#ifdef __GLIBC__
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace berth::apps {

#ifdef __GLIBC__

void allocate_in_huge_pages(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20;
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_MMAP_MAX, 0);  // large lists lie on the heap too
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, static_cast<int>(kHuge));
  void* volatile heap = std::malloc(bytes);  // volatile: compilers leave out what is unused
  std::free(heap);                           // the heap has grown; two of its pages are touched
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / kHuge * kHuge;
  const auto begin = (end - bytes) / kHuge * kHuge;
  // refused where there are none, which is no fault
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

#else

void allocate_in_huge_pages(std::size_t /*bytes*/) {}

#endif

}  // namespace berth::apps
