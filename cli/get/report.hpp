// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "exit_code.hpp"
#include "get/options.hpp"
#include "get/request_content.hpp"
#include "skua/client.hpp"

namespace skua::cli {

/// A phase of a request.
struct Phase {
  std::string_view name{};
  std::chrono::nanoseconds begin{};  ///< since the start of the request
  std::chrono::nanoseconds end{};
};

/// Formats a time with three significant digits: `1.23 ms`, `45.6 ms`, `7.89 s`.
std::string milliseconds_text(std::chrono::nanoseconds time);

/// Formats a line for each phase, with a bar for its time span, and a line for the total:
///
/// ```
/// resolve    1.20 ms  ==
/// connect    20.1 ms    ======
/// total      21.3 ms
/// ```
/// A phase that did not take place, which ends at zero, has no line.
std::string waterfall(std::span<const Phase> phases, std::size_t columns);

// Texts for standard error; every line ends with a line feed.

/// Formats an error or warning: `skua: ...`.
std::string complaint(std::string_view text);
/// Says that a server answered with a status: `URL: the server answered 404 Not Found`.
std::string answered(const Url& url, const ClientResponse& response);
/// Returns the exit code of a response with this status: that of its kind if --fail is about it.
int failure_code(const GetOptions& options, Status status) noexcept;
/// Returns the failure if a response is a redirect that must be followed and may not.
std::optional<Problem> refused_redirect(const GetOptions& options, const ClientResponse& response);
/// Formats a head for --verbose; see ClientRequest::on_head().
std::string shown_head(const GetOptions& options, HeadOf of, std::string_view lines);
/// Returns the --timing report, empty without --timing. Call it after reading the content.
std::string timing_text(const GetOptions& options, const ClientResponse& response);

}  // namespace skua::cli
