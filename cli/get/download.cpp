// SPDX-License-Identifier: MIT
// In: URLs. Out: files. A download has a temporary name until it is complete; an interrupted one is
// resumed if the server says that its content has not changed.
#include "get/download.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/disk.hpp"
#include "base/http_date.hpp"
#include "client/problem.hpp"
#include "common_options.hpp"
#include "exit_code.hpp"
#include "get/report.hpp"
#include "get/response_printer.hpp"
#include "http/form/content_disposition.hpp"
#include "loop/loop.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

constexpr Duration tick_interval = 100ms;

}  // namespace

Result<OutputPlace, Problem> look_at_output(const std::string& path) {
  const auto about = disk::stat_of(path);
  if (!about) return OutputPlace{.path = path};
  if (about->kind == disk::FileKind::Directory) {
    return Problem{.error = Errc::Unsupported, .text = "cannot write " + path + ": it is a folder"};
  }
  for (const int descriptor : {standard_output, standard_error}) {
    if (!is_same_file(path, descriptor)) continue;
    return OutputPlace{.path = path, .is_regular = false, .standard = descriptor};
  }
  if (about->kind != disk::FileKind::Regular) return OutputPlace{.path = path, .is_regular = false};
  return OutputPlace{.path = resolved(path)};
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
  client::ResumableFile file(path, {.keeps_part = true, .never_replace = options_.output.empty()});
  files_.push_back(&file);
  RequestReport report(options_, url);
  const int code = co_await fetch_into(url, file, report);
  std::erase(files_, &file);
  if (!options_.write_out.empty()) display_.clear();
  display_.say(reports_.write(options_, report.finish(code)));
  co_return code;
}

std::string Downloader::stop() {
  display_.clear();
  std::string text;
  for (const client::ResumableFile* const file : files_) {
    if (file->can_be_resumed()) text.append(text.empty() ? "" : ", ").append(file->part_path());
  }
  return text;
}

ClientRequest Downloader::request(const Url& url, const client::ResumableFile* resumed) const {
  ClientRequest made = prepared_.make(client_, url);
  if (!prepared_.has_field("accept-encoding")) made.header("Accept-Encoding", "identity");
  if (resumed != nullptr) {
    made.header("Range", "bytes=" + std::to_string(resumed->size_bytes()) + "-");
    made.header("If-Range", resumed->origin().validator);
  }
  return made;
}

void Downloader::announce(const Retry& retry, RequestReport& report) {
  report.note_retry();
  if (!options_.quiet) display_.say(retry.line);
}

// Sends the request, several times if it fails.
Task<Result<ClientResponse, Problem>> Downloader::ask(const Url& url,
                                                      const client::ResumableFile* resumed,
                                                      Attempts& attempts, RequestReport& report) {
  while (true) {
    ClientRequest asking = request(url, resumed);
    report.attach(asking);
    std::string heads;  // printed at once, as downloads are concurrent
    asking.on_head([this, &heads, &attempts, &report](HeadOf of, std::string_view lines) {
      attempts.note_head();
      report.note_head(of, lines);
      if (options_.verbose) heads += shown_head(options_, of, lines);
    });
    Result<ClientResponse, Problem> response = co_await std::move(asking);
    display_.say(heads);
    reports_.write_heads(report.take_heads());
    const std::optional<Retry> retry = attempts.after(response, loop::Loop::current().now());
    if (!retry) co_return response;
    announce(*retry, report);
    co_await sleep(retry->wait);
  }
}

