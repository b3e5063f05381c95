// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/status.hpp"
#include "skua/task.hpp"
#include "skua/url.hpp"
#include "skua/version.hpp"

namespace skua {

namespace client {
class Reception;
}  // namespace client

/// How far a transfer is.
struct Progress {
  std::uint64_t done_bytes = 0;
  std::optional<std::uint64_t> total_bytes{};  ///< where it is known
};

/// What the steps of a request took, from its beginning; absent: there was no such step. Where it
/// was redirected, those of the last request.
struct ClientTimings {
  std::optional<Duration> resolved{};   ///< the name had addresses
  std::optional<Duration> connected{};  ///< there was a connection
  std::optional<Duration> secured{};    ///< TLS had shaken hands
  std::optional<Duration> sent{};       ///< the request began to be sent
  std::optional<Duration> head{};       ///< the head was there
  std::optional<Duration> content{};    ///< the content was read to its end
};

/// A response: its head is there, its content is read as it comes.
///
/// Where it is destroyed before its content was read, its connection is closed; in HTTP/2 only the
/// stream.
///
/// Lifetime:  it keeps what it needs of its client.
class ClientResponse final {
 public:
  explicit ClientResponse(std::unique_ptr<client::Reception> reception) noexcept;
  ClientResponse(ClientResponse&&) noexcept;
  ClientResponse& operator=(ClientResponse&&) noexcept;
  ~ClientResponse();

  [[nodiscard]] Status status() const noexcept;
  [[nodiscard]] Version version() const noexcept;
  /// The words behind the status: HTTP/1.1 may have some.
  [[nodiscard]] std::string_view reason() const noexcept SKUA_LIFETIMEBOUND;
  /// The value of the first field with this name, or of the nth after it.
  [[nodiscard]] std::optional<std::string_view> header(
      std::string_view name, std::size_t nth = 0) const noexcept SKUA_LIFETIMEBOUND;
  /// All fields in order: the name and the value of the nth; nothing behind the last.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> field(
      std::size_t nth) const noexcept SKUA_LIFETIMEBOUND;
  /// The same of the trailers, once the content was read to its end.
  [[nodiscard]] std::optional<std::string_view> trailer(std::string_view name) const noexcept
      SKUA_LIFETIMEBOUND;
  /// All of them in order, as field(); nothing before the content was read to its end.
  [[nodiscard]] std::optional<std::pair<std::string_view, std::string_view>> trailer_field(
      std::size_t nth) const noexcept SKUA_LIFETIMEBOUND;
  /// What it is the answer to: where redirects have led.
  [[nodiscard]] const Url& url() const noexcept SKUA_LIFETIMEBOUND;
  [[nodiscard]] unsigned redirects() const noexcept;
  /// The size of the content as it is sent, where the server has told.
  [[nodiscard]] std::optional<std::uint64_t> length_bytes() const noexcept;
  /// Whether its content was compressed, so that length_bytes() is not what is read.
  [[nodiscard]] bool is_decoded() const noexcept;
  [[nodiscard]] const ClientTimings& timings() const noexcept SKUA_LIFETIMEBOUND;

  /// The next piece of the content, decoded; nothing at its end.
  ///
  /// Waits for: more bytes, at most ClientTimeouts::idle, and the request's own timeout.
  /// Ends with: TimedOut; TruncatedBody, and what else breaks the rules; MalformedCoding and
  ///            BodyTooLong, also for content that decodes to too much; from then on always.
  /// Lifetime:  the bytes are valid until the next read.
  [[nodiscard]] Task<Result<std::optional<Bytes>, Problem>> read();
  /// All that is left of the content.
  ///
  /// Waits for: all of it, as read().
  /// Ends with: as read(); BodyTooLong for more than `limit_bytes`, at most
  /// ClientLimits::text_bytes
  ///            where nothing is said.
  [[nodiscard]] Task<Result<std::string, Problem>> text();
  [[nodiscard]] Task<Result<std::string, Problem>> text(std::size_t limit_bytes);
  /// Writes what is left of the content into a file, in place of any that has its name, which it
  /// gets when it is whole: how many bytes it has. See ClientRequest::download to resume.
  ///
  /// Waits for: all of it, as read(); the disk, on another thread.
  /// Ends with: as read(); what the file system says. Then there is no new file.
  [[nodiscard]] Task<Result<std::uint64_t, Problem>> save(std::string path);

 private:
  std::unique_ptr<client::Reception> reception_;
};

}  // namespace skua
