// SPDX-License-Identifier: MIT
// A request's events in, the callbacks of a responder out. The request owns the responder, so that
// on_close comes when the request is over, however it ends.
#include "skua/responder.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace skua::detail {
namespace {

/// Closes responders when the request goes: more than one where a middleware went on twice.
class Attached {
 public:
  Attached() = default;
  Attached(Attached&&) noexcept = default;
  Attached& operator=(Attached&& other) noexcept {
    responders_.swap(other.responders_);
    return *this;
  }
  ~Attached() {
    for (const std::unique_ptr<Responder>& responder : responders_) responder->on_close();
  }
  Responder& keep(std::unique_ptr<Responder> responder) {
    return *responders_.emplace_back(std::move(responder));
  }

 private:
  std::vector<std::unique_ptr<Responder>> responders_;
};

Attached& attached(Request& request) {
  Attached* const found = request.attachments().find<Attached>();
  return found != nullptr ? *found : request.attachments().set(Attached());
}

}  // namespace

Task<Response> respond(std::unique_ptr<Responder> owned, Request& request) {
  if (owned == nullptr) throw std::logic_error("a handler returned no responder");
  Responder& responder = attached(request).keep(std::move(owned));
  responder.on_headers(request);
  while (true) {
    const std::optional<Bytes> piece = co_await request.read();
    if (!piece) break;
    responder.on_body(*piece);
  }
  co_return responder.on_request(request);
}

}  // namespace skua::detail
