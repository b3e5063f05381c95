// SPDX-License-Identifier: MIT
// In: the heads, times and counts of a request. Out: a line of JSON, whatever the peer sent.
#include "get/json_report.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <utility>

#include "base/ascii.hpp"
#include "client/problem.hpp"
#include "exit_code.hpp"
#include "files/listing/escape.hpp"
#include "get/response_printer.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_hops = 1100;  // more than redirects and challenges may cause

/// Writes an object, member by member.
class ObjectText final {
 public:
  void add(std::string_view name, std::string_view json) {
    text_.append(text_.size() > 1 ? "," : "").append("\"").append(name).append("\":").append(json);
  }
  void add_text(std::string_view name, std::string_view value) {
    std::string quoted;
    files::append_json(quoted, value);
    add(name, quoted);
  }
  /// Adds a text, or null for an empty one.
  void add_known(std::string_view name, std::string_view value) {
    value.empty() ? add(name, "null") : add_text(name, value);
  }
  void add_number(std::string_view name, std::uint64_t number) {
    add(name, std::to_string(number));
  }
  void add_number(std::string_view name, const std::optional<unsigned>& number) {
    add(name, number ? std::to_string(*number) : "null");
  }
  void add_seconds(std::string_view name, const std::optional<Duration>& time) {
    if (!time) return add(name, "null");
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%.6f", std::chrono::duration<double>(*time).count());
    add(name, text.data());
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string without_secrets(Url url) {
  static_cast<void>(url.set_userinfo({}));
  return url.to_string();
}

// The value of the first field with this name among the lines of a head.
std::string_view field_of(std::string_view lines, std::string_view name) {
  next_line(lines);
  while (!lines.empty()) {
    const std::string_view line = next_line(lines);
    const std::size_t colon = std::min(line.find(':'), line.size());
    if (!ascii::equals_ignoring_case(line.substr(0, colon), name)) continue;
    return ascii::trim_ows(line.substr(std::min(line.size(), colon + 1)));
  }
  return {};
}

unsigned status_of(std::string_view lines) {
  std::string_view line = next_line(lines);
  line.remove_prefix(std::min(line.size(), line.find(' ') + 1));
  unsigned status = 0;
  std::from_chars(line.data(), line.data() + line.size(), status);
  return status;
}

std::string_view name_of_version(Version version) noexcept {
  switch (version) {
    case Version::Http10: return "1.0";
    case Version::Http11: return "1.1";
    case Version::Http2: break;
  }
  return "2";
}

}  // namespace

std::string_view failure_of(int exit_code) noexcept {
  switch (exit_code) {
    case succeeded: return "";
    case misunderstood: return "usage";
    case redirected: return "redirect";
    case client_refused: return "client_status";
    case server_failed: return "server_status";
    case not_resolved: return "name";
    case not_connected: return "connection";
    case tls_failed: return "tls";
    case timed_out: return "timeout";
    case protocol_failed: return "protocol";
    case file_failed: return "file";
    default: return "other";
  }
}

JsonReport::JsonReport(const GetOptions& options, const Url& url)
    : options_(options), asked_(url), current_(url) {}

void JsonReport::attach(ClientRequest& request) {
  if (!options_.json_report) return;
  const std::function<void(Progress)> sent = [this](Progress progress) {
    sent_content_bytes_ = progress.done_bytes;
  };
  const std::function<void(Progress)> received = [this](Progress progress) {
    received_content_bytes_ = progress.done_bytes;
  };
  request.on_upload(sent);
  request.on_progress(received);
}

void JsonReport::note_head(HeadOf of, std::string_view lines) {
  if (!options_.json_report) return;
  constexpr std::size_t end_bytes = 2;  // the empty line
  if (of == HeadOf::Request) {
    sent_head_bytes_ += lines.size() + end_bytes;
    begin_hop(lines);
  } else {
    received_head_bytes_ += lines.size() + end_bytes;
    end_hop(lines);
  }
}

void JsonReport::begin_hop(std::string_view lines) {
  if (next_) current_ = *next_;
  next_.reset();
  if (hops_.size() == max_hops) return;
  const std::string_view line = next_line(lines);
  hops_.push_back({.method = std::string(line.substr(0, line.find(' '))),
                   .url = without_secrets(current_),
                   .begin = elapsed()});
}

void JsonReport::end_hop(std::string_view lines) {
  const unsigned status = status_of(lines);
  next_.reset();
  if (status / 100 == 3) {
    const Result<Url> target = Url::parse_lenient(field_of(lines, "location"));
    Result<Url> whole = target ? current_.resolve(*target) : target;
    if (whole) next_ = *std::move(whole);
  }
  if (hops_.empty() || hops_.back().end) return;
  hops_.back().status = status;
  hops_.back().end = elapsed();
}

void JsonReport::take(const ClientResponse& response) {
  if (!options_.json_report) return;
  status_ = static_cast<unsigned>(response.status());
  version_ = name_of_version(response.version());
  final_url_ = without_secrets(response.url());
  redirects_ = response.redirects();
  timings_ = response.timings();
  const Address& remote = response.remote_address();
  remote_address_ = remote.family() == Address::Family::None ? "" : remote.to_string();
  if (const TlsInfo* const tls = response.tls()) {
    tls_version_ = tls->version == TlsVersion::Tls13 ? "TLSv1.3" : "TLSv1.2";
    tls_cipher_ = tls->cipher;
  }
}

std::string JsonReport::hops_text() const {
  std::string text = "[";
  for (const Hop& hop : hops_) {
    ObjectText object;
    object.add_text("method", hop.method);
    object.add_text("url", hop.url);
    object.add_number("status", hop.status);
    object.add_seconds("seconds", hop.end ? std::optional(*hop.end - hop.begin) : std::nullopt);
    text.append(text.size() > 1 ? "," : "").append(object.text());
  }
  return text + "]";
}

std::string JsonReport::seconds_text() const {
  ObjectText object;
  Duration before{};
  const auto add_phase = [&](std::string_view name, const std::optional<Duration>& end) {
    object.add_seconds(name, end ? std::optional(*end - before) : std::nullopt);
    if (end) before = *end;
  };
  add_phase("name_lookup", timings_.resolved);
  add_phase("connect", timings_.connected);
  add_phase("tls", timings_.secured);
  before = timings_.sent.value_or(before);
  add_phase("wait", timings_.head);
  add_phase("content", timings_.content);
  object.add_seconds("first_byte", timings_.head);
  object.add_seconds("total", elapsed());
  return object.text();
}

std::string JsonReport::line(int exit_code) const {
  ObjectText report;
  report.add_text("url", without_secrets(asked_));
  report.add_known("final_url", final_url_);
  report.add_text("method", options_.method);
  report.add_number("status", status_);
  report.add_known("http_version", version_);
  report.add_number("redirects", std::uint64_t{redirects_});
  report.add_number("retries", std::uint64_t{retries_});
  report.add("hops", hops_text());
  report.add("seconds", seconds_text());
  report.add_number("sent_head_bytes", sent_head_bytes_);
  report.add_number("sent_content_bytes", sent_content_bytes_);
  report.add_number("received_head_bytes", received_head_bytes_);
  report.add_number("received_content_bytes", received_content_bytes_);
  report.add_known("remote_address", remote_address_);
  report.add_known("tls_version", tls_version_);
  report.add_known("tls_cipher", tls_cipher_);
  report.add_known("failure", failure_of(exit_code));
  report.add_known("message", error_);
  report.add_number("exit_code", static_cast<std::uint64_t>(exit_code));
  return report.text() + "\n";
}

Result<void, Problem> ReportFile::open(const GetOptions& options) {
  if (!options.json_report || options.json_report->empty()) return {};
  constexpr int mode = 0666;
  const std::string& path = *options.json_report;
  file_ = disk::Descriptor(
      disk::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | disk::close_on_exec, mode));
  if (file_) return {};
  const Error error = Error::from_system(errno, "open");
  return Problem{.error = error, .text = "cannot write " + path + ": " + client::reason_of(error)};
}

bool ReportFile::write(std::string_view line) const {
  if (!file_) return false;
  write_all(file_.number(), line);
  return true;
}

}  // namespace skua::cli
