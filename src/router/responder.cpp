// SPDX-License-Identifier: MIT
// A request's events in, the callbacks of a responder out. The request owns the responder, so that
// on_close comes when the request is over, however it ends.
#include "skua/responder.hpp"

#include <optional>

namespace skua::detail {
namespace {

/// Closes a responder when the request goes.
class Attached {
 public:
  explicit Attached(std::unique_ptr<Responder> responder) noexcept
      : responder_(std::move(responder)) {}
  Attached(Attached&&) noexcept = default;
  Attached& operator=(Attached&&) noexcept = default;
  ~Attached() {
    if (responder_ != nullptr) responder_->on_close();
  }
  Responder& operator*() noexcept { return *responder_; }

 private:
  std::unique_ptr<Responder> responder_;
};

}  // namespace

Task<Response> respond(std::unique_ptr<Responder> owned, Request& request) {
  Responder& responder = *request.attachments().set(Attached(std::move(owned)));
  responder.on_headers(request);
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    responder.on_body(*piece);
  }
  co_return responder.on_request(request);
}

}  // namespace skua::detail
