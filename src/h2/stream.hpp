// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "h2/head_builder.hpp"

namespace skua::h2 {

/// One request and its response, as the session and its consumer know it. Owned by the session.
///
/// Lifetime:  until Session::release and the end of the stream, whichever is later: what the peer
///            resets counts against its streams for as long as a handler works on it.
class Stream {
 public:
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  /// Valid from Events::on_request on, for the lifetime of the stream.
  [[nodiscard]] const RequestHead& request() const noexcept { return request_; }
  /// The peer has sent all of its content.
  [[nodiscard]] bool has_received_all() const noexcept { return has_received_all_; }
  /// It was reset by either side, or is over: nothing can be sent any more.
  [[nodiscard]] bool is_closed() const noexcept { return is_closed_; }
  /// A response was begun (1xx not counted).
  [[nodiscard]] bool has_response() const noexcept { return has_response_; }

  void* context = nullptr;  ///< the consumer's own

 protected:
  Stream() = default;
  ~Stream() = default;

  RequestHead request_;
  std::uint32_t id_ = 0;
  bool has_received_all_ = false;
  bool has_response_ = false;
  bool is_closed_ = false;
};

}  // namespace skua::h2
