// SPDX-License-Identifier: MIT
#include "support/descriptors.hpp"

#include <fcntl.h>

namespace skua::support {

bool is_non_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) != 0; }

bool is_inherited(int descriptor) { return (::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) == 0; }

bool is_open_socket(int descriptor) { return ::fcntl(descriptor, F_GETFD) >= 0; }

}  // namespace skua::support
