// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "http/field.hpp"
#include "skua/config.hpp"

namespace skua::client {

/// A head that owns its memory, and so outlives its connection.
class KeptHead final {
 public:
  KeptHead() = default;
  explicit KeptHead(const http::Head& head);
  KeptHead(const KeptHead&) = delete;
  KeptHead& operator=(const KeptHead&) = delete;
  KeptHead(KeptHead&& other) noexcept { *this = std::move(other); }
  KeptHead& operator=(KeptHead&& other) noexcept;
  ~KeptHead() = default;

  [[nodiscard]] const http::Head& head() const noexcept SKUA_LIFETIMEBOUND { return head_; }

 private:
  void point() noexcept;

  std::string text_;
  std::vector<http::FieldLine> lines_;
  http::Head head_;
};

}  // namespace skua::client
