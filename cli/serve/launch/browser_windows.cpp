// SPDX-License-Identifier: MIT
#include "serve/launch/browser.hpp"

#include <windows.h>

#include <shellapi.h>

#include <cstdint>

#include "base/wide_text.hpp"

namespace skua::cli {

// The system starts a browser of its own choice, so no program of ours is there to be waited for.
Result<void, Problem> BrowserLauncher::start(const std::string& url) {
  if (url.empty()) {
    return Problem{Error(Errc::Unsupported, "--open"), "--open: no browser opens a Unix socket"};
  }
  constexpr std::intptr_t largest_error = 32;
  const HINSTANCE done =
      ::ShellExecuteW(nullptr, L"open", base::widen(url).c_str(), nullptr, nullptr, SW_SHOWNORMAL);
  if (reinterpret_cast<std::intptr_t>(done) > largest_error) return {};
  return Problem{Error(Errc::SystemFailure, "--open"), "--open: the system opens no browser"};
}

void BrowserLauncher::report_failure() const {}

}  // namespace skua::cli
