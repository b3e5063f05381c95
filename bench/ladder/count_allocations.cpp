// SPDX-License-Identifier: MIT
//
// A library for LD_PRELOAD that counts allocations. In: LADDER_ALLOCATIONS, the name of a file of
// eight bytes. Out: the number of calls of malloc() and its siblings so far, in that file.
// The idea: the file is mapped into memory, so that others can read the count at any time.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" {
// The functions behind glibc's malloc() and its siblings.
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);
}

namespace {

using Count = std::atomic<std::uint64_t>;

Count before_main;
Count* counted = &before_main;

__attribute__((constructor)) void map_file() {
  const char* const path = std::getenv("LADDER_ALLOCATIONS");
  const int fd = path == nullptr ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) return;
  void* const memory = mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (memory != MAP_FAILED) counted = static_cast<Count*>(memory);
}

void count_one() { counted->fetch_add(1, std::memory_order_relaxed); }

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  count_one();
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) {
  count_one();
  return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) {
  count_one();
  return __libc_realloc(old, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  count_one();
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  count_one();
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}
}
