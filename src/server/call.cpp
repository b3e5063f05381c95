// SPDX-License-Identifier: MIT
// Between a protocol and a coroutine. Content that arrives is kept until it is read, up to a limit
// at which the protocol has to wait. Nothing here resumes the handler from inside a call of the
// protocol's: the loop does, at the end of its turn.
#include "server/call.hpp"

#include <algorithm>
#include <utility>

#include "server/dispatch.hpp"
#include "server/resources.hpp"

namespace skua::server {
namespace {

constexpr http::Head no_fields{};

void empty(std::string& text) noexcept {
  text.clear();
  if (text.capacity() > kept_buffer_bytes) std::string().swap(text);
}

}  // namespace

Call::Call(Resources& resources) noexcept
    : resources_(resources), content_(resources.content_budget) {}

void Call::prepare(CallOwner& owner, const http::RequestParts& parts, const router::Match& match) {
  is_used_ = true;
  owner_ = &owner;
  path_.assign(parts.path);
  match_ = match;
  match_.captures.move(parts.path, path_.data());
  parts_ = parts;
  parts_.path = path_;
  parts_.source = &source_;
  request_.emplace(parts_);
}

void Call::start_handler() {
  is_plain_ = !match_.has_coroutine;
  if (is_plain_) {
    parts_.source = nullptr;
    parts_.wants_content = &wants_content_;
    return run_guards();
  }
  try {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    handler_.emplace(resources_.router.start(match_, *request_));
    handler_->start(on_handler_done, this);
    is_handler_done_ = handler_->is_done();
  } catch (...) {  // what a guard throws: dispatch looks at it with what handlers throw
    failure_ = std::current_exception();
    is_handler_done_ = true;
  }
}

// From the first that has not run. A request that no route takes is answered without its content.
void Call::run_guards() noexcept {
  wants_content_ = false;
  try {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    early_ = resources_.router.guard(match_, *request_, guard_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  const bool has_answer = early_ || failure_ != nullptr;
  is_handler_done_ = has_answer || has_arrived_all_ || (match_.route == nullptr && !wants_content_);
}

void Call::on_handler_done(void* self) noexcept {
  Call& call = *static_cast<Call*>(self);
  call.is_handler_done_ = true;
  call.owner_->call_ended();
}

Response Call::take_response() {
  if (is_plain_) {
    // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
    Response response = dispatch_guarded(resources_, match_, *request_,
                                         std::exchange(early_, std::nullopt), failure_);
    parts_.body = {};
    content_.clear();
    return response;
  }
  Task<Response>* const handler = handler_ ? &*handler_ : nullptr;
  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): prepare() has made it
  Response response = dispatch_ended(resources_, match_, *request_, handler, failure_);
  handler_.reset();
  return response;
}

Errc Call::arrived(std::string_view data) {
  if (is_plain_) return is_handler_done_ ? Errc::None : content_.append(data);
  arrived_.append(data);
  readers_.wake_all();
  return Errc::None;
}

void Call::arrived_all(const http::Head& trailers) noexcept {
  trailers_ = &trailers;
  has_arrived_all_ = true;
  readers_.wake_all();
  if (!keeps_content()) return;
  parts_.body = content_.view();
  parts_.has_later_content = false;
  parts_.wants_content = nullptr;
  run_guards();
  owner_->call_ended();
}

bool Call::has_room() const noexcept {
  // Something always: a limit of nothing must not keep a handler waiting for ever.
  return is_plain_ || arrived_.empty() || arrived_.size() < resources_.options.limits.stream_bytes;
}

void Call::release() noexcept {
  attachments_ = {};
  request_.reset();
  resources_.content_budget.give_back(std::exchange(kept_bytes_, 0));
}

void Call::drop() noexcept {
  handler_.reset();
  release();
  early_.reset();
  content_.clear();
  guard_ = 0;
  wants_content_ = is_plain_ = false;
  match_.route = nullptr;
  failure_ = nullptr;
  empty(arrived_);
  empty(handed_);
  path_.clear();
  trailers_ = nullptr;
  has_arrived_all_ = is_handler_done_ = is_used_ = false;
  taken_bytes_ = 0;
}

bool Call::Source::has_piece() const noexcept {
  return !call.arrived_.empty() || call.has_arrived_all_;
}

std::optional<Bytes> Call::Source::take() {
  empty(call.handed_);
  if (call.arrived_.empty()) return std::nullopt;
  std::swap(call.handed_, call.arrived_);
  call.taken_bytes_ += call.handed_.size();
  call.owner_->call_took_body(call.handed_.size());
  return bytes(call.handed_);
}

void Call::Source::wait(detail::Waiter& waiter, std::coroutine_handle<> reader) {
  call.readers_.park(waiter, reader);
  call.owner_->call_wants_body();
}

const http::Head& Call::Source::trailers() const noexcept {
  return call.trailers_ == nullptr ? no_fields : *call.trailers_;
}

std::size_t Call::Source::most_kept_bytes() const noexcept {
  return call.resources_.options.limits.body_bytes;
}

std::optional<std::uint64_t> Call::Source::left_bytes() const noexcept {
  const std::optional<std::uint64_t> all = call.parts_.length_bytes;
  return all ? std::optional(*all - std::min(*all, call.taken_bytes_)) : std::nullopt;
}

bool Call::Source::keep(std::size_t bytes) noexcept {
  if (!call.resources_.content_budget.take(bytes, call.kept_bytes_ + bytes)) return false;
  call.kept_bytes_ += bytes;
  call.owner_->call_keeps_body(bytes);
  return true;
}

}  // namespace skua::server
