// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "skua/status.hpp"

namespace skua {

/// Throw one from a handler to answer with a status; the text is shown to the peer.
class HttpError : public std::runtime_error {
 public:
  explicit HttpError(Status status, const std::string& text = {})
      : std::runtime_error(text), status_(status) {}
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace skua
