// SPDX-License-Identifier: MIT
// C++ versions older than skua needs; see routes.cpp for the form.
#if CASE == 0
// case 0 -std=c++17: skua needs C\+\+20
#include <skua.hpp>
#elif CASE == 1
// case 1 -std=c++17: skua needs C\+\+20
#include <skua/router.hpp>
#elif CASE == 2
// case 2 -std=c++17: skua needs C\+\+20
#include <skua/server.hpp>
#elif CASE == 3
// case 3 -std=c++17: skua needs C\+\+20
#include <skua/client.hpp>
#elif CASE == 4
// case 4 -std=c++17: skua needs C\+\+20
#include <skua/blocking.hpp>
#elif CASE == 6
// case 6 -std=c++17: skua needs C\+\+20
#include <skua/async.hpp>
#elif CASE == 7
// case 7 -std=c++17: skua needs C\+\+20
#include <skua/response.hpp>
#elif CASE == 8
// case 8 -std=c++17: skua needs C\+\+20
#include <skua/bytes.hpp>
#elif CASE == 5
// case 5 -std=c++20: compiles
#include <skua.hpp>
static_assert(SKUA_VERSION >= 100);
using namespace skua::literals;
static_assert(1h == 60min && 64_MiB == 65'536_KiB);
static_assert(skua::to_string(skua::BackendChoice::IoUring) == "io_uring");
#endif