Task<int> Downloader::fetch_into(const Url& url, client::ResumableFile& file,
                                 RequestReport& report) {
  using client::Verdict;
  if (options_.resume) {
    const Result<void> looked = file.look(client::origin_url(url));
    if (!looked) co_return fail_to_write(looked.error(), file, report);
  }
  bool goes_on = file.found() == client::ResumableFile::Found::Part;
  Attempts attempts(options_, prepared_.is_repeatable(), loop::Loop::current().now());
  while (true) {
    const client::ResumableFile* const resumed = goes_on ? &file : nullptr;
    Result<ClientResponse, Problem> response = co_await ask(url, resumed, attempts, report);
    if (!response) {
      const int code = fail(exit_code_of(response.error().code()), response.error().text, report);
      if (code == tls_failed) {
        display_.say(tls_advice(response.error().text, options_.client.tls));
      }
      co_return code;
    }
    report.take(*response);
    if (const auto refused = refused_redirect(options_, *response)) {
      co_return fail(exit_code_of(refused->code()), refused->text, report);
    }
    const Verdict verdict = verdict_on(*response, file, goes_on);
    if (options_.with_head && verdict != Verdict::Again) {
      display_.clear();
      print_head(*response, options_.colour, "\n");
    }
    switch (verdict) {
      case Verdict::Again: goes_on = false; continue;
      case Verdict::Whole:
        co_return keep(url, *response, file, size_text(file.size_bytes()), report);
      case Verdict::Refuse: co_return refuse(url, *response, report);
      case Verdict::Restart: {
        const std::string name = name_for(url, *response);
        if (options_.resume && is_complete(name, *response)) {
          report.note_file(name);
          if (!options_.quiet) display_.say(harmless(name) + " is already complete\n");
          co_return succeeded;
        }
        const Result<void> started = file.start(origin_of(url, *response));
        if (!started) co_return fail_to_write(started.error(), file, report);
        break;
      }
      case Verdict::Append: file.append(); break;
    }
    const std::optional<int> code = co_await receive(url, *response, file, attempts, report);
    if (!code) {
      goes_on = file.can_be_resumed();
      continue;
    }
    if (options_.with_head) print_trailers(*response, options_.colour);
    co_return *code == succeeded ? failure_code(options_, response->status()) : *code;
  }
}

client::Verdict Downloader::verdict_on(const ClientResponse& response,
                                       const client::ResumableFile& file, bool goes_on) const {
  using client::Verdict;
  const Verdict verdict = judge(response, file, goes_on);
  const bool is_hidden =
      options_.hides_errors && failure_code(options_, response.status()) != succeeded;
  const bool is_saved = options_.saves_errors && !goes_on && !is_hidden && !is_unmodified(response);
  return verdict == Verdict::Refuse && is_saved ? Verdict::Restart : verdict;
}

bool Downloader::is_unmodified(const ClientResponse& response) const {
  return options_.is_conditional && response.status() == Status::NotModified;
}

int Downloader::refuse(const Url& url, const ClientResponse& response, RequestReport& report) {
  if (is_unmodified(response)) {
    if (!options_.quiet) display_.say(harmless(url.to_string()) + " has not changed\n");
    return succeeded;
  }
  const int code = exit_code_of(response.status());
  return fail(code == succeeded ? protocol_failed : code,
              answered(url, response) + "; nothing was saved", report);
}

Task<std::optional<int>> Downloader::receive(const Url& url, ClientResponse& response,
                                             client::ResumableFile& file, Attempts& attempts,
                                             RequestReport& report) {
  std::string name = name_told(response);
  if (name.empty() || !options_.output.empty()) name = name_in(url);
  std::optional<std::uint64_t> total = file.origin().total_bytes;
  if (!total && response.status() == Status::PartialContent) total = total_told(response);
  const std::size_t number = display_.add(name, total, file.size_bytes());
  while (true) {
    const Result<std::optional<Bytes>, Problem> piece = co_await response.read();
    if (!piece) {
      display_.end(number);
      const auto retry = attempts.after(piece.error(), loop::Loop::current().now());
      if (!retry) {
        co_return break_off(exit_code_of(piece.error().code()), piece.error().text, file, report);
      }
      announce(*retry, report);
      co_await sleep(retry->wait);
      co_return std::nullopt;
    }
    const std::optional<Bytes>& bytes = *piece;
    if (!bytes) break;
    if (const Result<void> written = file.write(text(*bytes)); !written) {
      display_.end(number);
      co_return fail_to_write(written.error(), file, report);
    }
    display_.advance(number, file.size_bytes());
  }
  const std::string summary = display_.end(number);
  report.take(response);
  if (total && *total != file.size_bytes()) {
    co_return break_off(protocol_failed,
                        url.to_string() + ": the server sent " + std::to_string(file.size_bytes()) +
                            " bytes of " + std::to_string(*total),
                        file, report);
  }
  display_.say(timing_text(options_, response));
  co_return keep(url, response, file, summary, report);
}

