// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <optional>
#include <string>

#include "skua/bytes.hpp"
#include "skua/shared_texts.hpp"

namespace skua::testing {

/// Texts in memory, for tests: they never end.
class MemoryTexts final : public SharedTexts {
 public:
  Task<Found> get(std::string key) override {
    if (has_failed) co_return Problem::from(Errc::TimedOut);
    const auto found = texts.find(key);
    co_return found == texts.end() ? std::nullopt : std::optional(found->second);
  }
  Task<Found> add(std::string key, std::string text, Duration /*lifetime*/) override {
    if (loses_answers) texts.try_emplace(key, text);
    if (has_failed || loses_answers) co_return Problem::from(Errc::TimedOut);
    const auto [at, is_new] = texts.try_emplace(key, text);
    co_return is_new ? std::nullopt : std::optional(at->second);
  }
  Task<Result<void, Problem>> replace(std::string key, std::string old, std::string text,
                                      Duration lifetime) override {
    if (has_failed) co_return Problem::from(Errc::TimedOut);
    if (old == text) ++renewal_count;
    const auto found = texts.find(key);
    if (found != texts.end() && found->second == old) {
      if (text.empty()) {
        texts.erase(found);
      } else {
        found->second = text;
        last_lifetime = lifetime;
      }
    }
    co_return Result<void, Problem>();
  }

  std::map<std::string, std::string> texts{};
  bool has_failed = false;
  bool loses_answers = false;  // to add()
  int renewal_count = 0;       // texts that were replaced by themselves
  Duration last_lifetime{};    // of a text that replaced another
};

}  // namespace skua::testing
