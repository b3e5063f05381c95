// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <functional>
#include <memory>
#include <type_traits>

#include "skua/config.hpp"

namespace skua {

namespace detail {

/// An object of any type for each thread; see PerThread.
class SKUA_API PerThreadObjects final {
 public:
  explicit PerThreadObjects(std::function<std::shared_ptr<void>()> make);
  PerThreadObjects(const PerThreadObjects&) = delete;
  PerThreadObjects& operator=(const PerThreadObjects&) = delete;
  ~PerThreadObjects();

  [[nodiscard]] void* here() const;

 private:
  struct Loops;

  std::function<std::shared_ptr<void>()> make_;
  std::unique_ptr<Loops> loops_;
};

}  // namespace detail

/// An object for each thread that runs a loop, as those of a server do: for types whose objects
/// belong to one thread, like Client. A thread makes its own when it first asks.
///
/// ```cpp
/// const skua::PerThread<skua::Client> client;
/// router.get("/weather", [&client]() -> skua::Task<skua::Response> {
///   auto answer = co_await client->get("http://weather.example.com/now");
///   if (!answer) throw skua::HttpError(skua::Status::BadGateway);
///   auto text = co_await answer->text();
///   co_return text.value();
/// });
/// ```
/// Any thread may make and destroy it; it must outlive the tasks that use its objects.
///
/// Lifetime:  an object ends on its thread: with the loop, or soon after the PerThread.
template <class T>
class PerThread final {
 public:
  /// Each object is a T(arguments...): of copies, as several threads may make theirs at once.
  template <class... Arguments>
    requires std::is_constructible_v<T, const Arguments&...>
  explicit PerThread(Arguments... arguments)
      : objects_([arguments...]() -> std::shared_ptr<void> {
          return std::make_shared<T>(arguments...);
        }) {}

  /// Returns this thread's object.
  ///
  /// Ends with: std::logic_error on a thread without a loop; what the constructor of T throws.
  [[nodiscard]] T& here() const { return *static_cast<T*>(objects_.here()); }
  [[nodiscard]] T* operator->() const { return &here(); }

 private:
  detail::PerThreadObjects objects_;
};

}  // namespace skua
