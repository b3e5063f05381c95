// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "skua/bytes.hpp"
#include "skua/waiter.hpp"

namespace skua {

class Request;

namespace http {
struct Head;
}  // namespace http

namespace detail {

/// Where the content of a request comes from while it arrives: for servers.
class BodySource {
 public:
  /// Whether take() has something to say: a piece, or that there is none any more.
  [[nodiscard]] virtual bool has_piece() const noexcept = 0;
  /// The next piece, nothing at the end; valid until the next call.
  virtual std::optional<Bytes> take() = 0;
  /// Parks a reader until has_piece().
  virtual void wait(Waiter& waiter, std::coroutine_handle<> reader) = 0;
  /// The trailer fields, once the end has been taken.
  [[nodiscard]] virtual const http::Head& trailers() const noexcept = 0;
  /// What a whole body may have, in bytes, when it is kept in memory.
  [[nodiscard]] virtual std::size_t most_kept_bytes() const noexcept = 0;
  /// How much has not been taken; nothing where that is not known.
  [[nodiscard]] virtual std::optional<std::uint64_t> left_bytes() const noexcept = 0;
  /// Counts so many bytes of what was taken as kept in memory, until the request is over. False
  /// where the server keeps too much already: then they are not counted.
  [[nodiscard]] virtual bool keep(std::size_t bytes) noexcept = 0;

 protected:
  ~BodySource() = default;
};

/// What Request::read() returns, to be awaited at once.
class ReadAwaiter {
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
