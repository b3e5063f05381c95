// SPDX-License-Identifier: MIT
// URLs in, files out. A download has a temporary name until it is complete; one that was broken off
// is resumed if the server says that its content has not changed.
#include "download.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/http_date.hpp"
#include "common_options.hpp"
#include "download_rules.hpp"
#include "exit_code.hpp"
#include "get_report.hpp"
#include "response_printer.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr Duration tick_interval = 100ms;

std::string answered(const Url& url, const ClientResponse& response) {
  const Status status = response.status();
  const std::string_view words = reason(status);
  std::string text = url.to_string() + ": the server answered ";
  text.append(std::to_string(static_cast<unsigned>(status)));
  if (!words.empty()) text.append(" ").append(words);
  return text + ", and nothing was saved";
}

}  // namespace

Result<OutputPlace, Problem> look_at_output(const std::string& path) {
  struct stat about{};
  if (::stat(path.c_str(), &about) != 0) return OutputPlace{.path = path};
  if (S_ISDIR(about.st_mode)) {
    return Problem{.error = Errc::Unsupported, .text = "cannot write " + path + ": it is a folder"};
  }
  if (!S_ISREG(about.st_mode)) return OutputPlace{.path = path, .is_regular = false};
  const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                         &std::free);
  return OutputPlace{.path = real ? std::string(real.get()) : path};
}

Task<int> Downloader::run() {
  Scope ticking;
  if (display_.is_shown()) ticking.spawn(tick());
  Scope workers;
  const std::size_t count = std::min<std::size_t>(options_.parallel, options_.urls.size());
  for (std::size_t i = 0; i < count; ++i) workers.spawn(work());
  co_await workers.join();
  const auto failure = std::find_if(codes_.begin(), codes_.end(), [](int code) { return code; });
  co_return failure == codes_.end() ? succeeded : *failure;
}

Task<> Downloader::tick() {
  while (true) {
    co_await sleep(tick_interval);
    display_.tick();
  }
}

Task<> Downloader::work() {
  while (next_ < options_.urls.size()) {
    const std::size_t number = next_++;
    const int code = co_await fetch(options_.urls[number]);
    codes_[number] = code;
  }
}

Task<int> Downloader::fetch(const Url& url) {
  const std::string path = options_.output.empty() ? name_in(url) : options_.output;
  Result<PartFile, Problem> part = PartFile::open(path);
  if (!part) co_return fail(file_failed, part.error().text);
  parts_.push_back(&*part);
  const int code = co_await fetch_into(url, *part);
  std::erase(parts_, &*part);
  co_return code;
}

std::string Downloader::stop() {
  display_.clear();
  std::string text;
  for (const PartFile* const part : parts_) {
    if (part->can_be_resumed()) text.append(text.empty() ? "" : ", ").append(part->path());
  }
  return text;
}

bool Downloader::can_go_on(const Url& url, const PartFile& part) const {
  return options_.resume && part.origin() && !part.origin()->validator.empty() &&
         part.origin()->url == origin_url(url);
}

ClientRequest Downloader::request(const Url& url, const PartFile* resumed) const {
  ClientRequest made = prepared_.make(client_, url);
  if (!prepared_.has_field("accept-encoding")) made.header("Accept-Encoding", "identity");
  if (resumed != nullptr) {
    made.header("Range", "bytes=" + std::to_string(resumed->size_bytes()) + "-");
    made.header("If-Range", resumed->origin()->validator);
  }
  return made;
}

