// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "skua/path_parameter.hpp"
#include "skua/prepared_response.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"

namespace skua::detail {

template <class... A>
struct Types {
  static constexpr std::size_t count = sizeof...(A);
};

// What a function, a pointer to one, or an object with one operator() takes and returns.
template <class F>
struct Signature {
  static constexpr bool is_known = false;
};
template <class F>
  requires requires { &F::operator(); }
struct Signature<F> : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  static constexpr bool is_known = true;
  static constexpr bool is_mutable = false;
  using Return = R;
  using Arguments = Types<A...>;
};
template <class R, class... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {
  static constexpr bool is_mutable = true;
};
template <class R, class C, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (C::*)(A...)> {};

// The arguments that come from the path: all of them, but a request in the first place.
template <class A>
struct FromPath {
  static constexpr bool has_request = false;
  using Arguments = A;
};
template <class... A>
struct FromPath<Types<Request&, A...>> {
  static constexpr bool has_request = true;
  using Arguments = Types<A...>;
};
template <class... A>
struct FromPath<Types<const Request&, A...>> : FromPath<Types<Request&, A...>> {};

template <class F>
constexpr std::size_t path_parameters() noexcept {
  using S = Signature<std::decay_t<F>>;
  if constexpr (S::is_known) {
    return FromPath<typename S::Arguments>::Arguments::count;
  } else {
    return 0;
  }
}

template <class T>
concept IsPathParameter = requires(std::string_view text) {
  {
    PathParameter<std::remove_cvref_t<T>>::parse(text)
  } -> std::same_as<std::optional<std::remove_cvref_t<T>>>;
} && (!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>>);

template <class... A>
consteval bool are_path_parameters(Types<A...>) noexcept {
  return (IsPathParameter<A> && ...);
}

/// What the router answers itself: a line of text, and Allow with 405.
Response not_found();

/// An object and the function that calls it: one indirect call, no allocation for an object without
/// state.
template <class Call>
struct Erased {
  Call* call = nullptr;
  std::shared_ptr<const void> object{};  // shared by the routes that one registration makes
};

using PlainCall = Response(const void* object, Request& request);
using GuardCall = std::optional<Response>(const void* object, Request& request);
using FinisherCall = void(const void* object, const Request& request, Response& response);

template <class F>
inline constexpr bool is_stateless = std::is_empty_v<F> && std::is_default_constructible_v<F>;

template <class F>
std::shared_ptr<const void> keep(F&& f) {
  using D = std::decay_t<F>;
  if constexpr (is_stateless<D>) {
    return {};
  } else {
    return std::make_shared<const D>(std::forward<F>(f));
  }
}

/// Calls `use` with the kept F, or with a new one where it has no state.
template <class F, class Use>
decltype(auto) with_kept(const void* object, const Use& use) {
  if constexpr (is_stateless<F>) {
    return use(F{});
  } else {
    return use(*static_cast<const F*>(object));
  }
}

/// Converts the path parameters one by one, then calls the handler; one that does not convert is a
/// 404.
template <class F, class... Done>
Response call_converted(const F& f, Request& request, std::size_t, Types<>, Done&... done) {
  if constexpr (FromPath<typename Signature<F>::Arguments>::has_request) {
    return f(request, std::move(done)...);
  } else {
    return f(std::move(done)...);
  }
}
template <class F, class Next, class... Rest, class... Done>
Response call_converted(const F& f, Request& request, std::size_t index, Types<Next, Rest...>,
                        Done&... done) {
  auto value = PathParameter<std::remove_cvref_t<Next>>::parse(request.param(index));
  if (!value) return not_found();
  return call_converted(f, request, index + 1, Types<Rest...>{}, done..., *value);
}

template <class S>
concept TakesPathParameters =
    are_path_parameters(typename FromPath<typename S::Arguments>::Arguments{});
template <class S>
concept ReturnsResponse = std::is_convertible_v<typename S::Return, Response>;

/// Whether a type is a handler; where it is not, the compiler says why in words.
template <class F, class S = Signature<F>>
consteval bool check_handler() {
  static_assert(
      S::is_known,
      "a handler is a function or an object with one operator() whose parameters have named types");
  if constexpr (S::is_known) {
    static_assert(!S::is_mutable,
                  "a handler is called by several threads at once: it cannot be mutable");
    static_assert(TakesPathParameters<S>,
                  "a handler takes a Request& first, if at all; its other parameters are integers, "
                  "double, bool, "
                  "std::string or std::string_view, or have a skua::PathParameter");
    static_assert(
        !std::is_same_v<typename S::Return, PreparedResponse>,
        "a handler returns a PreparedResponse by reference, to one that outlives the server");
    static_assert(ReturnsResponse<S>,
                  "a handler returns what a Response can be made of: text, Status, Response, "
                  "Error, Result<T>");
    return !S::is_mutable && TakesPathParameters<S> && ReturnsResponse<S>;
  }
  return false;
}

template <class F>
Erased<PlainCall> make_handler(F&& f) {
  using D = std::decay_t<F>;
  if constexpr (std::is_same_v<D, PreparedResponse>) {
    return {[](const void* object, Request&) -> Response { return *static_cast<const D*>(object); },
            std::make_shared<const D>(std::forward<F>(f))};
  } else if constexpr (check_handler<D>()) {
    return {[](const void* object, Request& request) -> Response {
              using Parameters = typename FromPath<typename Signature<D>::Arguments>::Arguments;
              return with_kept<D>(object, [&](const D& kept) -> Response {
                return call_converted(kept, request, 0, Parameters{});
              });
            },
            keep(std::forward<F>(f))};
  } else {
    return {};
  }
}

template <class F>
concept IsGuard =
    std::is_invocable_v<const F&, Request&> && requires(const F& f, Request& request) {
      { f(request) } -> std::same_as<std::optional<Response>>;
    };
template <class F>
concept IsFinisher = requires(const F& f, const Request& request, Response& response) {
  { f(request, response) } -> std::same_as<void>;
};
template <class F>
concept IsMiddlewarePair =
    requires(const F& f, Request& request, const Request& answered, Response& response) {
      { f.guard(request) } -> std::same_as<std::optional<Response>>;
      { f.finish(answered, response) } -> std::same_as<void>;
    };

template <class F>
Erased<GuardCall> make_guard(F&& f) {
  using D = std::decay_t<F>;
  return {[](const void* object, Request& request) {
            return with_kept<D>(object, [&](const D& kept) { return kept(request); });
          },
          keep(std::forward<F>(f))};
}

template <class F>
Erased<FinisherCall> make_finisher(F&& f) {
  using D = std::decay_t<F>;
  return {[](const void* object, const Request& request, Response& response) {
            with_kept<D>(object, [&](const D& kept) { kept(request, response); });
          },
          keep(std::forward<F>(f))};
}

/// Both halves call the same object.
template <class F>
std::pair<Erased<GuardCall>, Erased<FinisherCall>> make_pair(F&& f) {
  using D = std::decay_t<F>;
  const std::shared_ptr<const void> object = keep(std::forward<F>(f));
  GuardCall* const guard = [](const void* kept, Request& request) {
    return with_kept<D>(kept, [&](const D& pair) { return pair.guard(request); });
  };
  FinisherCall* const finisher = [](const void* kept, const Request& request, Response& response) {
    with_kept<D>(kept, [&](const D& pair) { pair.finish(request, response); });
  };
  return {{guard, object}, {finisher, object}};
}

}  // namespace skua::detail