std::string Downloader::name_for(const Url& url, const ClientResponse& response) const {
  if (!options_.output.empty()) return options_.output;
  const std::string told = name_told(response);
  return told.empty() ? name_in(url) : told;
}

// The origin of an existing file is unknown, so its size must match, and the server must not have
// modified the content since.
bool Downloader::is_complete(const std::string& name, const ClientResponse& response) const {
  const auto about = disk::stat_of(name);
  if (!about || about->kind != disk::FileKind::Regular) return false;
  const auto length = response.length_bytes();
  if (!length || *length != about->size_bytes) return false;
  const auto modified = response.header("last-modified");
  if (!modified) return true;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const auto time = parse_http_date(*modified, now);
  return time && *time <= std::chrono::sys_time<std::chrono::nanoseconds>(
                              std::chrono::nanoseconds(about->modified_ns));
}

int Downloader::keep(const Url& url, const ClientResponse& response, client::ResumableFile& file,
                     const std::string& summary, RequestReport& report) {
  file.rename(name_for(url, response));
  const Result<void> kept = file.keep();
  if (!kept) return fail_to_write(kept.error(), file, report);
  report.note_file(file.path());
  if (!options_.quiet) display_.say("saved " + harmless(file.path()) + " (" + summary + ")\n");
  return succeeded;
}

int Downloader::break_off(int code, std::string_view text, const client::ResumableFile& file,
                          RequestReport& report) {
  std::string told(text);
  if (file.can_be_resumed()) {
    told += "; " + file.part_path() + " has the first " + size_text(file.size_bytes()) +
            "; use --continue to resume";
  }
  return fail(code, told, report);
}

int Downloader::fail_to_write(Error error, const client::ResumableFile& file,
                              RequestReport& report) {
  return break_off(file_failed, "cannot write " + file.culprit() + ": " + client::reason_of(error),
                   file, report);
}

int Downloader::fail(int code, std::string_view text, RequestReport& report) {
  report.fail(text);
  display_.say(complaint(text));
  return code;
}

// Decides whether a response continues a partial download, and chooses file names.

namespace {

client::ContentRange content_range(const ClientResponse& response) {
  const auto range = client::parse_content_range(response.header("content-range").value_or(""));
  return range.value_or(client::ContentRange());
}

client::Validators validators_of(const ClientResponse& response) {
  return {.etag = response.header("etag"),
          .last_modified = response.header("last-modified"),
          .date = response.header("date")};
}

}  // namespace

client::PartOrigin origin_of(const Url& url, const ClientResponse& response) {
  return {.url = client::origin_url(url),
          .validator = client::strong_validator(validators_of(response)),
          .total_bytes = response.length_bytes()};
}

client::Verdict judge(const ClientResponse& response, const client::ResumableFile& file,
                      bool asked_for_rest) {
  const client::KnownPart part{.size_bytes = file.size_bytes(),
                               .validator = file.origin().validator,
                               .total_bytes = file.origin().total_bytes};
  return client::judge({.status = code(response.status()),
                        .range = content_range(response),
                        .validators = validators_of(response)},
                       asked_for_rest ? &part : nullptr);
}

std::optional<std::uint64_t> total_told(const ClientResponse& response) {
  return content_range(response).total;
}

std::string name_told(const ClientResponse& response) {
  const auto field = response.header("content-disposition");
  if (!field) return "";
  const auto disposition = http::parse_content_disposition(*field);
  return disposition ? http::safe_filename(disposition->filename.value_or("")) : "";
}

std::string name_in(const Url& url) {
  const std::string_view path = url.path();
  const std::string_view segment = path.substr(path.rfind('/') + 1);
  const Result<std::string> decoded = percent_decode(segment);
  const std::string name = http::safe_filename(decoded ? *decoded : std::string(segment));
  return name.empty() ? "index.html" : name;
}

}  // namespace skua::cli
