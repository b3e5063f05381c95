// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua/address.hpp"
#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"
#include "skua/task.hpp"
#include "skua/tls.hpp"
#include "skua/url.hpp"
#include "skua/version.hpp"

namespace skua {

namespace client {
class IncomingResponse;
}  // namespace client

/// The progress of a transfer.
struct Progress {
  std::uint64_t done_bytes = 0;
  std::optional<std::uint64_t> total_bytes{};  ///< if known
};

/// When each step of a request was done, from its beginning; absent if there was no such step.
/// After redirects, the steps of the last request.
struct ClientTimings {
  std::optional<Duration> resolved{};   ///< the name was resolved
  std::optional<Duration> connected{};  ///< the connection was made
  std::optional<Duration> secured{};    ///< the TLS handshake was done
  std::optional<Duration> sent{};       ///< the request began to be sent
  std::optional<Duration> head{};       ///< the head was received
  std::optional<Duration> content{};    ///< the content was read to its end
};

/// A response: its head was received, its content is read as it arrives.
///
/// Destroying it before its content was read closes the connection; in HTTP/2 only the stream.
///
/// Lifetime:  it keeps alive what it needs of its client.
class SKUA_API ClientResponse final {
 public:
  explicit ClientResponse(std::unique_ptr<client::IncomingResponse> incoming) noexcept;
  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  [[nodiscard]] Status status() const noexcept;
  [[nodiscard]] Version version() const noexcept;
  /// The reason phrase; may be empty. HTTP/2 has none.
  [[nodiscard]] std::string_view reason() const noexcept SKUA_LIFETIMEBOUND;
  /// The value of the first field with this name, or of the nth after it.
  [[nodiscard]] std::optional<std::string_view> header(
      std::string_view name, std::size_t nth = 0) const noexcept SKUA_LIFETIMEBOUND;
  /// The name and value of the nth field, in order; nullopt past the last.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> header_line(
      std::size_t nth) const noexcept SKUA_LIFETIMEBOUND;
  /// The value of the first trailer field with this name, once the content was read to its end.
  [[nodiscard]] std::optional<std::string_view> trailer(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;
  /// Like header_line(), for trailers; nullopt before the content was read to its end.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> trailer_line(
      std::size_t nth) const noexcept SKUA_LIFETIMEBOUND;
  /// The URL that was answered, after redirects.
  [[nodiscard]] const Url& url() const noexcept SKUA_LIFETIMEBOUND;
  /// The number of redirects that were followed.
  [[nodiscard]] unsigned redirects() const noexcept;
  /// The size of the content before decoding, if the server sent it.
  [[nodiscard]] std::optional<std::uint64_t> length_bytes() const noexcept;
  /// Reports whether the content was compressed; length_bytes() then differs from what is read.
  [[nodiscard]] bool is_decoded() const noexcept;
  /// The address that the request was sent to: the server's, or a proxy's.
  [[nodiscard]] const Address& remote_address() const noexcept SKUA_LIFETIMEBOUND;
  /// The negotiated TLS, without the fields about a client's certificate; null without TLS.
  [[nodiscard]] const TlsInfo* tls() const noexcept SKUA_LIFETIMEBOUND;
  /// When each step was done, so far.
  [[nodiscard]] const ClientTimings& timings() const noexcept SKUA_LIFETIMEBOUND;

  /// Reads the next piece of the content, decoded; nullopt at its end.
  ///
  /// Waits for: more bytes, at most ClientTimeouts::idle, and the request's own timeout.
  /// Ends with: TimedOut; TruncatedBody and other protocol errors; MalformedCoding; BodyTooLong,
  ///            also for content that decodes to too much. Later calls repeat the error.
  /// Lifetime:  the bytes are valid until the next read.
  [[nodiscard]] Task<Result<std::optional<Bytes>, Problem>> read();
  /// Reads the rest of the content.
  ///
  /// Waits for: all of it, as read().
  /// Ends with: the errors of read(); BodyTooLong past `limit_bytes`, ClientLimits::text_bytes by
  ///            default.
  [[nodiscard]] Task<Result<std::string, Problem>> text();
  /// Like text(), with a limit of its own.
  [[nodiscard]] Task<Result<std::string, Problem>> text(std::size_t limit_bytes);
  /// Writes the rest of the content to a file and returns its size. The file gets its name, in
  /// place of any other file, once it is complete. See ClientRequest::download to resume.
  ///
  /// Waits for: all of it, as read(); the disk, on another thread.
  /// Ends with: the errors of read() and of the file system. Then there is no new file.
  [[nodiscard]] Task<Result<std::uint64_t, Problem>> save(std::string path);

 private:
  std::unique_ptr<client::IncomingResponse> incoming_;
};

}  // namespace skua
