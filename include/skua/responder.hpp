// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

/// A handler as a class, one object per request, with callbacks instead of a coroutine:
///
/// ```cpp
/// class Counter final : public skua::Responder {
///   void on_body(skua::Bytes piece) override { bytes_ += piece.size(); }
///   skua::Response on_request(skua::Request&) override { return std::to_string(bytes_); }
///   std::size_t bytes_ = 0;
/// };
/// router.post("/count", [] { return std::make_unique<Counter>(); });
/// ```
/// on_headers is called first, then on_body for each piece, then on_request. An exception ends the
/// sequence and is answered like one thrown by a handler. on_close is always called last, exactly
/// once: when the response has been handed to the connection, or when the client is gone.
class SKUA_API Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  /// The head has arrived. The request is valid until on_close.
  virtual void on_headers(Request&) {}
  /// A piece of the content has arrived; it is valid during the call.
  virtual void on_body(Bytes) {}
  /// The request is complete; returns the response.
  virtual Response on_request(Request& request) = 0;
  /// The response has been handed to the connection, or the client is gone; always the last call.
  virtual void on_close() noexcept {}
};

namespace detail {

/// Drives a responder. It is attached to the request, so on_close is called when that ends.
SKUA_API Task<Response> respond(std::unique_ptr<Responder> responder, Request& request);

}  // namespace detail
}  // namespace skua
