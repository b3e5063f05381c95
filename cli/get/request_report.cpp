// SPDX-License-Identifier: MIT
// In: the heads, times and counts of a request. Out: the facts that reports are made of.
#include "get/request_report.hpp"

#include <algorithm>
#include <charconv>

#include "base/ascii.hpp"
#include "get/response_printer.hpp"

namespace skua::cli {
namespace {

constexpr std::size_t max_hops = 1100;  // more than redirects and challenges may cause

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

RequestReport::RequestReport(const GetOptions& options, const Url& url)
    : is_wanted_(options.json_report || !options.write_out.empty() || !options.etag_file.empty()),
      keeps_heads_(!options.head_file.empty()),
      current_(url),
      facts_{.url = without_secrets(url), .method = options.method} {}

void RequestReport::attach(ClientRequest& request) {
  if (!is_wanted_) return;
  const std::function<void(Progress)> sent = [this](Progress progress) {
    facts_.sent_content_bytes = progress.done_bytes;
  };
  const std::function<void(Progress)> received = [this](Progress progress) {
    facts_.received_content_bytes = progress.done_bytes;
  };
  request.on_upload(sent);
  request.on_progress(received);
}

void RequestReport::note_head(HeadOf of, std::string_view lines) {
  if (keeps_heads_ && of != HeadOf::Request) heads_.append(lines).append("\r\n");
  if (!is_wanted_) return;
  constexpr std::size_t end_bytes = 2;  // the empty line
  if (of == HeadOf::Request) {
    facts_.sent_head_bytes += lines.size() + end_bytes;
    begin_hop(lines);
  } else {
    facts_.received_head_bytes += lines.size() + end_bytes;
    end_hop(lines);
  }
}

void RequestReport::begin_hop(std::string_view lines) {
  if (next_) current_ = *next_;
  next_.reset();
  if (facts_.hops.size() == max_hops) return;
  const std::string_view line = next_line(lines);
  facts_.hops.push_back({.method = std::string(line.substr(0, line.find(' '))),
                         .url = without_secrets(current_),
                         .begin = elapsed()});
}

void RequestReport::end_hop(std::string_view lines) {
  const unsigned status = status_of(lines);
  next_.reset();
  if (status / 100 == 3) {
    const Result<Url> target = Url::parse_lenient(field_of(lines, "location"));
    Result<Url> whole = target ? current_.resolve(*target) : target;
    if (whole) next_ = *std::move(whole);
  }
  if (facts_.hops.empty() || facts_.hops.back().end) return;
  facts_.hops.back().status = status;
  facts_.hops.back().end = elapsed();
}

void RequestReport::take(const ClientResponse& response) {
  if (!is_wanted_) return;
  facts_.status = static_cast<unsigned>(response.status());
  facts_.version = name_of_version(response.version());
  facts_.final_url = without_secrets(response.url());
  facts_.redirects = response.redirects();
  facts_.timings = response.timings();
  facts_.fields.clear();
  while (const auto line = response.header_line(facts_.fields.size())) {
    facts_.fields.emplace_back(line->first, line->second);
  }
  const Address& remote = response.remote_address();
  facts_.remote_address = remote.family() == Address::Family::None ? "" : remote.to_string();
  if (const TlsInfo* const tls = response.tls()) {
    facts_.tls_version = tls->version == TlsVersion::Tls13 ? "TLSv1.3" : "TLSv1.2";
    facts_.tls_cipher = tls->cipher;
  }
}

const RequestFacts& RequestReport::finish(int exit_code) {
  facts_.total = elapsed();
  facts_.exit_code = exit_code;
  return facts_;
}

}  // namespace skua::cli
