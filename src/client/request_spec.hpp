// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "http/message/field.hpp"
#include "skua/body.hpp"
#include "skua/bytes.hpp"
#include "skua/client_request.hpp"
#include "skua/client_response.hpp"
#include "skua/credentials.hpp"
#include "skua/error.hpp"
#include "skua/field_lines.hpp"
#include "skua/form.hpp"
#include "skua/method.hpp"
#include "skua/multipart_writer.hpp"
#include "skua/query.hpp"
#include "skua/status.hpp"
#include "skua/url.hpp"

namespace skua::client {

/// Reports whether repeating a request does what sending it once does. A method that skua does not
/// know is neither safe nor idempotent. RFC 9110 §9.2.2, RFC 4918, RFC 10008
constexpr bool is_idempotent(Method method) noexcept {
  return method != Method::Post && method != Method::Patch && method != Method::Connect &&
         method != Method::Lock && method != Method::Other;
}

/// A file in a form.
struct FormFile {
  std::string name{};
  std::string path{};  ///< or the file name to send, if there is a text
  std::string type{};
  std::shared_ptr<const std::string> text{};  ///< the content, instead of a file's
};

/// How far a request has got when it fails: whether it may be repeated depends on it.
struct Reached {
  bool has_tried = false;       ///< to connect; it may have waited for a free connection only
  bool is_connected = false;    ///< there was a connection, so the server may have seen something
  bool has_sent = false;        ///< some of its content, which is a stream
  bool is_unprocessed = false;  ///< the server said so
  bool is_fallback = false;     ///< it was asked in HTTP/1.1, which it may not speak
  bool has_informed = false;    ///< an interim response was passed on
  /// A connection that had served others was closed before any byte of a response: that tells
  /// nothing about the server, which may not even have seen the request.
  bool was_reused = false;
};

/// A message that is passed on for another client, to the server of ClientOptions::base_url.
struct Forwarding {
  std::string target{};  ///< the path and query to send, in origin form and checked
  /// A WebSocket's handshake, with the fields of HTTP/1.1: the connection may switch to its
  /// protocol. If it speaks HTTP/2 and permits that, the request is made an extended CONNECT, and a
  /// 2xx stands for 101. RFC 8441
  bool offers_upgrade = false;
  /// The first bytes of the connection, before TLS; it is shared only with those that have the
  /// same.
  std::string preface{};
  Duration head_timeout{};  ///< in place of ClientTimeouts::head, unless zero
  /// Called with the heads of interim responses, except 100.
  std::function<void(const http::Head&)> on_interim{};
  /// Returns whether the content can be produced once more; empty: it cannot.
  std::function<bool()> may_repeat{};
};

/// Told how a response ends, which it outlives. It is destroyed without being told if nobody reads
/// the content to its end.
class ResponseWatch {
 public:
  ResponseWatch() = default;
  ResponseWatch(const ResponseWatch&) = delete;
  ResponseWatch& operator=(const ResponseWatch&) = delete;
  virtual ~ResponseWatch() = default;

  /// The last of the content has arrived.
  virtual void completed() noexcept = 0;
  /// The content broke off.
  virtual void failed(const Problem& why) noexcept = 0;
};

/// The settings of a ClientRequest.
struct RequestSpec {
  Method method = Method::Get;
  std::string other_method{};  ///< its token, if `method` is Other
  std::string url{};
  FieldLines fields{};
  std::vector<std::string> left_out{};  ///< names of default fields to omit
  QueryBuilder query{};
  Body content{};
  std::string content_type{};
  Form form{};  ///< the content, if not empty
  std::vector<FormFile> files{};
  std::shared_ptr<MultipartWriter> parts{};       ///< the content, if not null
  std::optional<BasicCredentials> credentials{};  ///< sent when the server asks for them
  Duration timeout{};
  unsigned redirects = 0;
  std::uint64_t bytes_per_second = 0;  ///< of content, in each direction; zero: no limit
  /// If set, `url` is not used, no field is added, and every response is final.
  std::optional<Forwarding> forwarding{};
  bool is_content_given = false;  ///< even if it is empty
  bool expects_continue = false;
  bool decompress = true;
  std::function<void(Progress)> on_progress{};
  std::function<void(Progress)> on_upload{};
  std::function<void(Status, std::string_view)> on_interim{};
  std::function<void(HeadOf, std::string_view)> on_head{};
  Reached* reached = nullptr;              ///< filled in unless null; outlives the task
  std::shared_ptr<ResponseWatch> watch{};  ///< shared with the response; null: nobody
};

/// A request's content and its media type.
struct RequestContent {
  Body body{};
  std::string type{};
  bool is_given = false;  ///< there is content, even if it is empty
};

/// Makes a request's content. Call it for each attempt, since files are read as they are sent.
///
/// Ends with: the file system's errors for a form's files; the text names the file.
Result<RequestContent, Problem> make_content(const RequestSpec& spec);

/// Reports whether there will be content, even if it is empty.
[[nodiscard]] bool has_content(const RequestSpec& spec) noexcept;

/// Reports whether the content's producer is our own, since it reads files: then its exceptions are
/// problems of the request, and do not come from the caller's code.
[[nodiscard]] bool sends_files(const RequestSpec& spec) noexcept;

/// Reports whether make_content() can be called again after some of the content was sent.
[[nodiscard]] bool is_repeatable(const RequestSpec& spec) noexcept;

}  // namespace skua::client
