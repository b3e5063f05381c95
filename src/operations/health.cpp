// SPDX-License-Identifier: MIT
#include "skua/health.hpp"

#include <exception>

#include "skua/server.hpp"

namespace skua {
namespace {

std::string problem_of(const Health::Check& check) {
  try {
    const Result<void, Problem> outcome = check();
    if (outcome) return {};
    return outcome.error().text.empty() ? "failed" : outcome.error().text;
  } catch (const std::exception& error) {
    return *error.what() == '\0' ? "failed" : error.what();
  } catch (...) {
    return "failed";
  }
}

std::string_view problem_of(ServerState state) noexcept {
  switch (state) {
    case ServerState::New: return "not started";
    case ServerState::Running: return "";
    case ServerState::Leaving:
    case ServerState::Draining: return "draining";
    case ServerState::Ended: return "ended";
  }
  return "";
}

}  // namespace

void Health::watch(const Server& server) {
  const std::lock_guard lock(mutex_);
  servers_.push_back(&server);
}

void Health::check(std::string name, Check check) {
  const std::lock_guard lock(mutex_);
  checks_.emplace_back(std::move(name), std::move(check));
}

std::vector<Health::Outcome> Health::run() const {
  std::vector<std::pair<std::string, Check>> checks;
  std::vector<Outcome> outcomes;
  {
    const std::lock_guard lock(mutex_);
    checks = checks_;  // they may wait
    for (const Server* const server : servers_) {
      outcomes.push_back({"server", std::string(problem_of(server->state()))});
    }
  }
  for (const auto& [name, check] : checks) outcomes.push_back({name, problem_of(check)});
  return outcomes;
}

}  // namespace skua
