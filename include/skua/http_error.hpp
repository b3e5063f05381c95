// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>
#include <string>

#include "skua/status.hpp"

namespace skua {

/// An exception that a handler throws to answer with a status; the text is sent to the peer.
class HttpError : public std::runtime_error {
 public:
  explicit HttpError(Status status, const std::string& text = {})
      : std::runtime_error(text), status_(status) {}
  [[nodiscard]] Status status() const noexcept { return status_; }

 private:
  Status status_;
};

}  // namespace skua
