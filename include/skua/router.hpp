// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <concepts>
#include <cstdint>
#include <memory>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "skua/config.hpp"
#include "skua/file_options.hpp"
#include "skua/handler.hpp"
#include "skua/method.hpp"
#include "skua/mistakes.hpp"
#include "skua/pattern.hpp"
#include "skua/request.hpp"
#include "skua/request_limits.hpp"
#include "skua/response.hpp"
#include "skua/upload_options.hpp"
#include "skua/webdav_options.hpp"
#include "skua/websocket_handler.hpp"

namespace skua {

class MemoryFiles;

namespace router {
struct Match;
class Table;
}  // namespace router

/// The pattern for a handler: it has as many wildcards as the handler takes path parameters.
template <class F>
using PatternFor = std::type_identity_t<Pattern<detail::path_parameters<F>()>>;

/// Routes requests to handlers.
///
/// ```cpp
/// skua::Router router;
/// router.get("/", [] { return "Hello, world!"; });
/// router.get("/users/{id}", [](int id) { return "user " + std::to_string(id); });
/// ```
///
/// HEAD is answered by the GET handler unless it has its own, OPTIONS by the router, an unknown
/// path with 404 and another method with 405 and Allow. A handler may also be a PreparedResponse.
///
/// Registering a route twice throws std::invalid_argument, which names both source lines. A router
/// must not change while it serves; several threads may call its const members at once.
class SKUA_API Router final {
 public:
  using Where = std::source_location;

