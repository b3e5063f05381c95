// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/status.hpp"
#include "skua/waiter.hpp"

namespace skua {

class FieldLines;
class Request;

namespace http {
struct Head;
}  // namespace http

namespace detail {

/// Takes content at the moment of its arrival, so that nobody keeps it.
class SKUA_API ContentTaker {
 public:
  enum class Taken : std::uint8_t {
    Nothing,
    All,
    Last,  ///< all, but there is no room for more now
  };
  /// Takes a piece, which is valid during the call only.
  virtual Taken take(std::string_view piece) noexcept = 0;

 protected:
  ~ContentTaker() = default;
};

/// The source of a request's content while it arrives; servers implement it.
class SKUA_API BodySource {
 public:
  /// Reports whether take() has a piece, or the end, to return.
  [[nodiscard]] virtual bool has_piece() const noexcept = 0;
  /// Returns the next piece, valid until the next call; nullopt at the end.
  virtual std::optional<Bytes> take() = 0;
  /// Parks a reader until has_piece().
  virtual void wait(Waiter& waiter, std::coroutine_handle<> reader) = 0;
  /// The trailer fields, once the end has been taken.
  [[nodiscard]] virtual const http::Head& trailers() const noexcept = 0;
  /// The limit of a whole body that is kept in memory, in bytes.
  [[nodiscard]] virtual std::size_t max_kept_bytes() const noexcept = 0;
  /// The number of bytes not taken yet; nullopt if unknown.
  [[nodiscard]] virtual std::optional<std::uint64_t> left_bytes() const noexcept = 0;
  /// Counts that many taken bytes as kept in memory until the request is over. Returns false, and
  /// counts nothing, if the server already keeps too much.
  [[nodiscard]] virtual bool keep(std::size_t bytes) noexcept = 0;
  /// Sends an interim response, if the protocol has them and the response has not begun.
  virtual void inform(Status, const FieldLines&) {}
  /// Lets the peer pause for this long before each further piece, in place of the server's limits
  /// on its pace.
  virtual void allow_pauses(Duration) noexcept {}
  /// Says that nobody is going to read: a peer that waits for 100 (Continue) is not sent it.
  virtual void decline() noexcept {}
  /// Offers further content to `taker` first, while a reader waits for it. After Last, the reader
  /// is given an empty piece, and no more content until it waits again, for which there is room
  /// then.
  virtual void pass_to(const std::weak_ptr<ContentTaker>&) noexcept {}

 protected:
  ~BodySource() = default;
};

/// The result of Request::read(), to be awaited at once.
class SKUA_API ReadAwaiter {
 public:
  explicit ReadAwaiter(Request& request) noexcept : request_(&request) {}
  [[nodiscard]] bool await_ready() const noexcept;
  void await_suspend(std::coroutine_handle<> reader);
  std::optional<Bytes> await_resume();

 private:
  Request* request_;
  Waiter waiter_;
};

}  // namespace detail
}  // namespace skua
