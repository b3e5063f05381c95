// SPDX-License-Identifier: MIT
// The cause travels as the owner of the response's text, so responses without one cost nothing.
#include "http/message/cause.hpp"

#include <memory>
#include <utility>

namespace skua::http {
namespace {

struct CausedText {
  std::string text;
  std::string cause;
};

}  // namespace

bool is_fault(const Error& error) noexcept {
  const Status status = status_for(error);
  if (code(status) < 500 || status == Status::NotImplemented) return false;
  switch (error.code()) {
    case Errc::Overloaded:  // refusals of our own, which are counted
    case Errc::HandlerTimedOut:
    case Errc::Cancelled:
    case Errc::OutOfMemory: return false;
    default: return true;
  }
}

void keep_cause(Response& response, std::string cause) {
  auto kept = std::make_unique<const CausedText>(
      CausedText{std::string(response.body()), std::move(cause)});
  const std::string_view text = kept->text;
  response.content() = Body(SharedText{std::shared_ptr<const void>(std::move(kept)), text});
}

std::string_view cause_of(Response& response) noexcept {
  const SharedText* const shared = response.content().shared();
  if (shared == nullptr) return {};
  // Only keep_cause() makes owners that are deleted in this way.
  using Delete = std::default_delete<const CausedText>;
  if (std::get_deleter<Delete>(shared->owner) == nullptr) return {};
  return static_cast<const CausedText*>(shared->owner.get())->cause;
}

Response failure_response(Error error) {
  Response response(status_for(error.code()));
  if (code(response.status()) >= 500 && is_fault(error)) keep_cause(response, error.message());
  return response;
}

}  // namespace skua::http
