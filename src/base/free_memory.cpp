// SPDX-License-Identifier: MIT
// glibc gives back what lies at the end of a heap, and large blocks until it has learnt better from
// their coming and going. The rest it keeps until it is asked.
#include "base/free_memory.hpp"

#include <cstdlib>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

namespace skua::base {

void give_back_free_memory() noexcept {
#if defined(__GLIBC__)
  ::malloc_trim(0);
#endif
}

}  // namespace skua::base
