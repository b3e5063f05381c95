// SPDX-License-Identifier: MIT
// In: a request. Out: calls of a responder's callbacks. The request owns the responder, so on_close
// is called when the request is over, however it ends.
#include "skua/responder.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace skua::detail {
namespace {

/// Closes responders with the request: several if middleware ran the rest of its chain twice.
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
  if (owned == nullptr) throw std::logic_error("a handler returned a null Responder");
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
