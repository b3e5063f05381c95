// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/message/field.hpp"
#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/request.hpp"
#include "skua/trusted_proxies.hpp"

namespace skua::http {

inline constexpr std::size_t max_captures = 16;

/// The pattern of a route.
struct RoutePattern {
  std::string pattern{};             ///< `/users/{id}`
  std::vector<std::string> names{};  ///< of the wildcards, in order
};

/// The texts that a route's wildcards matched in one path, as views of that path.
struct Captures {
  struct Text {
    const char* data;
    std::size_t size;
  };
  const RoutePattern* route = nullptr;
  std::uint32_t count = 0;
  std::array<Text, max_captures> texts;  // only the first `count` are set

  /// Moves the views from the path to its copy at `to`.
  void move(std::string_view from, const char* to) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) texts[i].data = to + (texts[i].data - from.data());
  }
  [[nodiscard]] std::string_view operator[](std::size_t index) const noexcept {
    return {texts[index].data, texts[index].size};
  }
};

/// The client behind a request, as far as it is known.
struct Origin {
  Address client{};
  bool is_secure = false;   ///< the client uses TLS
  std::string_view host{};  ///< that the client asked for; empty: the one that the request names
  /// The kind of fields that was believed; None if the connection is not that of a trusted proxy.
  ForwardedFields believed = ForwardedFields::None;
};

/// Knows the trusted proxies of a server.
class OriginSource {
 public:
  /// Returns the origin of a request that arrived on a connection, the RequestParts::peer_context.
  [[nodiscard]] virtual Origin origin_of(const Head& head, const void* connection) const = 0;
  /// Reports whether a connection is that of a trusted proxy.
  [[nodiscard]] virtual bool is_proxy(const void* /*connection*/) const { return false; }

 protected:
  ~OriginSource() = default;
};

/// A handler that may wait.
class RunningHandler {
 public:
  /// Returns how long it may still take; Duration::max() if as long as it likes.
  [[nodiscard]] virtual Duration time_left() const noexcept = 0;

 protected:
  ~RunningHandler() = default;
};

/// The server's data about a request; a Request is a view of it.
struct RequestParts {
  const Head* head = nullptr;
  std::string_view path{};   ///< canonical: from canonical_path(), or "*"; or as sent
  std::string_view query{};  ///< after the '?', raw
  std::string_view host{};   ///< Host, or the authority of an absolute-form target
  std::string_view body{};   ///< the whole content
  /// Returns the address of the connection's peer; called on demand.
  Address (*peer)(const void* context) = nullptr;
  const void* peer_context = nullptr;
  const OriginSource* origins = nullptr;  ///< null: no proxy is trusted
  detail::ConnectionSource* connection = nullptr;
  bool is_secure = false;
  bool is_path_as_sent = false;          ///< a slash in it is encoded; see Router::match_as_sent()
  std::string_view upgrade{};            ///< the requested protocol: Upgrade, or `:protocol`
  detail::BodySource* source = nullptr;  ///< the content as it arrives; null: `body` has it
  /// The declared length of the content; nullopt if unknown.
  std::optional<std::uint64_t> length_bytes{};
  bool may_have_more_content = false;  ///< content may follow that is not in `body` yet
  /// Set by a guard to be called again with the content. Null if nothing buffers the content.
  bool* wants_content = nullptr;
  const RunningHandler* handler = nullptr;  ///< null: it does not wait
};

/// Returns the origin of a request. Its host is never empty, unless that of the request is.
[[nodiscard]] Origin origin_of(const RequestParts& parts);

/// Access to the internals of Request, for skua itself.
struct RequestAccess {
  /// Sets the captures, which must outlive the use of the request's parameters.
  static void bind(Request& request, const http::Captures* captures) noexcept {
    request.captures_ = captures;
  }
  /// Makes attachments() return `attachments`, which must outlive their use; null restores its own.
  static void lend(Request& request, Attachments* attachments) noexcept {
    request.lent_ = attachments;
  }
  /// Null if no route matched.
  static const http::Captures* captures(const Request& request) noexcept {
    return request.captures_;
  }
  static const RequestParts& parts(const Request& request) noexcept { return *request.parts_; }
  /// Asks for the content on behalf of a guard; reports whether the guard is called again with it.
  static bool ask_for_content(const Request& request) noexcept {
    bool* const wanted = request.parts_->wants_content;
    return wanted != nullptr && (*wanted = true);
  }
  static bool waits_for_content(const Request& request) noexcept {
    const bool* const wanted = request.parts_->wants_content;
    return wanted != nullptr && *wanted;
  }
};

}  // namespace skua::http
