// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "get/options.hpp"
#include "skua/client.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// A request on the way to the final response: it was redirected or challenged.
struct Hop {
  std::string method{};
  std::string url{};
  std::optional<unsigned> status{};
  Duration begin{};
  std::optional<Duration> end{};
};

/// The facts about one request. A text that is unknown is empty, and URLs have no password.
struct RequestFacts {
  std::string url{};  ///< that was asked for
  std::string final_url{};
  std::string method{};  ///< of the first hop
  std::optional<unsigned> status{};
  std::string version{};
  std::vector<std::pair<std::string, std::string>> fields{};  ///< of the final response
  std::vector<Hop> hops{};
  ClientTimings timings{};
  Duration total{};
  unsigned redirects = 0;
  unsigned retries = 0;
  std::uint64_t sent_head_bytes = 0;
  std::uint64_t sent_content_bytes = 0;
  std::uint64_t received_head_bytes = 0;
  std::uint64_t received_content_bytes = 0;
  std::string remote_address{};
  std::string tls_version{};
  std::string tls_cipher{};
  std::string file{};  ///< that the content was saved to
  std::string error{};
  int exit_code = 0;
};

/// Collects the facts about one request, if the options ask for a report.
class RequestReport final {
 public:
  /// Lifetime:  the options outlive it.
  RequestReport(const GetOptions& options, const Url& url);

  /// Counts the content of an attempt.
  ///
  /// Lifetime:  this outlives the request and its response.
  void attach(ClientRequest& request);
  /// Takes a head in; see ClientRequest::on_head().
  void note_head(HeadOf of, std::string_view lines);
  /// Returns the heads of responses, as received, that it has not returned before; nothing unless
  /// the options ask for them.
  [[nodiscard]] std::string take_heads() { return std::exchange(heads_, {}); }
  void note_retry() noexcept { ++facts_.retries; }
  void note_file(std::string_view path) { facts_.file = path; }
  /// Takes in what is known of a response, again once its content was read.
  void take(const ClientResponse& response);
  void fail(std::string_view text) { facts_.error = text; }

  /// Returns all facts at the end of the request.
  [[nodiscard]] const RequestFacts& finish(int exit_code);

 private:
  using Clock = std::chrono::steady_clock;

  void begin_hop(std::string_view lines);
  void end_hop(std::string_view lines);
  [[nodiscard]] Duration elapsed() const { return Clock::now() - began_; }

  const bool is_wanted_;
  const bool keeps_heads_;
  std::string heads_;
  const Clock::time_point began_ = Clock::now();
  Url current_;
  std::optional<Url> next_{};  // the target of a redirect that may be followed
  RequestFacts facts_;
};

}  // namespace skua::cli
