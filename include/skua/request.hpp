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
#include "skua/cookie.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"
#include "skua/method.hpp"
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

/// One field line of a request, as it was sent.
struct HeaderLine {
  std::string_view name{};
  std::string_view value{};
};

/// Every field line of a request in order of arrival: `for (auto [name, value] :
/// request.headers())`.
class HeaderLines final {
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

/// Every value of one query parameter: `for (std::string_view tag : request.queries("tag"))`.
class QueryValues final {
 public:
  struct End {};
  class Iterator {
   public:
    std::string_view operator*() const noexcept { return value_; }
    Iterator& operator++() { return next(), *this; }
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

/// What a client asks for. Views into the bytes that were received: nothing is copied until it has
/// to be decoded.
///
/// Lifetime:  every view is valid until the handler has returned, that of a coroutine until it has
///            ended and its response is made. One thread at a time.
class Request final {
 public:
  /// For servers and tests: `parts` outlives the request.
  explicit Request(const http::RequestParts& parts SKUA_LIFETIMEBOUND) noexcept : parts_(&parts) {}
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;
  ~Request() = default;

  [[nodiscard]] Method method() const noexcept;
  /// The path, percent-decoded and normalised once: what the routes match and the files are found
  /// by.
  [[nodiscard]] std::string_view path() const noexcept;
  /// The request target as it was sent: `/a%20b?c=d`.
  [[nodiscard]] std::string_view target() const noexcept;
  /// What follows the `?`, as it was sent.
  [[nodiscard]] std::string_view query_string() const noexcept;
  /// The first query parameter with this name, decoded (`+` is a space).
  [[nodiscard]] std::optional<std::string_view> query(std::string_view name) const;
  /// All of them, in order.
  [[nodiscard]] QueryValues queries(std::string_view name) const noexcept { return {*this, name}; }

  /// The first field line with this name, whatever the case of its letters.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;
  [[nodiscard]] HeaderLines headers() const noexcept;
  /// The media type of the content as it was sent; empty without one.
  [[nodiscard]] std::string_view content_type() const noexcept;
  /// The first cookie with this name.
  [[nodiscard]] std::optional<std::string_view> cookie(std::string_view name) const noexcept;
  [[nodiscard]] RequestCookies cookies() const noexcept;

  /// The whole content; in a coroutine handler what load() has loaded.
  [[nodiscard]] std::string_view body() const noexcept;
  [[nodiscard]] Bytes bytes() const noexcept { return skua::bytes(body()); }

  /// Reads the next piece of the content; nothing at its end. For coroutine handlers; to be awaited
  /// at once.
  ///
  /// Waits for: more bytes, at most Timeouts::body. `100 Continue` is sent where the client waits
  ///            for it.
  /// Ends with: the handler dropped, and 408 when the peer stalls, 413 past
  ///            Limits::streamed_body_bytes, 400 for malformed chunks.
  /// Lifetime:  the bytes are valid until the next read on this request.
  /// RFC:       9112 §6.3, §7.1
  [[nodiscard]] detail::ReadAwaiter read() noexcept { return detail::ReadAwaiter(*this); }
  /// Reads all that is left of the content.
  ///
  /// Waits for: the end of the content.
  /// Ends with: HttpError(413) past `limit_bytes`; 0 stands for Limits::body_bytes.
  Task<std::string> text(std::size_t limit_bytes = 0);
  Task<std::vector<std::byte>> bytes(std::size_t limit_bytes);
  /// The same, kept: body() is all of it from then on.
  Task<std::string_view> load(std::size_t limit_bytes = 0);
  /// Writes all that is left of the content to a file, which is there only when it is whole: it is
  /// written under another name in the same folder and renamed. Returns its size in bytes.
  ///
  /// Waits for: the content, and the file system on another thread.
  /// Ends with: what the file system says; an unfinished file is removed, also when dropped.
  Task<Result<std::uint64_t>> save(std::string path);
  /// Reads a form: urlencoded, or the text fields of `multipart/form-data`, where files are passed
  /// over. A plain handler has `Form::parse_content(request.content_type(), request.body())`.
  ///
  /// Waits for: the end of the content.
  /// Ends with: UnsupportedMediaType where it is no form; see Form::parse_content.
  Task<Result<Form>> form(FormLimits limits = {});
  /// The parts of multipart content, one after the other, while they arrive. Nothing else reads the
  /// content meanwhile.
  ///
  /// Lifetime:  the request outlives it.
  [[nodiscard]] Multipart multipart(const MultipartLimits& limits = {}) SKUA_LIFETIMEBOUND;
  /// The first trailer field with this name; known when the content has been read to its end.
  [[nodiscard]] std::optional<std::string_view> trailer(std::string_view name) const noexcept;

  /// What the `{name}` of the route stands for, decoded.
  [[nodiscard]] std::optional<std::string_view> param(std::string_view name) const noexcept;
  /// The same by position, from 0; empty where there is none.
  [[nodiscard]] std::string_view param(std::size_t index) const noexcept;

  [[nodiscard]] Version version() const noexcept;
  /// The host (and port) that the client meant: `example.com:8080`.
  [[nodiscard]] std::string_view host() const noexcept;
  /// The client's address: `192.0.2.1:50123`.
  [[nodiscard]] std::string peer() const;
  /// Whether it came over TLS.
  [[nodiscard]] bool is_secure() const noexcept;

  /// What guards found out for handlers (a user, a session), by its type.
  ///
  /// Lifetime:  until the response is over: its stream too, where it has one. Whatever ends the
  ///            request destroys them, so that what a guard takes is given back by a destructor.
  ///            Those of a request that opens a WebSocket are that socket's from then on.
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
  bool is_read_ = false;                     // of content that has no source
  mutable std::unique_ptr<char[]> decoded_;  // as large as the query string, once one is needed
  Attachments* lent_ = nullptr;              // where a WebSocket has them
  Attachments attachments_;  // last: their destructors may look at views of all the rest
};

namespace detail {

/// A copy of what a request says, without its content, that outlives it.
std::shared_ptr<Request> keep_request(const Request& request);

}  // namespace detail

}  // namespace skua
