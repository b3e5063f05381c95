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
using DeleteCaused = std::default_delete<const CausedText>;

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
  std::shared_ptr<const CausedText> kept(
      new CausedText{std::string(response.body()), std::move(cause)}, DeleteCaused());
  const std::string_view text = kept->text;
  response.content() = Body(SharedText{std::move(kept), text});
}

std::string_view cause_of(Response& response) noexcept {
  const SharedText* const shared = response.content().shared();
  if (shared == nullptr) return {};
  // Only keep_cause() makes owners that are deleted in this way.
  if (std::get_deleter<DeleteCaused>(shared->owner) == nullptr) return {};
  return static_cast<const CausedText*>(shared->owner.get())->cause;
}

Response failure_response(Error error) {
  Response response(status_for(error.code()));
  if (code(response.status()) >= 500 && is_fault(error)) keep_cause(response, error.message());
  return response;
}

}  // namespace skua::http

namespace skua {

Response::Response(Error error) : status_(status_for(error)), type_(KnownType::Plain) {
  // Leave out the context and the system's own text: those are for the log.
  const bool is_ours = status_ != status_for(error.code());
  body_ = Body(std::string(message(is_ours ? Errc::SystemFailure : error.code())).append("\n"));
  if (http::is_fault(error)) http::keep_cause(*this, error.message());
  // RFC 9110 §12.5.3, §15.5.16: tells a client that a content coding was the reason.
  if (error.code() == Errc::UnsupportedCoding) lines_.add("Accept-Encoding", "identity");
  if (error.code() == Errc::Overloaded) lines_.add("Retry-After", "5");  // RFC 9110 §15.6.4
}

}  // namespace skua
