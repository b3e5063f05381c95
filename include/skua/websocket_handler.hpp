// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

#include "skua/config.hpp"
#include "skua/handler.hpp"
#include "skua/mistakes.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"
#include "skua/websocket.hpp"

namespace skua::detail {

/// A WebSocket handler that is a coroutine, with all its arguments but the socket.
///
/// Lifetime:  `route` outlives the coroutine; `arguments`, which its parameters may refer to, are
///            kept until it has ended.
struct SocketHandler {
  Task<> (*call)(const void* route, const void* arguments, WebSocket& socket) = nullptr;
  const void* route = nullptr;
  std::shared_ptr<const void> arguments{};  ///< null if it takes only a socket
  Request* request = nullptr;               ///< among them, if it takes one
};

/// Answers an opening handshake: with a response that makes the server open a WebSocket and run
/// `handler` or `callbacks` on it, or with one that says what is wrong.
SKUA_API Response open_websocket(Request& request, const WebSocketOptions& options,
                                 SocketHandler handler, const WebSocketCallbacks* callbacks);

// The arguments of a WebSocket handler that come from the path: all after its request, if it takes
// one, and its socket.
template <class A>
struct SocketArguments {
  static constexpr bool is_known = false;
};
template <class... A>
struct SocketArguments<Types<WebSocket&, A...>> {
  static constexpr bool is_known = true;
  static constexpr bool has_request = false;
  using FromPath = Types<A...>;
};
template <class... A>
struct SocketArguments<Types<Request&, WebSocket&, A...>>
    : SocketArguments<Types<WebSocket&, A...>> {
  static constexpr bool has_request = true;
};
template <class... A>
struct SocketArguments<Types<const Request&, WebSocket&, A...>>
    : SocketArguments<Types<Request&, WebSocket&, A...>> {};

template <class F>
constexpr std::size_t socket_path_parameters() noexcept {
  using S = Signature<std::decay_t<F>>;
  if constexpr (S::is_known) {
    using Arguments = SocketArguments<typename S::Arguments>;
    if constexpr (Arguments::is_known) {
      if (are_path_parameters(typename Arguments::FromPath{})) return Arguments::FromPath::count;
    }
  }
  return 0;
}

template <class F>
struct WebSocketRoute {
  F handler;
  WebSocketOptions options;
};

/// Checks that a type is a WebSocket handler; a static_assert says what is wrong if it is not.
template <class F, class S = Signature<F>>
consteval bool check_socket_handler() {
  static_assert(
      S::is_known,
      "a route is a pattern, then its handler: for a WebSocket a function, an object with "
      "one operator(), without auto parameters, or skua::WebSocketCallbacks");
  if constexpr (S::is_known) {
    using Arguments = SocketArguments<typename S::Arguments>;
    static_assert(Arguments::is_known,
                  "a WebSocket handler takes a skua::WebSocket& first, or a skua::Request& and "
                  "then a skua::WebSocket&");
    if constexpr (Arguments::is_known) {
      constexpr bool has_message = has_one_of<Message>(typename Arguments::FromPath{});
      constexpr bool has_request = has_one_of<Request>(typename Arguments::FromPath{});
      static_assert(!has_message,
                    "a WebSocket handler receives its messages: co_await socket.receive(); or "
                    "pass skua::WebSocketCallbacks");
      static_assert(!has_request, "a WebSocket handler takes its skua::Request& before the socket");
      static_assert(std::is_same_v<typename S::Return, Task<>>,
                    "a WebSocket handler is a coroutine: it returns a skua::Task<>");
      static_assert(!S::is_mutable,
                    "several threads may call a handler at once, so it cannot be mutable");
      static_assert(
          are_path_parameters(typename Arguments::FromPath{}) || has_message || has_request,
          "the other parameters of a WebSocket handler are integers, double, bool, "
          "std::string, std::string_view or types with a skua::PathParameter");
      static_assert(!has_references(typename Arguments::FromPath{}),
                    "a coroutine takes its path parameters by value: a reference would dangle "
                    "after its first co_await");
      return std::is_same_v<typename S::Return, Task<>> && !S::is_mutable &&
             are_path_parameters(typename Arguments::FromPath{}) &&
             !has_references(typename Arguments::FromPath{});
    }
  }
  return false;
}

// Text of the path is copied, as the socket outlives the request.
template <class T>
struct Kept {
  using Type = T;
};
template <>
struct Kept<std::string_view> {
  using Type = std::string;
};

template <class F, class... Done>
Response open_converted(const WebSocketRoute<F>& route, Request& request, std::size_t, Types<>,
                        Done&... done) {
  constexpr bool has_request = SocketArguments<typename Signature<F>::Arguments>::has_request;
  using Values = std::tuple<typename Kept<Done>::Type...>;
  using Arguments = std::pair<std::shared_ptr<Request>, Values>;
  SocketHandler handler;
  handler.route = &route;
  if constexpr (has_request) {
    auto kept = keep_request(request);
    handler.request = kept.get();
    handler.arguments = std::make_shared<const Arguments>(std::move(kept), Values(done...));
  } else if constexpr (sizeof...(Done) != 0) {
    handler.arguments = std::make_shared<const Arguments>(nullptr, Values(done...));
  }
  handler.call = [](const void* known, const void* kept, WebSocket& socket) {
    const F& handle = static_cast<const WebSocketRoute<F>*>(known)->handler;
    if constexpr (!has_request && sizeof...(Done) == 0) {
      return handle(socket);
    } else {
      const auto& [asked, values] = *static_cast<const Arguments*>(kept);
      return std::apply(
          [&](const auto&... value) {
            if constexpr (has_request) {
              return handle(*asked, socket, value...);
            } else {
              return handle(socket, value...);
            }
          },
          values);
    }
  };
  return open_websocket(request, route.options, std::move(handler), nullptr);
}
template <class F, class First, class... Rest, class... Done>
Response open_converted(const WebSocketRoute<F>& route, Request& request, std::size_t index,
                        Types<First, Rest...>, Done&... done) {
  auto value = PathParameter<std::remove_cvref_t<First>>::parse(request.param(index));
  if (!value) return not_found();
  return open_converted(route, request, index + 1, Types<Rest...>{}, done..., *value);
}

template <class F>
Handler make_socket_handler(F&& f, WebSocketOptions options) {
  using D = std::decay_t<F>;
  Handler handler;
  auto route = std::make_shared<const WebSocketRoute<D>>(
      WebSocketRoute<D>{std::forward<F>(f), std::move(options)});
  if constexpr (std::is_same_v<D, WebSocketCallbacks>) {
    handler.call = [](const void* object, Request& request) {
      const auto& kept = *static_cast<const WebSocketRoute<D>*>(object);
      return open_websocket(request, kept.options, {}, &kept.handler);
    };
  } else if constexpr (check_socket_handler<D>()) {
    handler.call = [](const void* object, Request& request) {
      using Arguments = SocketArguments<typename Signature<D>::Arguments>;
      return open_converted(*static_cast<const WebSocketRoute<D>*>(object), request, 0,
                            typename Arguments::FromPath{});
    };
  }
  handler.object = std::move(route);
  return handler;
}

}  // namespace skua::detail
