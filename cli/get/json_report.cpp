// SPDX-License-Identifier: MIT
// In: the facts about a request. Out: a line of JSON, whatever the peer sent.
#include "get/json_report.hpp"

#include <cerrno>
#include <chrono>
#include <system_error>

#include "base/ascii.hpp"
#include "base/text/number_text.hpp"
#include "client/problem.hpp"
#include "exit_code.hpp"
#include "files/listing/escape.hpp"
#include "get/write_out.hpp"
#include "system.hpp"

namespace skua::cli {
namespace {

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
    add(name, base::fixed_text(std::chrono::duration<double>(*time).count(), 6));
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

 private:
  std::string text_ = "{";
};

std::string hops_text(const RequestFacts& facts) {
  std::string text = "[";
  for (const Hop& hop : facts.hops) {
    ObjectText object;
    object.add_text("method", hop.method);
    object.add_text("url", hop.url);
    object.add_number("status", hop.status);
    object.add_seconds("seconds", hop.end ? std::optional(*hop.end - hop.begin) : std::nullopt);
    text.append(text.size() > 1 ? "," : "").append(object.text());
  }
  return text + "]";
}

std::string seconds_text(const RequestFacts& facts) {
  ObjectText object;
  Duration before{};
  const auto add_phase = [&](std::string_view name, const std::optional<Duration>& end) {
    object.add_seconds(name, end ? std::optional(*end - before) : std::nullopt);
    if (end) before = *end;
  };
  add_phase("name_lookup", facts.timings.resolved);
  add_phase("connect", facts.timings.connected);
  add_phase("tls", facts.timings.secured);
  before = facts.timings.sent.value_or(before);
  add_phase("wait", facts.timings.head);
  add_phase("content", facts.timings.content);
  object.add_seconds("first_byte", facts.timings.head);
  object.add_seconds("total", facts.total);
  return object.text();
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

std::string json_line(const RequestFacts& facts) {
  ObjectText report;
  report.add_text("url", facts.url);
  report.add_known("final_url", facts.final_url);
  report.add_text("method", facts.method);
  report.add_number("status", facts.status);
  report.add_known("http_version", facts.version);
  report.add_number("redirects", std::uint64_t{facts.redirects});
  report.add_number("retries", std::uint64_t{facts.retries});
  report.add("hops", hops_text(facts));
  report.add("seconds", seconds_text(facts));
  report.add_number("sent_head_bytes", facts.sent_head_bytes);
  report.add_number("sent_content_bytes", facts.sent_content_bytes);
  report.add_number("received_head_bytes", facts.received_head_bytes);
  report.add_number("received_content_bytes", facts.received_content_bytes);
  report.add_known("remote_address", facts.remote_address);
  report.add_known("tls_version", facts.tls_version);
  report.add_known("tls_cipher", facts.tls_cipher);
  report.add_known("failure", failure_of(facts.exit_code));
  report.add_known("message", facts.error);
  report.add_number("exit_code", static_cast<std::uint64_t>(facts.exit_code));
  return report.text() + "\n";
}

namespace {

Result<void, Problem> open_file(disk::Descriptor& file, const std::string& path, int flags) {
  if (path.empty()) return {};
  constexpr int mode = 0666;
  file = disk::Descriptor(
      disk::open(path.c_str(), O_WRONLY | O_CREAT | flags | disk::close_on_exec, mode));
  if (file) return {};
  const Error error = Error::from_system(errno, "open");
  return Problem{.error = error, .text = "cannot write " + path + ": " + client::reason_of(error)};
}

std::string etag_of(const RequestFacts& facts) {
  for (const auto& [name, value] : facts.fields) {
    if (ascii::equals_ignoring_case(name, "etag")) return value;
  }
  return {};
}

}  // namespace

Result<void, Problem> ReportFile::open(const GetOptions& options) {
  auto opened = open_file(file_, options.json_report.value_or(""), O_TRUNC);
  if (!opened) return opened;
  const int heads = options.is_first ? O_TRUNC : O_APPEND;
  writes_heads_ = options.head_file == "-";
  if (!writes_heads_) opened = open_file(heads_, options.head_file, heads);
  return opened;
}

void ReportFile::write_heads(std::string_view heads) const {
  if (heads.empty()) return;
  if (writes_heads_) write_all(standard_output, heads);
  if (heads_) write_all(heads_.number(), heads);
}

// Only now: a request for a change reads the file first, and a failure leaves it as it is.
void ReportFile::write_etag(const GetOptions& options, const RequestFacts& facts) {
  const std::string etag = etag_of(facts);
  if (options.etag_file.empty() || etag.empty()) return;
  disk::Descriptor file;
  const auto opened = open_file(file, options.etag_file, O_TRUNC);
  if (!opened)
    throw std::system_error(opened.error().error.system_code(), std::generic_category(),
                            options.etag_file);
  write_all(file.number(), etag + "\n");
}

std::string ReportFile::write(const GetOptions& options, const RequestFacts& facts) const {
  if (!options.write_out.empty()) {
    write_all(standard_output, write_out_text(options.write_out, facts));
  }
  write_etag(options, facts);
  if (!options.json_report) return {};
  std::string line = json_line(facts);
  if (!file_) return line;
  write_all(file_.number(), line);
  return {};
}

}  // namespace skua::cli