Task<int> Downloader::fetch_into(const Url& url, PartFile& part) {
  bool goes_on = can_go_on(url, part);
  while (true) {
    ClientRequest asking = request(url, goes_on ? &part : nullptr);
    std::string heads;  // at once, as others are asked at the same time
    if (options_.verbose) {
      asking.set_heads([this, &heads](HeadOf of, std::string_view lines) {
        heads += shown_head(options_, of, lines);
      });
    }
    Result<ClientResponse, Problem> response = co_await std::move(asking);
    display_.say(heads);
    if (!response) {
      const int code = fail(exit_code_of(response.error().code()), response.error().text);
      if (code == tls_failed) {
        display_.say(tls_advice(response.error().text, options_.client.tls));
      }
      co_return code;
    }
    const Verdict verdict = judge(*response, part, goes_on);
    if (options_.with_head && verdict != Verdict::Again) {
      display_.clear();
      print_head(*response, options_.colour, "\n");
    }
    switch (verdict) {
      case Verdict::Again: goes_on = false; continue;
      case Verdict::Whole: co_return keep(url, *response, part, size_text(part.size_bytes()));
      case Verdict::Refuse: {
        const int code = exit_code_of(response->status());
        co_return fail(code == succeeded ? protocol_failed : code, answered(url, *response));
      }
      case Verdict::Restart: {
        const std::string name = name_for(url, *response);
        if (options_.resume && is_complete(name, *response)) {
          if (!options_.quiet) display_.say(harmless(name) + " is already complete\n");
          co_return succeeded;
        }
        const auto restarted = part.restart(origin_of(url, *response));
        if (!restarted) co_return fail(file_failed, restarted.error().text);
        break;
      }
      case Verdict::Append: break;
    }
    const int code = co_await receive(url, *response, part);
    if (options_.with_head) print_trailers(*response, options_.colour);
    co_return code;
  }
}

Task<int> Downloader::receive(const Url& url, ClientResponse& response, PartFile& part) {
  std::string name = name_told(response);
  if (name.empty() || !options_.output.empty()) name = name_in(url);
  std::optional<std::uint64_t> total = part.origin()->total_bytes;
  if (!total && response.status() == Status::PartialContent) total = total_told(response);
  const std::size_t number = display_.add(name, total, part.size_bytes());
  while (true) {
    const Result<std::optional<Bytes>, Problem> piece = co_await response.read();
    if (!piece) {
      display_.end(number);
      co_return break_off(exit_code_of(piece.error().code()), piece.error().text, part);
    }
    const std::optional<Bytes>& bytes = *piece;
    if (!bytes) break;
    if (const auto written = part.write(text(*bytes)); !written) {
      display_.end(number);
      co_return break_off(file_failed, written.error().text, part);
    }
    display_.advance(number, part.size_bytes());
  }
  const std::string summary = display_.end(number);
  if (total && *total != part.size_bytes()) {
    co_return break_off(protocol_failed,
                        url.to_string() + ": the server sent " + std::to_string(part.size_bytes()) +
                            " bytes of " + std::to_string(*total),
                        part);
  }
  display_.say(timing_text(options_, response));
  co_return keep(url, response, part, summary);
}

std::string Downloader::name_for(const Url& url, const ClientResponse& response) const {
  if (!options_.output.empty()) return options_.output;
  const std::string told = name_told(response);
  return told.empty() ? name_in(url) : told;
}

// Nothing is known of where an existing file came from: its size has to be right, and the server
// must not have changed its content since.
bool Downloader::is_complete(const std::string& name, const ClientResponse& response) const {
  struct stat about{};
  if (::stat(name.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return false;
  const auto length = response.length_bytes();
  if (!length || *length != static_cast<std::uint64_t>(about.st_size)) return false;
  const auto modified = response.header("last-modified");
  if (!modified) return true;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto time = parse_http_date(*modified, now);
  return time && time->time_since_epoch().count() <= about.st_mtime;
}

int Downloader::keep(const Url& url, const ClientResponse& response, PartFile& part,
                     const std::string& summary) {
  const std::string name = name_for(url, response);
  const bool replaces = !options_.output.empty();
  const Result<std::string, Problem> kept = replaces ? part.keep_as(name) : part.keep_beside(name);
  if (!kept) return break_off(file_failed, kept.error().text, part);
  if (!options_.quiet) display_.say("saved " + harmless(*kept) + " (" + summary + ")\n");
  return succeeded;
}

int Downloader::break_off(int code, std::string_view text, const PartFile& part) {
  std::string told(text);
  if (part.can_be_resumed()) {
    told += "; " + part.path() + " has the first " + size_text(part.size_bytes()) +
            ", --continue resumes";
  }
  return fail(code, told);
}

int Downloader::fail(int code, std::string_view text) {
  display_.say(complaint(text));
  return code;
}

}  // namespace skua::cli
