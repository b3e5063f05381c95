// SPDX-License-Identifier: MIT
// glibc gives back what lies at the end of a heap, and large blocks until it has learnt better from
// their coming and going: then it keeps them, too, up to 64 MiB at the end of each thread's heap.
// What lies before the end it keeps until it is asked.
#include "base/free_memory.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace skua::base {

#if defined(__GLIBC__)
namespace {

// From here on the end of a heap is given back. glibc begins with an eighth of it.
constexpr int kept_at_end_bytes = 1024 * 1024;
// Freeing so much makes glibc look at the end of this thread's heap; malloc_trim() does not.
constexpr std::size_t noticed_bytes = 96 * 1024;

}  // namespace

void give_back_free_memory() noexcept {
  ::mallopt(M_TRIM_THRESHOLD, kept_at_end_bytes);
  void* volatile block = std::malloc(noticed_bytes);  // volatile: or the two calls are left out
  std::free(block);
  ::malloc_trim(0);
}
#else
void give_back_free_memory() noexcept {}
#endif

}  // namespace skua::base
