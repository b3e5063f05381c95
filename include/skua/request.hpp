// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "skua/attachments.hpp"
#include "skua/body_reader.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/connection.hpp"
#include "skua/cookie.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"
#include "skua/method.hpp"
#include "skua/mistakes.hpp"
#include "skua/multipart.hpp"
#include "skua/task.hpp"
#include "skua/version.hpp"

namespace skua {

namespace http {
struct Head;
struct RequestParts;
struct RequestAccess;
struct Captures;
}  // namespace http

class Request;

/// One field line of a request, as sent.
struct HeaderLine {
  std::string_view name{};
  std::string_view value{};
};

/// The field lines of a request in order of arrival:
/// `for (auto [name, value] : request.headers())`.
class SKUA_API HeaderLines final {
 public:
  class Iterator {
   public:
    HeaderLine operator*() const noexcept;
    Iterator& operator++() noexcept { return ++index_, *this; }
    bool operator==(const Iterator& other) const noexcept = default;

   private:
    friend class HeaderLines;
    Iterator(const http::Head* head, std::size_t index) noexcept : head_(head), index_(index) {}
    const http::Head* head_;
    std::size_t index_;
  };

  [[nodiscard]] Iterator begin() const noexcept { return {head_, 0}; }
  [[nodiscard]] Iterator end() const noexcept { return {head_, size()}; }
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  friend class Request;
  explicit HeaderLines(const http::Head& head) noexcept : head_(&head) {}
  const http::Head* head_;
};

/// All values of one query parameter: `for (std::string_view tag : request.queries("tag"))`.
class SKUA_API QueryValues final {
 public:
  struct End {};
  class Iterator {
   public:
    std::string_view operator*() const noexcept { return value_; }
    Iterator& operator++() {
      next();
      return *this;
    }
    bool operator==(End) const noexcept { return is_end_; }

   private:
    friend class QueryValues;
    Iterator(const Request& request, std::string_view name);
    void next();
    const Request* request_;
    std::string_view name_;
    std::string_view rest_;
    std::string_view value_{};
    bool is_end_ = false;
  };

  [[nodiscard]] Iterator begin() const { return {*request_, name_}; }
  [[nodiscard]] static End end() noexcept { return {}; }

 private:
  friend class Request;
  QueryValues(const Request& request, std::string_view name) noexcept
      : request_(&request), name_(name) {}
  const Request* request_;
  std::string_view name_;
};

/// A request, as views into the received bytes: nothing is copied unless it has to be decoded.
///
/// Lifetime:  every view is valid until the handler returns; in a coroutine, until it has ended and
///            its response is made. One thread at a time.
class SKUA_API Request final {
 public:
  /// For servers and tests: `parts` outlives the request.
  explicit Request(const http::RequestParts& parts SKUA_LIFETIMEBOUND) noexcept : parts_(&parts) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() = default;

  [[nodiscard]] Method method() const noexcept;
  /// Returns the method as sent, even if it is Method::Other: `GET`, `REPORT`.
  [[nodiscard]] std::string_view method_name() const noexcept;
  /// Returns the path, percent-decoded and normalised once; routes and files are found by it.
  [[nodiscard]] std::string_view path() const noexcept;
  /// Returns the request target as sent: `/a%20b?c=d`.
  [[nodiscard]] std::string_view target() const noexcept;
  /// Returns the text after the `?`, as sent.
  [[nodiscard]] std::string_view query_string() const noexcept;
  /// Returns the first query parameter with this name, decoded (`+` is a space).
  [[nodiscard]] std::optional<std::string_view> query(std::string_view name) const;
  /// Returns all query parameters with this name, in order.
  [[nodiscard]] QueryValues queries(std::string_view name) const noexcept { return {*this, name}; }

  /// Returns the first field line with this name, ignoring case.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
  /// Returns all field lines, in order.
  [[nodiscard]] HeaderLines headers() const noexcept;
  /// Returns the media type of the content as sent; empty if it is missing.
  [[nodiscard]] std::string_view content_type() const noexcept;
  /// Returns the first cookie with this name.
  [[nodiscard]] std::optional<std::string_view> cookie(std::string_view name) const noexcept;
  /// Returns all cookies, in order.
  [[nodiscard]] RequestCookies cookies() const noexcept;

  /// Sends fields to the client before the response, as 103 (Early Hints): mostly Link, for what it
  /// should load meanwhile. For coroutine handlers; sends nothing in others, to HTTP/1.0, or once
  /// the response has begun.
  ///
  /// Ends with: std::invalid_argument for a field of the connection or of the content's framing.
  /// RFC:       8297
  void early_hints(const FieldLines& headers);

  /// Returns the whole content; in a coroutine handler, the content that load() has loaded.
  [[nodiscard]] std::string_view body() const noexcept;
  /// Like body(), as bytes.
  [[nodiscard]] Bytes bytes() const noexcept { return skua::bytes(body()); }

