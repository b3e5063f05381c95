// SPDX-License-Identifier: MIT
// Copies the text that a head refers to. Offsets into it stay the same.
#include "client/kept_head.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace skua::client {
namespace {

// HTTP/2 has no start line, and its `size_bytes` need not cover all text that is referred to.
std::size_t extent(const http::Head& head) noexcept {
  std::uint32_t end = head.target_begin + head.target_bytes;
  for (const http::FieldLine& line : head.fields) {
    end = std::max({end, line.name_begin + line.name_bytes, line.value_begin + line.value_bytes});
  }
  return end;
}

}  // namespace

KeptHead::KeptHead(const http::Head& head)
    : lines_(head.fields.begin(), head.fields.end()), head_(head) {
  if (head.base != nullptr) text_.assign(head.base, extent(head));
  point();
}

KeptHead& KeptHead::operator=(KeptHead&& other) noexcept {
  text_ = std::move(other.text_);
  lines_ = std::move(other.lines_);
  head_ = other.head_;
  point();
  other.lines_.clear();
  other.point();
  return *this;
}

void KeptHead::point() noexcept {
  head_.base = text_.data();
  head_.fields = lines_;
}

}  // namespace skua::client
