// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "base/page_text.hpp"
#include "server/content_budget.hpp"
#include "skua/error.hpp"

namespace skua::server {

/// The content of one request, kept until it is complete, within a server's budget.
class KeptContent final {
 public:
  /// `budget` must outlive the object.
  explicit KeptContent(ContentBudget& budget) noexcept : budget_(budget) {}
  KeptContent(const KeptContent&) = delete;
  KeptContent& operator=(const KeptContent&) = delete;
  ~KeptContent() { clear(); }

  /// Appends a copy. Returns Overloaded or OutOfMemory, and appends nothing, if that fails.
  [[nodiscard]] Errc append(std::string_view data) noexcept {
    if (!budget_.take(data.size(), text_.size() + data.size())) return Errc::Overloaded;
    if (text_.append(data)) return Errc::None;
    budget_.give_back(data.size());
    return Errc::OutOfMemory;
  }
  /// Frees the content, and returns it to the budget.
  void clear() noexcept {
    if (text_.size() == 0) return;
    budget_.give_back(text_.size());
    text_.clear();
  }
  [[nodiscard]] std::string_view view() const noexcept { return text_.view(); }
  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }

 private:
  ContentBudget& budget_;
  base::PageText text_;
};

}  // namespace skua::server
