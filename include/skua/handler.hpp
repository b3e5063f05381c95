// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "skua/answer.hpp"
#include "skua/config.hpp"
#include "skua/mistakes.hpp"
#include "skua/next.hpp"
#include "skua/path_parameter.hpp"
#include "skua/prepared_response.hpp"
#include "skua/request.hpp"
#include "skua/responder.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

class WebSocket;

namespace detail {

template <class... A>
struct Types {
  static constexpr std::size_t count = sizeof...(A);
};

// The signature of a function, a function pointer, or an object with a single operator().
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

// The arguments that come from the path: all but a leading request.
template <class A>
struct FromPath {
  static constexpr bool has_request = false;
  static constexpr bool copies_request = false;
  using Arguments = A;
};
template <class... A>
struct FromPath<Types<Request&, A...>> {
  static constexpr bool has_request = true;
  static constexpr bool copies_request = false;
  using Arguments = Types<A...>;
};
template <class... A>
struct FromPath<Types<const Request&, A...>> : FromPath<Types<Request&, A...>> {};
template <class... A>
struct FromPath<Types<Request, A...>> : FromPath<Types<Request&, A...>> {
  static constexpr bool copies_request = true;
};

template <class T>
concept IsPathParameter = requires(std::string_view text) {
  {
    PathParameter<std::remove_cvref_t<T>>::parse(text)
  } -> std::same_as<std::optional<std::remove_cvref_t<T>>>;
} && (!std::is_lvalue_reference_v<T> || std::is_const_v<std::remove_reference_t<T>>);

/// The number of path parameters; 0 if the function is not a handler, so that its message is first.
template <class F>
constexpr std::size_t path_parameters() noexcept {
  using S = Signature<std::decay_t<F>>;
  if constexpr (S::is_known) {
    using Arguments = typename FromPath<typename S::Arguments>::Arguments;
    return are_path_parameters(Arguments{}) ? Arguments::count : 0;
  } else {
    return 0;
  }
}

/// Whether a parameter is one of these, however it is passed.
template <class A, class... Ones>
inline constexpr bool is_one_of =
    (std::is_same_v<std::remove_cvref_t<std::remove_pointer_t<std::remove_cvref_t<A>>>, Ones> ||
     ...);
template <class... Ones, class... A>
consteval bool has_one_of(Types<A...>) noexcept {
  return (is_one_of<A, Ones...> || ...);
}

template <class... A>
consteval bool has_references(Types<A...>) noexcept {
  return (std::is_reference_v<A> || ...);
}

template <class... A>
consteval bool are_path_parameters(Types<A...>) noexcept {
  return (IsPathParameter<A> && ...);
}

/// Returns the router's own 404: for an unknown path, or a path parameter that does not parse.
SKUA_API Response not_found();

/// How a handler or middleware uses the path of a request, as its class says with a constant.
enum class PathUse : std::uint8_t {
  Reads,    ///< in its canonical form
  Ignores,  ///< `ignores_path`
  Routes,   ///< `routes_path`: it asks Router::match() of another router about the request
  Passes,   ///< `passes_path_on`: a handler that takes a path as sent
};
template <class D>
consteval PathUse path_use() noexcept {
  if constexpr (requires { requires D::ignores_path; }) return PathUse::Ignores;
  if constexpr (requires { requires D::routes_path; }) return PathUse::Routes;
  if constexpr (requires { requires D::passes_path_on; }) return PathUse::Passes;
  return PathUse::Reads;
}

/// A type-erased callable: one indirect call, and no allocation for a stateless object.
template <class Call>
struct Erased {
  Call* call = nullptr;
  std::shared_ptr<const void> object{};  // shared by the routes that one registration makes
  PathUse path_use = PathUse::Reads;
};

using PlainCall = Response(const void* object, Request& request);
using StartCall = Task<Response>(const void* object, Request& request);
using AroundCall = Task<Response>(const void* object, Request& request, Next next);
using GuardCall = std::optional<Response>(const void* object, Request& request);
using FinisherCall = void(const void* object, const Request& request, Response& response);

/// A type-erased handler: `call` answers at once, `start` starts a coroutine; one of them is set.
struct Handler {
  PlainCall* call = nullptr;
  StartCall* start = nullptr;
  std::shared_ptr<const void> object{};  // shared by the routes that one registration makes
  PathUse path_use = PathUse::Reads;
};

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

/// Calls `use` with the stored F, or with a new one if F is stateless.
template <class F, class Use>
decltype(auto) with_kept(const void* object, const Use& use) {
  if constexpr (is_stateless<F>) {
    return use(F{});
  } else {
    return use(*static_cast<const F*>(object));
  }
}

/// Whether a return type R becomes a Response, and whether its handler waits.
template <class R>
struct Returned {
  static constexpr bool is_response = std::is_convertible_v<R, Response> && !Number<R>;
  static constexpr bool waits = false;
};
template <class R>
struct Returned<Task<R>> {
  static constexpr bool is_response = std::is_convertible_v<R, Response> && !Number<R>;
  static constexpr bool waits = true;
};

template <>
struct Returned<LateAnswer> {
  static constexpr bool is_response = true;
  static constexpr bool waits = true;
};
template <std::derived_from<Responder> R>
struct Returned<std::unique_ptr<R>> : Returned<LateAnswer> {};

inline Task<Response> to_task(Request&, Task<Response> task) { return task; }
template <class R>
Task<Response> to_task(Request&, Task<R> task) {
  R value = co_await task;
  co_return Response(std::move(value));
}
inline Task<Response> to_task(Request&, LateAnswer late) { return std::move(late).wait(); }
template <std::derived_from<Responder> R>
Task<Response> to_task(Request& request, std::unique_ptr<R> responder) {
  return respond(std::move(responder), request);
}
/// Returns a task that yields this response without waiting.
SKUA_API Task<Response> finished_task(Response response);

/// Parses the path parameters in order, then calls the handler; answers 404 if one does not parse.
/// Out is Response or Task<Response>.
template <class Out, class F, class... Done>
Out call_converted(const F& f, Request& request, std::size_t, Types<>, Done&... done) {
  constexpr bool has_request = FromPath<typename Signature<F>::Arguments>::has_request;
  if constexpr (std::is_same_v<Out, Response> && has_request) {
    return f(request, std::move(done)...);
  } else if constexpr (std::is_same_v<Out, Response>) {
    return f(std::move(done)...);
  } else if constexpr (has_request) {
    return to_task(request, f(request, std::move(done)...));
  } else {
    return to_task(request, f(std::move(done)...));
  }
}
template <class Out, class F, class First, class... Rest, class... Done>
Out call_converted(const F& f, Request& request, std::size_t index, Types<First, Rest...>,
                   Done&... done) {
  auto value = PathParameter<std::remove_cvref_t<First>>::parse(request.param(index));
  if (!value) {
    if constexpr (std::is_same_v<Out, Response>) {
      return not_found();
    } else {
      return finished_task(not_found());
    }
  }
  return call_converted<Out>(f, request, index + 1, Types<Rest...>{}, done..., *value);
}

template <class S>
inline constexpr bool copies_request = FromPath<typename S::Arguments>::copies_request;
template <class S>
concept TakesPathParameters =
    are_path_parameters(typename FromPath<typename S::Arguments>::Arguments{});
/// Whether a coroutine takes path parameters by reference, which would dangle once it suspends.
template <class S>
inline constexpr bool keeps_references = false;
template <class S>
  requires requires { typename S::Return::promise_type; }
inline constexpr bool keeps_references<S> =
    has_references(typename FromPath<typename S::Arguments>::Arguments{});
template <class S>
concept ReturnsResponse = Returned<typename S::Return>::is_response;

/// Checks that a type is a handler; a static_assert says what is wrong if it is not.
template <class F, class S = Signature<F>>
consteval bool check_handler() {
  static_assert(!std::is_member_function_pointer_v<F>,
                "a member function needs its object: [&app](skua::Request& request) { return "
                "app.page(request); }");
  static_assert(!std::is_convertible_v<F, Response>,
                "a route is a pattern, then its handler, which is called for each request: "
                "router.get(\"/\", [] { return \"text\"; })");
  static_assert(
      S::is_known || std::is_convertible_v<F, Response>,
      "a handler is a function or an object with one operator(), without auto parameters");
  if constexpr (S::is_known && !std::is_member_function_pointer_v<F>) {
    using Arguments = typename FromPath<typename S::Arguments>::Arguments;
    static_assert(!S::is_mutable,
                  "several threads may call a handler at once, so it cannot be mutable");
    static_assert(!copies_request<S>,
                  "a handler takes its request by reference: skua::Request& or const "
                  "skua::Request&");
    static_assert(!has_one_of<Response>(Arguments{}),
                  "a handler returns its response, it is not given one to fill");
    static_assert(!has_one_of<Request>(Arguments{}),
                  "a handler takes its request first, and by reference: skua::Request& or const "
                  "skua::Request&");
    static_assert(!has_one_of<WebSocket>(Arguments{}),
                  "a handler that takes a WebSocket is registered by router.websocket()");
    static_assert(
        TakesPathParameters<S> || has_one_of<Request, Response, WebSocket>(Arguments{}),
        "a handler may take a Request& first; its other parameters are integers, double, "
        "bool, std::string, std::string_view or types with a skua::PathParameter. Content "
        "is not made into a struct: parse request.body()");
    static_assert(
        !std::is_same_v<typename S::Return, PreparedResponse>,
        "a handler returns a PreparedResponse by reference, and it must outlive the server");
    static_assert(
        ReturnsResponse<S> || has_one_of<Request, Response, WebSocket>(Arguments{}),
        "a handler returns something that converts to a Response (text, Status, Response, Error, "
        "Result<T>), a Task of that, a LateAnswer, or a unique_ptr to a Responder");
    static_assert(!keeps_references<S>,
                  "a coroutine takes its path parameters by value: a reference would dangle after "
                  "its first co_await");
    return !S::is_mutable && !copies_request<S> && TakesPathParameters<S> && ReturnsResponse<S> &&
           !keeps_references<S>;
  }
  return false;
}

template <class F>
using PathParameters = typename FromPath<typename Signature<F>::Arguments>::Arguments;

template <class F>
Response call_handler(const void* object, Request& request) {
  return with_kept<F>(object, [&](const F& kept) -> Response {
    return call_converted<Response>(kept, request, 0, PathParameters<F>{});
  });
}

/// A coroutine refers to the object it was called on, so even a stateless one is stored.
template <class F>
Task<Response> start_handler(const void* object, Request& request) {
  return call_converted<Task<Response>>(*static_cast<const F*>(object), request, 0,
                                        PathParameters<F>{});
}

template <class F>
Handler make_handler(F&& f) {
  using D = std::decay_t<F>;
  static_assert(std::is_constructible_v<D, F>,
                "a handler that cannot be copied is moved to the router: std::move(handler)");
  Handler handler;
  if constexpr (std::is_same_v<D, PreparedResponse>) {
    handler.call = [](const void* object, Request&) -> Response {
      return *static_cast<const D*>(object);
    };
    handler.object = std::make_shared<const D>(std::forward<F>(f));
  } else if constexpr (check_handler<D>() && std::is_constructible_v<D, F>) {
    if constexpr (Returned<typename Signature<D>::Return>::waits) {
      handler.start = start_handler<D>;
      handler.path_use = path_use<D>();
      handler.object = std::make_shared<const D>(std::forward<F>(f));
    } else {
      handler.call = call_handler<D>;
      handler.object = keep(std::forward<F>(f));
    }
  }
  return handler;
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
concept IsAround = !IsFinisher<F> && requires(const F& f, Request& request, Next next) {
  { f(request, next) } -> std::same_as<Task<Response>>;
};

template <class F>
Erased<AroundCall> make_around(F&& f) {
  using D = std::decay_t<F>;
  if constexpr (Signature<D>::is_known) {
    static_assert(std::is_same_v<typename Signature<D>::Arguments, Types<Request&, Next>>,
                  "a coroutine around handlers takes a Request& and a Next by value: a reference "
                  "to a Next would dangle after its first co_await");
  }
  return {[](const void* object, Request& request, Next next) {
            return (*static_cast<const D*>(object))(request, next);
          },
          std::make_shared<const D>(std::forward<F>(f)), path_use<D>()};
}

template <class F>
Erased<GuardCall> make_guard(F&& f) {
  using D = std::decay_t<F>;
  return {[](const void* object, Request& request) {
            return with_kept<D>(object, [&](const D& kept) { return kept(request); });
          },
          keep(std::forward<F>(f)), path_use<D>()};
}

template <class F>
Erased<FinisherCall> make_finisher(F&& f) {
  using D = std::decay_t<F>;
  return {[](const void* object, const Request& request, Response& response) {
            with_kept<D>(object, [&](const D& kept) { kept(request, response); });
          },
          keep(std::forward<F>(f))};
}

/// Makes a guard and a finisher that share one object.
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
  return {{guard, object, path_use<D>()}, {finisher, object}};
}

}  // namespace detail
}  // namespace skua
