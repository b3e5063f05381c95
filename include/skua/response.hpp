// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "skua/body.hpp"
#include "skua/body_writer.hpp"
#include "skua/config.hpp"
#include "skua/cookie.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/mistakes.hpp"
#include "skua/status.hpp"

namespace skua {

class PreparedResponse;

namespace http {
struct ResponseAccess;
}  // namespace http

namespace detail {

template <class First, class... Rest>
inline constexpr bool is_no_response =
    (sizeof...(Rest) == 1 || sizeof...(Rest) == 2) && !std::is_enum_v<std::remove_cvref_t<First>> &&
    !std::convertible_to<First, Status>;
template <class T>
inline constexpr bool is_no_response<T> = Number<T> || std::same_as<std::remove_cvref_t<T>, Errc> ||
                                          std::same_as<std::remove_cvref_t<T>, Problem>;

/// Says why a response is not made of this.
template <class First, class... Rest>
constexpr void need_response() {
  static_assert(sizeof...(Rest) == 0,
                "a response is made of a status, its content and its type, in this order: "
                "skua::Response(skua::Status::NotFound, \"no such gull\", \"text/plain\")");
  static_assert(sizeof...(Rest) != 0 || !Number<First>,
                "a response is not made of a number: return skua::Status::NotFound, or "
                "skua::Status(404), or the text std::to_string(number)");
  static_assert(sizeof...(Rest) != 0 || Number<First>,
                "a response is made of an Error: return skua::Error(code), or problem.error, as "
                "the text of a Problem is not meant for peers");
}

}  // namespace detail

/// A response: a status, fields and a body.
///
/// The server writes the framing (Content-Length, Transfer-Encoding, Connection, Date), so no
/// handler can produce a wrongly framed message. A 200 to GET or HEAD that has an ETag or
/// Last-Modified becomes 304 or 412 if the request's preconditions say so. One to GET becomes 206
/// or 416 if the request is for a range, the tag is strong, and the content is in memory or a file;
/// `Accept-Ranges: none` prevents it. RFC 9110 §13, §14
class SKUA_API Response final {
 public:
  /// A status without content; for an error (400 and up), a line of text that names it.
  Response(Status status = Status::Ok);
  Response(Status status, Body body, std::string_view type = plain_text);
  /// 200 with text: const char*, std::string, std::string_view, StaticText, a shared string, Body.
  template <class T>
    requires(std::convertible_to<T &&, Body> && !detail::Number<T> &&
             !std::same_as<std::remove_cvref_t<T>, Response>)
  Response(T&& body) : body_(std::forward<T>(body)), type_(KnownType::Plain) {}
  /// The status of the error (`status_for`), with its message as text. If it is a fault of this
  /// machine, or of one behind it (5xx), Hooks::log gets all of it, and the client only that.
  Response(Error error);
  template <class T>
    requires(std::convertible_to<T &&, Response> && !detail::Number<T>)
  Response(Result<T> result)
      : Response(result ? Response(*std::move(result)) : Response(result.error())) {}
  /// 204, or the error.
  Response(Result<void> result)
      : Response(result ? Response(Status::NoContent) : Response(result.error())) {}
  /// Sends a prepared response without copying it.
  ///
  /// Lifetime:  `prepared` outlives the server; a router that is given one keeps it.
  Response(const PreparedResponse& prepared SKUA_LIFETIMEBOUND);
  Response(PreparedResponse&&) = delete;
  /// Sends a prepared response, which this response keeps alive.
  explicit Response(std::shared_ptr<const PreparedResponse> prepared);
  template <class First, class... Rest>
    requires(detail::is_no_response<First, Rest...>)
  Response(First&&, Rest&&...) {
    detail::need_response<First, Rest...>();
  }

  /// 200 with HTML.
  [[nodiscard]] static Response html(Body body) { return {KnownType::Html, std::move(body)}; }
  /// 200 with JSON, as text.
  [[nodiscard]] static Response json(Body body) { return {KnownType::Json, std::move(body)}; }
  template <class T>
    requires(!std::convertible_to<T &&, Body>)
  [[nodiscard]] static Response json(T&&) {
    static_assert(detail::never<T>, "JSON is passed as text: write json.dump()");
    return {};
  }
  /// Sends a file, with its ETag and Last-Modified: conditional requests get 304 or 412, and ranges
  /// 206. An empty `type` is derived from the name. 404 if it is not a regular file, 403 if it may
  /// not be read.
  ///
  /// The path must be the program's own; for one that a client can influence, use FileHandler,
  /// which never leaves its folder. The file is opened by this call and sent as it is then.
  [[nodiscard]] static Response file(const std::string& path, std::string_view type = {});
  /// Sends content that a coroutine produces meanwhile:
  ///
  /// ```cpp
  /// return skua::Response::stream("text/plain", [](skua::BodyWriter& out) -> skua::Task<> {
  ///   for (int i = 0; i < 3; ++i) co_await out.write("tick\n");
  /// });
  /// ```
  /// It is sent in chunks unless its length is given. If the producer throws or ends before that
  /// length, the connection is closed, so that the peer can tell; if the peer leaves, the producer
  /// is dropped where it waits. HEAD does not run it. A closure's captures live until the producer
  /// has ended; the request does so only if the handler is a coroutine.
  [[nodiscard]] static Response stream(std::string_view type,
                                       std::function<Task<>(BodyWriter&)> produce,
                                       std::optional<std::uint64_t> length_bytes = std::nullopt);
  template <class F>
    requires(!detail::Producer<F>)
  [[nodiscard]] static Response stream(std::string_view, F&&,
                                       std::optional<std::uint64_t> = std::nullopt) {
    detail::need_producer<F>();
    return Response();
  }
  /// Redirects the client to another URL, requested with GET unless the status says otherwise.
  [[nodiscard]] static Response redirect(std::string_view to, Status status = Status::SeeOther);
  template <detail::Number T>
  [[nodiscard]] static Response redirect(std::string_view, T) {
    detail::need_status<T>();
    return Response();
  }

