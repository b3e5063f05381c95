// SPDX-License-Identifier: MIT
// A stack, so that the memory that was used last is used next. Beyond its end are small texts.
#include "body/spare_texts.hpp"

namespace skua::body {

void SpareTexts::append(std::string& text, std::string_view data) {
  if (text.empty() && text.capacity() < data.size() && end_ != spare_.begin()) {
    text.swap(*--end_);
    kept_bytes_ -= text.capacity();
  }
  text.append(data);
}

void SpareTexts::give(std::string& text) noexcept {
  text.clear();
  if (text.capacity() < min_bytes) return;
  std::string dropped;
  const bool is_kept = end_ != spare_.end() && text.capacity() <= max_bytes - kept_bytes_;
  if (is_kept) kept_bytes_ += text.capacity();
  text.swap(is_kept ? *end_++ : dropped);
}

}  // namespace skua::body