  /// Creates a router without routes: every path is answered with 404.
  Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  /// Handles GET, and HEAD unless it has a handler of its own. A handler may take a Request&,
  /// then the path parameters. It returns what converts to a Response, a Task of that, a
  /// LateAnswer, or a Responder.
  ///
  /// Ends with: std::invalid_argument if the route exists already; so do all that add one.
  template <class F>
  Router& get(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Get, pattern, std::forward<F>(handler), where);
  }
  /// Handles HEAD instead of the GET handler.
  template <class F>
  Router& head(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Head, pattern, std::forward<F>(handler), where);
  }
  /// Handles POST, like get().
  template <class F>
  Router& post(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Post, pattern, std::forward<F>(handler), where);
  }
  /// Handles PUT, like get().
  template <class F>
  Router& put(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Put, pattern, std::forward<F>(handler), where);
  }
  /// Handles DELETE, like get(); `delete` is a keyword.
  template <class F>
  Router& del(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Delete, pattern, std::forward<F>(handler), where);
  }
  /// Handles PATCH, like get().
  template <class F>
  Router& patch(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Patch, pattern, std::forward<F>(handler), where);
  }
  /// Handles OPTIONS instead of the router, which lists the allowed methods.
  template <class F>
  Router& options(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    return route(Method::Options, pattern, std::forward<F>(handler), where);
  }
  /// Handles the method, like get(). Method::Other is each method that skua does not know, which
  /// without a route is answered with 501.
  template <class F>
  Router& route(Method method, PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    add(1U << static_cast<unsigned>(method), pattern.text(),
        detail::make_handler(std::forward<F>(handler)), where);
    return *this;
  }
  template <std::convertible_to<std::string_view> T, class F>
  Router& route(const T&, PatternFor<F>, F&&) {
    static_assert(detail::never<T>, "a method is not text: write skua::Method::Get");
    return *this;
  }
  /// Handles every method that has no route of its own with this pattern, even those that skua does
  /// not know.
  template <class F>
  Router& any(PatternFor<F> pattern, F&& handler, Where where = Where::current()) {
    add(any_method, pattern.text(), detail::make_handler(std::forward<F>(handler)), where);
    return *this;
  }

  /// Opens WebSockets. The handler is a coroutine, `Task<>(WebSocket&)`, which may take a Request&
  /// before the socket and path parameters after it, or it is a WebSocketCallbacks. A request that
  /// is not a handshake gets 426, a malformed one 400, a page of another origin 403. Guards see the
  /// request first: a GET, or over HTTP/2 a CONNECT.
  ///
  /// RFC:       6455, 8441
  template <class F>
  Router& websocket(std::type_identity_t<Pattern<detail::socket_path_parameters<F>()>> pattern,
                    F&& handler, WebSocketOptions options = {}, Where where = Where::current()) {
    // HTTP/2 opens a WebSocket with an extended CONNECT. RFC 8441 §5
    constexpr unsigned methods =
        1U << static_cast<unsigned>(Method::Get) | 1U << static_cast<unsigned>(Method::Connect);
    add(methods, pattern.text(),
        detail::make_socket_handler(std::forward<F>(handler), std::move(options)), where);
    return *this;
  }

  /// Sets limits for requests to this router and those mounted on it, which may set their own. A
  /// limit is that of the innermost router that sets it, or else the server's.
  ///
  /// ```cpp
  /// photos.limits({.body_bytes = 50_MiB, .handler_timeout = 5s});
  /// ```
  Router& limits(const RequestLimits& limits);

  /// Adds a guard, a finisher or a coroutine, by its signature. It applies to every request to this
  /// router and to those mounted on it, including earlier routes, 404 and 405.
  ///
  /// A guard, `std::optional<Response>(Request&)`, answers early or lets the request through.
  /// Guards run in the order in which they were added, outer routers first. A finisher,
  /// `void(const Request&, Response&)`, amends every response, even an early or a failed one; inner
  /// routers first. An object with const members `guard` and `finish` is a pair of them.
  ///
  /// A coroutine, `Task<Response>(Request&, Next)`, wraps the guards and coroutines that are added
  /// later, and the handler: it may wait before and after `co_await next(request)`. Finishers run
  /// after all of them. A plain handler is called once the request's content has been loaded.
  ///
  /// Middleware that does not look at the path has `static constexpr bool ignores_path = true;`. A
  /// path with an encoded slash reaches a ReverseProxy only if all of it on the way says so.
  template <class F>
  Router& use(F&& middleware) {
    using D = std::decay_t<F>;
    static_assert(detail::IsGuard<D> || detail::IsFinisher<D> || detail::IsMiddlewarePair<D> ||
                      detail::IsAround<D>,
                  "middleware is a guard, std::optional<skua::Response>(skua::Request&), "
                  "or a finisher, void(const skua::Request&, skua::Response&); "
                  "or an object with both, as const members guard and finish; "
                  "or a coroutine, skua::Task<skua::Response>(skua::Request&, skua::Next); "
                  "none of them may be mutable");
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

  template <class Path, class F>
  Router& use(const Path&, F&&) {
    static_assert(detail::never<F>,
                  "middleware is for a whole router: use() it on a router of its own, and mount() "
                  "that at the path");
    return *this;
  }

  /// Mounts another router's routes below a path, with its middleware around them. Its `/` answers
  /// `/prefix` and `/prefix/`.
  Router& mount(Prefix prefix, Router&& other);
  template <class Other>
    requires(!std::same_as<Other, Router>)
  Router& mount(Prefix, Other&&) {
    static_assert(detail::never<Other>,
                  "a router is moved where it is mounted: router.mount(\"/api\", "
                  "std::move(other))");
    return *this;
  }

  /// Serves a folder below a path, as FileHandler does. To serve one at `/`, pass a FileHandler to
  /// get("/{path...}").
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) if the folder cannot be opened.
  Router& files(Prefix prefix, const std::string& directory, const FileOptions& options = {},
                Where where = Where::current());

  /// Serves files that are part of the program below a path. To serve them at `/`, pass them to
  /// get("/{path...}").
  Router& files(Prefix prefix, const MemoryFiles& handler, Where where = Where::current());

  /// Serves one file at a URL, with caching, conditions and ranges as in FileHandler. A symbolic
  /// link is followed if it stays in the file's folder.
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) if there is no such file.
  Router& file(Pattern<0> url, const std::string& path, const FileOptions& options = {},
               Where where = Where::current());

  /// Writes uploads to a folder below a path, as UploadHandler does: PUT to a file's URL, POST of a
  /// form to a folder's. Guards decide who may upload.
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) if the folder cannot be opened.
  Router& uploads(Prefix prefix, const std::string& directory, const UploadOptions& options = {},
                  Where where = Where::current());

  /// Lets WebDAV clients read and change a folder below a path, as WebDavHandler does. Guards
  /// decide who may do what.
  ///
  /// Ends with: Exception (NotFound, PermissionDenied) if the folder cannot be opened; Unsupported
  ///            on Windows and in a build without expat.
  Router& webdav(Prefix prefix, const std::string& directory, const WebDavOptions& options = {},
                 Where where = Where::current());

  /// Answers a request, for tests. A coroutine handler runs to its end on this thread.
  [[nodiscard]] Response handle(Request& request) const;

  // For servers: handle() in steps, so that the response to an exception can be finished too.

  /// Finds the route; the captures are views of `canonical_path`. "*" matches OPTIONS only.
  [[nodiscard]] router::Match match(Method method, std::string_view canonical_path) const noexcept;
  /// Finds the route of a request, also for a path that is as sent; for routers behind another one.
  [[nodiscard]] router::Match match(const Request& request) const noexcept;
  /// Finds the route of a path that is not canonical since a slash in it is encoded. It is a
  /// ReverseProxy's, and every reader of the path finds the same one, or else the match is
  /// malformed.
  [[nodiscard]] router::Match match_as_sent(Method method, std::string_view path) const noexcept;
  /// Runs the guards, then the handler (or answers 404, 405 or OPTIONS). The match outlives the
  /// request and has no coroutine.
  [[nodiscard]] Response invoke(const router::Match& match, Request& request) const;
  /// Like invoke(), for a match that has coroutines. All three outlive the task.
  [[nodiscard]] Task<Response> start(const router::Match& match, Request& request) const;
  /// Runs only the guards of invoke(), from number `step` on. Returns the response of a guard that
  /// answered; nullopt if all let the request through, or if guard `step` must run again once the
  /// content has arrived: see RequestAccess::waits_for_content.
  [[nodiscard]] std::optional<Response> guard(const router::Match& match, Request& request,
                                              std::size_t& step) const;
  /// Like invoke(), but without the guards.
  [[nodiscard]] Response invoke_guarded(const router::Match& match, Request& request) const;

 private:
  static constexpr unsigned any_method = 1U << 31U;

  void add(unsigned methods, std::string_view pattern, detail::Handler handler, Where where);
  void add_guard(detail::Erased<detail::GuardCall> guard);
  void add_around(detail::Erased<detail::AroundCall> around);
  void add_finisher(detail::Erased<detail::FinisherCall> finisher);

  std::unique_ptr<router::Table> table_;
};

}  // namespace skua