  /// Sets a field, in place of any with the same name; Set-Cookie is always added.
  ///
  /// `Connection: close` closes the connection after this response; over HTTP/2, after the requests
  /// in progress on it.
  ///
  /// Ends with: std::invalid_argument for a name that is not a token, a value with CR, LF, NUL or
  ///            another control character, and the fields that frame a message, which are the
  ///            server's.
  Response& header(std::string_view name, std::string_view value) &;
  Response&& header(std::string_view name, std::string_view value) && {
    return std::move(header(name, value));
  }
  template <detail::NotText T>
  Response& header(std::string_view, const T&) {
    detail::need_text<T>();
    return *this;
  }
  /// Adds a field line and keeps those with the same name.
  Response& add_header(std::string_view name, std::string_view value) &;
  Response&& add_header(std::string_view name, std::string_view value) && {
    return std::move(add_header(name, value));
  }
  template <detail::NotText T>
  Response& add_header(std::string_view, const T&) {
    detail::need_text<T>();
    return *this;
  }
  /// Removes every field with this name.
  Response& remove_header(std::string_view name) &;
  /// Adds the name of a request field to Vary, unless it or `*` is there: caches then reuse the
  /// response only for requests with the same value.
  ///
  /// RFC:       9110 §12.5.5
  Response& vary(std::string_view name) &;
  Response&& vary(std::string_view name) && { return std::move(vary(name)); }
  /// Adds a cookie.
  ///
  /// Ends with: std::invalid_argument for a name, value, path or domain that no cookie can have,
  ///            and for a `__Host-` or `__Secure-` name whose options do not meet its conditions.
  /// RFC:       6265 §4.1.1
  Response& cookie(std::string_view name, std::string_view value,
                   const CookieOptions& options = {}) &;
  Response&& cookie(std::string_view name, std::string_view value,
                    const CookieOptions& options = {}) && {
    return std::move(cookie(name, value, options));
  }
  template <detail::NotText T>
  Response& cookie(std::string_view, const T&, const CookieOptions& = {}) {
    detail::need_text<T>();
    return *this;
  }
  /// Replaces the status, and keeps the rest.
  Response& status(Status status) &;
  Response&& status(Status status_code) && { return std::move(status(status_code)); }
  template <detail::Number T>
  Response& status(T) {
    detail::need_status<T>();
    return *this;
  }
  /// Replaces the content; the type stays unless one is given.
  Response& body(Body body, std::string_view type = {}) &;

  [[nodiscard]] Status status() const noexcept { return status_; }
  /// Reports whether `Connection: close` was set.
  [[nodiscard]] bool closes_connection() const noexcept { return closes_connection_; }
  /// Returns the content if it is in memory; empty for a file or a stream.
  [[nodiscard]] std::string_view body() const noexcept SKUA_LIFETIMEBOUND { return body_.text(); }
  /// Returns the Content-Type; empty if there is none.
  [[nodiscard]] std::string_view content_type() const noexcept SKUA_LIFETIMEBOUND;
  /// Returns the value of the first field with this name among those that were set.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;

  // For writers. A writer sends either the prepared head, or the status line and
  // `Content-Type: static_type()` if that is not empty; then Date and Server unless known_fields()
  // has them, lines().wire(), the framing, and content().

  /// Returns the prepared head, or null; its status and type are those of this response.
  [[nodiscard]] const PreparedResponse* prepared() const noexcept { return prepared_; }
  /// Returns the type if it is one of the constants below; any other type is among the lines.
  [[nodiscard]] std::string_view static_type() const noexcept { return text(type_); }
  [[nodiscard]] const FieldLines& lines() const noexcept SKUA_LIFETIMEBOUND { return lines_; }
  /// Returns a set: bit n is the n-th http::FieldName, among the lines or in the prepared head.
  [[nodiscard]] std::uint64_t known_fields() const noexcept;
  [[nodiscard]] const Body& content() const noexcept SKUA_LIFETIMEBOUND { return body_; }
  [[nodiscard]] Body& content() noexcept SKUA_LIFETIMEBOUND { return body_; }

  static constexpr std::string_view plain_text = "text/plain; charset=utf-8";
  static constexpr std::string_view html_text = "text/html; charset=utf-8";
  static constexpr std::string_view json_text = "application/json";

 private:
  friend class PreparedResponse;
  friend struct http::ResponseAccess;

  enum class KnownType : std::uint8_t { None, Plain, Html, Json };
  static constexpr std::string_view known_types[] = {{}, plain_text, html_text, json_text};

  Response(KnownType type, Body&& body) : body_(std::move(body)), type_(type) {}

  [[nodiscard]] static std::string_view text(KnownType type) noexcept {
    return known_types[static_cast<std::size_t>(type)];
  }

  void type(std::string_view type);
  void set_apart(unsigned known, std::string_view name, std::string_view value);
  void unprepare();

  const PreparedResponse* prepared_ = nullptr;
  Body body_;
  FieldLines lines_;
  Status status_ = Status::Ok;
  bool closes_connection_ = false;
  bool is_evaluated_ = false;         // the request's preconditions were, by the origin server
  KnownType type_ = KnownType::None;  // any other type is among the lines
};
static_assert(sizeof(Response) <= 256);

}  // namespace skua
