// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: it says which C++ the others need

#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "skua/file_options.hpp"
#include "skua/handler.hpp"
#include "skua/method.hpp"
#include "skua/pattern.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/websocket_handler.hpp"

namespace skua {

namespace router {
struct Match;
class Table;
}  // namespace router

/// The pattern that goes with a handler: it has as many wildcards as the handler takes path
/// parameters.
template <class F>
using PatternFor = std::type_identity_t<Pattern<detail::path_parameters<F>()>>;

/// Which handler answers which request.
///
/// ```cpp
/// skua::Router router;
/// router.get("/", [] { return "Hello, world!"; });
/// router.get("/users/{id}", [](int id) { return "user " + std::to_string(id); });
/// ```
///
/// HEAD is answered by the GET handler unless it has its own, OPTIONS by itself, an unknown path
/// with 404 and another method with 405 and Allow. A handler may also be a PreparedResponse.
///
/// Every registration ends with std::invalid_argument, naming both source lines, where a route is
/// there already. A router does not change while it serves: all const members may be called by
/// several threads at once.
class Router final {
 public:
  using Where = std::source_location;

  Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  template <class F>
  Router& get(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Get, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& head(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Head, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& post(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Post, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& put(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Put, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& del(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Delete, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& patch(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Patch, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& options(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Options, pattern, std::forward<F>(handler), where);
  }
  template <class F>
  Router& route(Method method, PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    add(1U << static_cast<unsigned>(method), pattern.text(),
        detail::make_handler(std::forward<F>(handler)), where);
    return *this;
  }
  /// Every method that has no route of its own with this pattern.
  template <class F>
  Router& any(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    add(any_method, pattern.text(), detail::make_handler(std::forward<F>(handler)), where);
    return *this;
  }

  /// Opens WebSockets: for a coroutine, `Task<>(WebSocket&)`, that may take a Request& before it
  /// and path parameters behind it, or for WebSocketCallbacks. A request that is no handshake gets
  /// 426, a malformed one 400, a page of another origin 403. Guards see the request first: a GET,
  /// or over HTTP/2 a CONNECT.
  ///
  /// RFC:       6455, 8441
  template <class F>
  Router& websocket(std::type_identity_t<Pattern<detail::socket_path_parameters<F>()>> pattern,
                    F&& handler, WebSocketOptions options = {}, Where where = Where::current()) {
    // An extended CONNECT asks for it over HTTP/2. RFC 8441 §5
    constexpr unsigned methods =
        1U << static_cast<unsigned>(Method::Get) | 1U << static_cast<unsigned>(Method::Connect);
    add(methods, pattern.text(),
        detail::make_socket_handler(std::forward<F>(handler), std::move(options)), where);
    return *this;
  }

  /// Adds a guard, a finisher or a coroutine, by its signature; it concerns every request to this
  /// router and to those mounted on it, also what was added before, also 404 and 405.
  ///
  /// A guard, `std::optional<Response>(Request&)`, answers early or lets the request through;
  /// guards run in the order in which they were added, outer routers first. A finisher, `void(const
  /// Request&, Response&)`, amends every response, also an early or a failed one; inner routers
  /// first. An object with both, as const members `guard` and `finish`, is a pair of them.
  ///
  /// A coroutine, `Task<Response>(Request&, Next)`, is around the guards and coroutines that were
  /// added later, and around the handler: it may wait before and after `co_await next(request)`.
  /// Finishers come after all of them. Where a coroutine is around a plain handler, the content is
  /// loaded before that is called.
  template <class F>
  Router& use(F&& middleware) {
    using D = std::decay_t<F>;
    static_assert(detail::IsGuard<D> || detail::IsFinisher<D> || detail::IsMiddlewarePair<D> ||
                      detail::IsAround<D>,
                  "middleware is a guard, std::optional<skua::Response>(skua::Request&), "
                  "or a finisher, void(const skua::Request&, skua::Response&); "
                  "or an object with both, as const members guard and finish; "
                  "or a coroutine, skua::Task<skua::Response>(skua::Request&, skua::Next); "
                  "none of them is mutable");
    if constexpr (detail::IsMiddlewarePair<D>) {
      auto [guard, finisher] = detail::make_pair(std::forward<F>(middleware));
      add_guard(std::move(guard));
      add_finisher(std::move(finisher));
    } else if constexpr (detail::IsGuard<D>) {
      add_guard(detail::make_guard(std::forward<F>(middleware)));
    } else if constexpr (detail::IsFinisher<D>) {
      add_finisher(detail::make_finisher(std::forward<F>(middleware)));
    } else if constexpr (detail::IsAround<D>) {
      add_around(detail::make_around(std::forward<F>(middleware)));
    }
    return *this;
  }

  /// Puts all of another router's routes below a path, with its guards and finishers around them.
  /// Its `/` answers
  /// `/prefix` and `/prefix/`.
  Router& mount(Prefix prefix, Router other);

  /// Serves a folder below a path, as FileHandler does; to serve one at `/`, give a FileHandler to
  /// get("/{path...}").
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) where the folder cannot be opened.
  Router& files(Prefix prefix, const std::string& directory, const FileOptions& options = {},
                Where where = Where::current());

  /// Serves one file at a URL, with caching, conditions and ranges as FileHandler has them. A link
  /// is followed where it stays in the file's folder.
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) where there is no such file.
  Router& file(Pattern<0> url, const std::string& path, const FileOptions& options = {},
               Where where = Where::current());

  /// Answers a request: for tests. A coroutine handler is run to its end on this thread.
  [[nodiscard]] Response handle(Request& request) const;

  // For servers: the same in steps, so that a response to an exception can be finished too.

  /// Finds the route; the captures are views of `canonical_path`. "*" matches OPTIONS only.
  [[nodiscard]] router::Match match(Method method, std::string_view canonical_path) const noexcept;
  /// Guards, then the handler (or 404, 405, the answer to OPTIONS). The match outlives the request,
  /// and has no coroutine.
  [[nodiscard]] Response invoke(const router::Match& match, Request& request) const;
  /// The same, for a match that has coroutines. All three outlive the task.
  [[nodiscard]] Task<Response> start(const router::Match& match, Request& request) const;
  /// The guards of invoke() alone, from the one with the number `step` on. Returns the response of
  /// one that answered; nothing where all let the request through, or where the guard `step` has to
  /// be asked again when the content is there: see RequestAccess::waits_for_content.
  [[nodiscard]] std::optional<Response> guard(const router::Match& match, Request& request,
                                              std::size_t& step) const;
  /// invoke() without the guards.
  [[nodiscard]] Response invoke_guarded(const router::Match& match, Request& request) const;

 private:
  static constexpr unsigned any_method = 1U << 15;

  void add(unsigned methods, std::string_view pattern, detail::Handler handler, Where where);
  void add_guard(detail::Erased<detail::GuardCall> guard);
  void add_around(detail::Erased<detail::AroundCall> around);
  void add_finisher(detail::Erased<detail::FinisherCall> finisher);

  std::unique_ptr<router::Table> table_;
};

}  // namespace skua
