// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"
#include "get/options.hpp"
#include "skua/client.hpp"
#include "skua/error.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// Returns the kind of failure that an exit code stands for, as the report names it; empty for
/// success.
std::string_view failure_of(int exit_code) noexcept;

/// The report of one request for scripts: a line of JSON.
class JsonReport final {
 public:
  /// Lifetime:  the options outlive it.
  JsonReport(const GetOptions& options, const Url& url);

  /// Counts the content of an attempt.
  ///
  /// Lifetime:  this outlives the request and its response.
  void attach(ClientRequest& request);
  /// Takes a head in; see ClientRequest::on_head().
  void note_head(HeadOf of, std::string_view lines);
  void note_retry() noexcept { ++retries_; }
  /// Takes in what is known of a response, again once its content was read.
  void take(const ClientResponse& response);
  void fail(std::string_view text) { error_ = text; }

  /// Returns the report, with its line feed.
  [[nodiscard]] std::string line(int exit_code) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Hop {
    std::string method{};
    std::string url{};
    std::optional<unsigned> status{};
    Duration begin{};
    std::optional<Duration> end{};
  };

  void begin_hop(std::string_view lines);
  void end_hop(std::string_view lines);
  [[nodiscard]] Duration elapsed() const { return Clock::now() - began_; }
  [[nodiscard]] std::string hops_text() const;
  [[nodiscard]] std::string seconds_text() const;

  const GetOptions& options_;
  const Clock::time_point began_ = Clock::now();
  Url asked_;
  Url current_;
  std::optional<Url> next_{};  // the target of a redirect that may be followed
  std::vector<Hop> hops_;
  std::string final_url_;
  std::string version_;
  std::string remote_address_;
  std::string tls_version_;
  std::string tls_cipher_;
  std::string error_;
  std::optional<unsigned> status_{};
  ClientTimings timings_{};
  unsigned redirects_ = 0;
  unsigned retries_ = 0;
  std::uint64_t sent_head_bytes_ = 0;
  std::uint64_t sent_content_bytes_ = 0;
  std::uint64_t received_head_bytes_ = 0;
  std::uint64_t received_content_bytes_ = 0;
};

/// The destination of reports: a file or standard error.
class ReportFile final {
 public:
  /// Creates the file that the options name, if they do. Its text names the file on failure.
  Result<void, Problem> open(const GetOptions& options);
  /// Writes a line; returns false if it has to go to standard error.
  ///
  /// Ends with: std::system_error.
  [[nodiscard]] bool write(std::string_view line) const;

 private:
  disk::Descriptor file_;
};

}  // namespace skua::cli
