// SPDX-License-Identifier: MIT
// Connects a protocol to a handler: starts the handler, and turns its outcome into a response.
#include "server/handler_run.hpp"

#include <algorithm>
#include <utility>

#include "router/table.hpp"
#include "server/dispatch.hpp"
#include "server/resources.hpp"

namespace skua::server {

HandlerRun::HandlerRun(Resources& resources) noexcept
    : resources_(resources),
      body_(resources.options, resources.content_budget, resources.spare_texts, resources.loop) {}

void HandlerRun::prepare(HandlerRunOwner& owner, const http::RequestParts& parts,
                         const router::Match& match) {
  is_used_ = true;
  owner_ = &owner;
  body_.attach(owner);
  path_.assign(parts.path);
  match_ = match;
  match_.captures.move(parts.path, path_.data());
  parts_ = parts;
  parts_.path = path_;
  parts_.source = &body_;
  parts_.handler = this;
  request_.emplace(parts_);
}

void HandlerRun::start_handler() {
  is_plain_ = !match_.has_coroutine;
  if (is_plain_) {
    parts_.source = nullptr;
    parts_.wants_content = &wants_content_;
    run_guards();
    return keeps_content() ? body_.load() : body_.drop();
  }
  const Duration timeout =
      match_.scope->limits.handler_timeout.value_or(resources_.options.timeouts.handler);
  deadline_ = later(resources_.loop.now(), timeout);
  try {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    handler_.emplace(resources_.router.start(match_, *request_));
    handler_->start(on_handler_done, this);
    is_handler_done_ = handler_->is_done();
  } catch (...) {  // thrown by a guard; dispatch handles it like a handler's exception
    failure_ = std::current_exception();
    is_handler_done_ = true;
  }
}

Duration HandlerRun::time_left() const noexcept {
  if (deadline_ == loop::Instant::max()) return Duration::max();
  return std::max(deadline_ - resources_.loop.exact_now(), Duration::zero());
}

// Continues with the first guard that has not run. An unrouted request does not wait for content.
void HandlerRun::run_guards() noexcept {
  wants_content_ = false;
  try {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    early_ = resources_.router.guard(match_, *request_, guard_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const bool has_answer = early_ || failure_ != nullptr;
  is_handler_done_ = has_answer || body_.is_whole() || (match_.route == nullptr && !wants_content_);
}

void HandlerRun::on_handler_done(void* self) noexcept {
  HandlerRun& run = *static_cast<HandlerRun*>(self);
  run.is_handler_done_ = true;
  run.owner_->handler_ended();
}

Response HandlerRun::take_response() {
  if (is_plain_) {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    Response response = dispatch_guarded(resources_, match_, *request_,
                                         std::exchange(early_, std::nullopt), failure_);
    parts_.body = {};
    body_.drop_loaded();
    return response;
  }
  Task<Response>* const handler = handler_ ? &*handler_ : nullptr;
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
  Response response = dispatch_finished(resources_, match_, *request_, handler, failure_);
  handler_.reset();
  return response;
}

// The guards come first, as everywhere: they may refuse the request for a reason of their own.
Response HandlerRun::take_refusal(Errc code) {
  if (!is_plain_ && !handler_) run_guards();
  const bool has_answer = early_ || failure_ != nullptr;
  // NOLINTBEGIN(bugprone-unchecked-optional-access): prepare() has made it
  Response response = has_answer ? dispatch_guarded(resources_, match_, *request_,
                                                    std::exchange(early_, std::nullopt), failure_)
                                 : dispatch_refused(resources_, match_, *request_, code);
  // NOLINTEND(bugprone-unchecked-optional-access)
  // No producer could run: the request, which it may use, ends here.
  if (response.content().stream() != nullptr || skua::code(response.status()) < 200)
    return Error(code);
  return response;
}

void HandlerRun::end_body(const http::Head& trailers) noexcept {
  body_.end(trailers);
  if (!keeps_content()) return;
  parts_.body = body_.loaded();
  parts_.may_have_more_content = false;
  parts_.wants_content = nullptr;
  run_guards();
  owner_->handler_ended();
}

void HandlerRun::release() noexcept {
  attachments_ = {};
  request_.reset();
  body_.release();
}

void HandlerRun::drop() noexcept {
  handler_.reset();
  release();
  early_.reset();
  body_.clear();
  guard_ = 0;
  wants_content_ = is_plain_ = false;
  match_.route = nullptr;
  failure_ = nullptr;
  deadline_ = loop::Instant::max();
  path_.clear();
  is_handler_done_ = is_used_ = false;
}

}  // namespace skua::server
