// SPDX-License-Identifier: MIT
// The body of a response: text, a file range or a stream. It is a hand-written tagged union, so
// moving a short text copies 56 bytes and moving a string only moves the string.
#include "skua/body.hpp"

#include <cstring>
#include <new>
#include <utility>

namespace skua {

static_assert(sizeof(Body) <= 72);

Body::Body(std::string_view text) : kind_(Kind::None) {
  if (text.size() <= inline_bytes) {
    std::memcpy(inline_, text.data(), text.size());
    inline_size_ = static_cast<std::uint8_t>(text.size());
    kind_ = text.empty() ? Kind::None : Kind::Inline;
  } else {
    ::new (&owned_) std::string(text);
    kind_ = Kind::Owned;
  }
}

Body::Body(std::string text) noexcept : owned_(std::move(text)), kind_(Kind::Owned) {}

Body::Body(std::shared_ptr<const std::string> text) noexcept : kind_(Kind::None) {
  if (!text) return;
  const std::string_view view = *text;
  ::new (&shared_) SharedText{std::move(text), view};
  kind_ = Kind::Shared;
}

Body::Body(SharedText text) noexcept : shared_(std::move(text)), kind_(Kind::Shared) {}

Body::Body(FileRange range) noexcept : file_(std::move(range)), kind_(Kind::File) {}

Body::Body(std::shared_ptr<const BodyStream> stream) noexcept
    : stream_(std::move(stream)), kind_(Kind::Stream) {}

Body Body::borrowed(std::string_view text) noexcept {
  Body body;
  ::new (&body.static_) std::string_view(text);
  body.kind_ = Kind::Static;
  return body;
}

Body::Body(const Body& other) : kind_(Kind::None), inline_size_(other.inline_size_) {
  switch (other.kind_) {
    case Kind::None: break;
    case Kind::Inline: std::memcpy(inline_, other.inline_, inline_bytes); break;
    case Kind::Owned: ::new (&owned_) std::string(other.owned_); break;
    case Kind::Static: ::new (&static_) std::string_view(other.static_); break;
    case Kind::Shared: ::new (&shared_) SharedText(other.shared_); break;
    case Kind::File: ::new (&file_) FileRange(other.file_); break;
    case Kind::Stream: ::new (&stream_) std::shared_ptr<const BodyStream>(other.stream_); break;
  }
  kind_ = other.kind_;
}

Body::Body(Body&& other) noexcept : kind_(other.kind_), inline_size_(other.inline_size_) {
  switch (kind_) {
    case Kind::None: break;
    case Kind::Inline: std::memcpy(inline_, other.inline_, inline_bytes); break;
    case Kind::Owned: ::new (&owned_) std::string(std::move(other.owned_)); break;
    case Kind::Static: ::new (&static_) std::string_view(other.static_); break;
    case Kind::Shared: ::new (&shared_) SharedText(std::move(other.shared_)); break;
    case Kind::File: ::new (&file_) FileRange(std::move(other.file_)); break;
    case Kind::Stream:
      ::new (&stream_) std::shared_ptr<const BodyStream>(std::move(other.stream_));
      break;
  }
}

Body& Body::operator=(const Body& other) {
  if (this != &other) *this = Body(other);
  return *this;
}

Body& Body::operator=(Body&& other) noexcept {
  if (this == &other) return *this;
  this->~Body();
  return *::new (this) Body(std::move(other));
}

void Body::destroy() noexcept {
  switch (kind_) {
    case Kind::None:
    case Kind::Inline:
    case Kind::Static: break;
    case Kind::Owned: std::destroy_at(&owned_); break;
    case Kind::Shared: std::destroy_at(&shared_); break;
    case Kind::File: std::destroy_at(&file_); break;
    case Kind::Stream: std::destroy_at(&stream_); break;
  }
}

std::uint64_t Body::size_bytes() const noexcept {
  return kind_ == Kind::File ? file_.size_bytes : text().size();
}

std::string_view Body::text() const noexcept {
  switch (kind_) {
    case Kind::None:
    case Kind::File:
    case Kind::Stream: return {};
    case Kind::Inline: return {inline_, inline_size_};
    case Kind::Owned: return owned_;
    case Kind::Static: return static_;
    case Kind::Shared: return shared_.text;
  }
  return {};
}

}  // namespace skua
