// SPDX-License-Identifier: MIT
// The interface of a session for handlers. SessionKeeper reads and writes the cookie.
#include "skua/session.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "base/base_encoding.hpp"
#include "crypto/random.hpp"
#include "middleware/session_keeper.hpp"

namespace skua {
namespace {

constexpr std::size_t id_bytes = 16;
constexpr std::size_t sizes_bytes = 4;  // before each name and value pair

const Session& attached(const Request& request) {
  const Session* const found = request.attachments().find<Session>();
  if (found == nullptr)
    throw std::logic_error("session: skua::sessions() is not used for this path");
  return *found;
}

std::string new_id() {
  return base64::encode(crypto::random_bytes(id_bytes).value(), base64::Alphabet::Url);
}

}  // namespace

std::optional<std::string_view> Session::get(std::string_view name) const noexcept {
  for (const Value& value : values_) {
    if (value.name == name) return value.value;
  }
  return std::nullopt;
}

void Session::set(std::string_view name, std::string_view value) {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [name](const Value& one) { return one.name == name; });
  const bool is_there = found != values_.end();
  if (is_there && found->value == value) return;
  const std::size_t others =
      is_there ? size_bytes_ - sizes_bytes - name.size() - found->value.size() : size_bytes_;
  const std::size_t room = max_bytes_ - std::min(max_bytes_, others);
  if (room < sizes_bytes || name.size() > room || value.size() > room ||
      sizes_bytes + name.size() + value.size() > room) {
    throw std::length_error("session: it does not fit in a cookie");
  }
  size_bytes_ = others + sizes_bytes + name.size() + value.size();
  if (is_there) {
    found->value = value;
  } else {
    values_.push_back({std::string(name), std::string(value)});
  }
  change();
}

void Session::erase(std::string_view name) {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [name](const Value& one) { return one.name == name; });
  if (found == values_.end()) return;
  size_bytes_ -= sizes_bytes + found->name.size() + found->value.size();
  values_.erase(found);
  change();
}

void Session::clear() {
  values_.clear();
  size_bytes_ = 0;
  id_.clear();
  is_begun_anew_ = true;
  is_changed_ = true;
}

void Session::regenerate() {
  id_ = new_id();
  is_begun_anew_ = true;
  is_changed_ = true;
}

void Session::change() {
  if (id_.empty()) id_ = new_id();
  is_changed_ = true;
}

Session& session(Request& request) {
  // Safe, as the request it is attached to is not const.
  return const_cast<Session&>(session(std::as_const(request)));
}

const Session& session(const Request& request) {
  const Session& found = attached(request);
  found.is_used_ = true;
  return found;
}

Sessions::Sessions(SessionOptions options)
    : keeper_(std::make_shared<middleware::SessionKeeper>(std::move(options), [] {
        return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
      })) {}

std::optional<Response> Sessions::guard(Request& request) const {
  keeper_->open(request);
  return std::nullopt;
}

void Sessions::finish(const Request& request, Response& response) const {
  keeper_->save(request, response);
}

Sessions sessions(SessionOptions options) { return Sessions(std::move(options)); }

}  // namespace skua
