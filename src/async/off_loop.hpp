// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <type_traits>
#include <utility>

#include "skua/async.hpp"
#include "skua/task.hpp"

namespace skua::async {

/// Calls a function, or a member of what the first value points to, with copies of the values on
/// the offload pool. Unlike offload(), it may be given values that are not trivial where it is
/// awaited:
///
/// ```cpp
/// const Result<void> written = co_await off_loop(&PartWriter::flush, writer);
/// ```
/// Waits for: the pool.
/// Ends with: what the function throws; Exception(Errc::Overloaded) if the queue is full.
template <class F, class... Values>
Task<std::invoke_result_t<const F&, const Values&...>> off_loop(F function,
                                                                const Values&... values) {
  static_assert(std::is_trivially_copyable_v<F>, "it would be destroyed twice by GCC 12");
  auto call = [function, values...] { return std::invoke(function, values...); };
  return detail::offload_kept(std::move(call), nullptr);
}

}  // namespace skua::async
