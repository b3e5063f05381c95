// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <memory>
#include <string>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/shared_texts.hpp"
#include "skua/task.hpp"

namespace skua {

/// Texts in the memory of one process, for idempotency_keys(), RevokedSessions and
/// auth::shared_digest() on a single server. They end with the process.
///
/// ```cpp
/// router.use(skua::idempotency_keys({}, std::make_shared<skua::MemoryTexts>()));
/// ```
/// Any thread with a loop may use it. Nothing is dropped before its time, as a request might then
/// be executed twice: if there is no room, what is to be stored is refused.
class SKUA_API MemoryTexts final : public SharedTexts {
 public:
  /// `max_bytes`: of all texts and their keys, with about 200 bytes for each.
  explicit MemoryTexts(std::size_t max_bytes = 64_MiB);
  ~MemoryTexts() override;

  Task<Found> get(std::string key) override;
  /// Ends with: Overloaded if there is no room.
  Task<Found> add(std::string key, std::string text, Duration lifetime) override;
  /// Ends with: Overloaded if there is no room: the key keeps its text.
  Task<Result<void, Problem>> replace(std::string key, std::string old, std::string text,
                                      Duration lifetime) override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace skua