  /// Reads the next piece of the content; nullopt at its end. For coroutine handlers; await it
  /// directly.
  ///
  /// Waits for: more bytes, at most Timeouts::body. Sends `100 Continue` if the client expects it.
  /// Ends with: the handler dropped, and 408 if the peer stalls, 413 past
  ///            Limits::streamed_body_bytes, 400 for malformed chunks.
  /// Lifetime:  the bytes are valid until the next read on this request.
  /// RFC:       9112 §6.3, §7.1
  [[nodiscard]] detail::ReadAwaiter read() noexcept { return detail::ReadAwaiter(*this); }
  /// Reads the rest of the content.
  ///
  /// Waits for: the end of the content.
  /// Ends with: HttpError(413) past `limit_bytes` (0: Limits::body_bytes), HttpError(503) past
  ///            Limits::server_body_bytes; std::logic_error if the content was taken before: load()
  ///            keeps it.
  Task<std::string> text(std::size_t limit_bytes = 0);
  template <class Self = Request>
  Task<std::string> text(std::size_t = 0) const {
    static_assert(detail::never<Self>,
                  "reading content changes the request: take a skua::Request&, not a const one");
    return const_cast<Self*>(this)->text();
  }
  /// Like text(), as bytes.
  Task<std::vector<std::byte>> bytes(std::size_t limit_bytes);
  /// Like text(), but keeps the content, so that body() returns all of it, and read() once more.
  Task<std::string_view> load(std::size_t limit_bytes = 0);
  /// Writes the rest of the content to a file and returns the file's size in bytes. The file is
  /// written under another name in the same folder and renamed once it is complete.
  ///
  /// Waits for: the content, and the file system on another thread.
  /// Ends with: errors of the file system. An unfinished file is removed, as it is if the task is
  ///            dropped.
  Task<Result<std::uint64_t>> save(std::string path);
  /// Reads a form: urlencoded, or the text fields of `multipart/form-data`; files are skipped. A
  /// plain handler uses `Form::parse_content(request.content_type(), request.body())`.
  ///
  /// Waits for: the end of the content.
  /// Ends with: UnsupportedMediaType if it is not a form, UnsupportedCoding if it has a
  ///            Content-Encoding; see Form::parse_content.
  Task<Result<Form>> form(FormLimits limits = {});
  /// Reads multipart content part by part as it arrives. Nothing else may read it meanwhile.
  ///
  /// Lifetime:  the request outlives it.
  [[nodiscard]] Multipart multipart(const MultipartLimits& limits = {}) SKUA_LIFETIMEBOUND;
  /// Returns the first trailer field with this name; known once the content is read to its end.
  [[nodiscard]] std::optional<std::string_view> trailer(std::string_view name) const noexcept;

  /// Returns the decoded value of the route's `{name}`.
  [[nodiscard]] std::optional<std::string_view> param(std::string_view name) const noexcept;
  /// Returns the value of a wildcard by position, from 0; empty past the last.
  [[nodiscard]] std::string_view param(std::size_t index) const noexcept;

  /// Returns the pattern of the route that the request is for: `/users/{id}`. Empty if none
  /// matched, and in tests of a handler without a router.
  [[nodiscard]] std::string_view route() const noexcept;

  /// Returns how long the handler may still take before it is dropped: for calls that it makes of
  /// others, `client.get(url).timeout(request.time_left())`. Duration::max() if as long as it
  /// likes.
  ///
  /// See Timeouts::handler, RequestLimits::handler_timeout.
  [[nodiscard]] Duration time_left() const noexcept;

  [[nodiscard]] Version version() const noexcept;
  /// Returns the host, and any port, that the request names: `example.com:8080`. A proxy may have
  /// put another one there than the client, see requested_host().
  [[nodiscard]] std::string_view host() const noexcept;
  /// Returns the address of the connection's peer: `192.0.2.1:50123`; a proxy's if there is one,
  /// unless that begins its connections with a PROXY header.
  [[nodiscard]] std::string peer() const;
  /// Reports whether the connection uses TLS.
  [[nodiscard]] bool is_secure() const noexcept;

  /// Returns the client's address: the peer's or, if that is one of ServerOptions::trusted_proxies,
  /// the nearest that is not, as they tell. The port is 0 if they do not tell it.
  [[nodiscard]] Address client_address() const;
  /// Returns `https` if the client uses TLS, otherwise `http`. That is the connection's scheme, or
  /// what trusted proxies tell of theirs.
  [[nodiscard]] std::string_view scheme() const;
  /// Returns the host, and any port, that the client asked for: host(), or what trusted proxies
  /// tell. For links and for comparisons with `Origin`; routing is up to host().
  [[nodiscard]] std::string_view requested_host() const;

  /// Returns the connection, with its addresses, its TLS, and the state that handlers keep with it.
  ///
  /// Lifetime:  until the connection is closed, after all its handlers and WebSockets.
  [[nodiscard]] Connection& connection() SKUA_LIFETIMEBOUND;
  [[nodiscard]] const Connection& connection() const SKUA_LIFETIMEBOUND;

  /// Returns the values that guards attached for handlers (a user, a session), by type.
  ///
  /// Lifetime:  until the response is over, including its stream. They are destroyed however the
  ///            request ends, so a destructor can release what a guard acquired. If the request
  ///            opens a WebSocket, they belong to that socket from then on.
  [[nodiscard]] Attachments& attachments() noexcept SKUA_LIFETIMEBOUND {
    return lent_ != nullptr ? *lent_ : attachments_;
  }
  [[nodiscard]] const Attachments& attachments() const noexcept SKUA_LIFETIMEBOUND {
    return lent_ != nullptr ? *lent_ : attachments_;
  }

 private:
  friend struct http::RequestAccess;
  friend class QueryValues::Iterator;
  friend class detail::ReadAwaiter;
  std::string_view decode(std::string_view encoded) const;

  const http::RequestParts* parts_;
  const http::Captures* captures_ = nullptr;
  std::unique_ptr<const std::string> loaded_;
  bool is_read_ = false;                     // content that has no source was read
  bool is_taken_ = false;                    // text() or bytes() has returned content
  mutable std::unique_ptr<char[]> decoded_;  // as large as the query string; made on first use
  Attachments* lent_ = nullptr;              // the WebSocket's, if the request opened one
  Attachments attachments_;  // last: their destructors may use views of all the rest
};

namespace detail {

/// Copies a request, without its content, so that the copy outlives it.
SKUA_API std::shared_ptr<Request> keep_request(const Request& request);

}  // namespace detail

}  // namespace skua
