// SPDX-License-Identifier: MIT
// glibc returns free memory at the end of a heap, and large blocks until it has seen them come
// and go: then it keeps these, too, up to 64 MiB at the end of each thread's heap. Free memory
// before the end is kept until malloc_trim().
#include "base/memory.hpp"

#include <cstddef>
#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(_WIN32)
#include <windows.h>
#else
#include <sys/mman.h>
#endif

namespace skua::base {

#if defined(_WIN32)
void* allocate_pages(std::size_t size_bytes) noexcept {
  return ::VirtualAlloc(nullptr, size_bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void free_pages(void* pages, std::size_t /*size_bytes*/) noexcept {
  ::VirtualFree(pages, 0, MEM_RELEASE);
}
#else
void* allocate_pages(std::size_t size_bytes) noexcept {
  void* const pages =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages != MAP_FAILED ? pages : nullptr;
}

void free_pages(void* pages, std::size_t size_bytes) noexcept { ::munmap(pages, size_bytes); }
#endif

#if defined(__GLIBC__)
namespace {

// More free memory than this at the end of a heap is returned. glibc's default is an eighth.
constexpr int kept_at_end_bytes = 1024 * 1024;
// Freeing this much makes glibc trim the end of this thread's heap, unlike malloc_trim().
constexpr std::size_t noticed_bytes = 96 * 1024;

}  // namespace

void give_back_free_memory() noexcept {
  ::mallopt(M_TRIM_THRESHOLD, kept_at_end_bytes);
  void* volatile block = std::malloc(noticed_bytes);  // volatile: or both calls are optimized out
  std::free(block);
  ::malloc_trim(0);
}
#else
void give_back_free_memory() noexcept {}
#endif

}  // namespace skua::base
