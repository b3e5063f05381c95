// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <optional>
#include <string>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/task.hpp"

namespace skua {

/// Texts by key that several servers share, each for a limited time; see redis::SharedTexts. Each
/// function is one step: two servers that call it at once see each other's result.
class SharedTexts {
 public:
  SharedTexts() = default;
  SharedTexts(const SharedTexts&) = delete;
  SharedTexts& operator=(const SharedTexts&) = delete;
  virtual ~SharedTexts() = default;

  using Found = Result<std::optional<std::string>, Problem>;

  // Any thread with a loop may call these.

  /// Returns the text of a key; nullopt if there is none.
  virtual Task<Found> get(std::string key) = 0;
  /// Stores a text if the key has none, and returns nullopt; otherwise returns the one it has.
  virtual Task<Found> add(std::string key, std::string text, Duration lifetime) = 0;
  /// Replaces the text of a key if it is still `old`, else does nothing; an empty `text` removes
  /// it. The step goes on if the task is dropped after it was started.
  virtual Task<Result<void, Problem>> replace(std::string key, std::string old, std::string text,
                                              Duration lifetime) = 0;
};

}  // namespace skua
