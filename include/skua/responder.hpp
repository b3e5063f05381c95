// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "skua/bytes.hpp"
#include "skua/request.hpp"
#include "skua/response.hpp"
#include "skua/task.hpp"

namespace skua {

/// A handler as a class, one object per request, for those who prefer callbacks to coroutines:
///
/// ```cpp
/// class Counter final : public skua::Responder {
///   void on_body(skua::Bytes piece) override { bytes_ += piece.size(); }
///   skua::Response on_request(skua::Request&) override { return std::to_string(bytes_); }
///   std::size_t bytes_ = 0;
/// };
/// router.post("/count", [] { return std::make_unique<Counter>(); });
/// ```
/// on_headers comes first, then on_body for each piece, then on_request, each of the two at most
/// once; what they throw is answered like what a handler throws, and ends the sequence. on_close is
/// last, always and once: when the response has been handed to the connection, or when the client
/// is gone.
class Responder {
 public:
  Responder() = default;
  Responder(const Responder&) = delete;
  Responder& operator=(const Responder&) = delete;
  virtual ~Responder() = default;

  /// The head is there. The request stays until on_close.
  virtual void on_headers(Request&) {}
  /// A piece of the content; valid during the call.
  virtual void on_body(Bytes) {}
  /// The request is complete: its answer.
  virtual Response on_request(Request& request) = 0;
  virtual void on_close() noexcept {}
};

namespace detail {

/// Drives a responder; on_close comes with the end of the request, to which it is attached.
Task<Response> respond(std::unique_ptr<Responder> responder, Request& request);

}  // namespace detail
}  // namespace skua
