// SPDX-License-Identifier: MIT
// In: a URL and the content to send. Out: the content of the response, on standard output or in
// files, and an exit code for the outcome.
#include "get/command.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/disk.hpp"
#include "client/problem.hpp"
#include "common_options.hpp"
#include "exit_code.hpp"
#include "get/curl_text.hpp"
#include "get/download.hpp"
#include "get/json_report.hpp"
#include "get/offline.hpp"
#include "get/options.hpp"
#include "get/report.hpp"
#include "get/request_content.hpp"
#include "get/response_printer.hpp"
#include "get/retry.hpp"
#include "get/session.hpp"
#include "get/words.hpp"
#include "loop/loop.hpp"
#include "loop/signal.hpp"
#include "skua/async.hpp"
#include "skua/client.hpp"
#include "system.hpp"
#include "terminal.hpp"

namespace skua::cli {
namespace {

void say(std::string_view lines) { std::fwrite(lines.data(), 1, lines.size(), stderr); }

std::chrono::sys_seconds wall_time() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

int fail(int code, std::string_view text) {
  say(complaint(text));
  return code;
}

int fail(const GetOptions& options, const Problem& problem) {
  const int code = fail(exit_code_of(problem.code()), problem.text);
  if (code == tls_failed) say(tls_advice(problem.text, options.client.tls));
  return code;
}

std::string file_text(const char* what, const std::string& path, Error error) {
  return std::string("cannot ") + what + " " + path + ": " + client::reason_of(error);
}

/// One run of the command.
class Conversation {
 public:
  /// `session` may be null; content is written to the descriptor unless it is saved. All arguments
  /// outlive it.
  Conversation(const GetOptions& options, const PreparedRequest& prepared, const Session* session,
               const ReportFile& reports, int content)
      : options_(options),
        prepared_(prepared),
        session_(session),
        reports_(reports),
        content_(content) {}

  Task<int> run() {
    const auto signals = watch_signals();
    Client client(options_.client);
    Scope working;
    working.spawn(work(client));
    co_await over_.wait();
    if (signal_ != 0) {
      std::string text = "interrupted";
      const std::string kept = downloader_ != nullptr ? downloader_->stop() : "";
      if (!kept.empty()) text += "; use --continue to resume " + kept;
      co_return fail(128 + signal_, text);
    }
    co_await working.join();
    co_return code_;
  }

 private:
  // The first signal stops the work in progress; a second one exits at once.
  std::unique_ptr<loop::SignalWatcher> watch_signals() {
    auto watcher =
        loop::SignalWatcher::create(loop::Loop::current(), {SIGINT, SIGTERM}, [this](int signal) {
          if (signal_ != 0) std::_Exit(128 + signal);
          signal_ = signal;
          over_.set();
        });
    return watcher ? *std::move(watcher) : nullptr;
  }

  struct AtEnd {
    Event& event;
    ~AtEnd() { event.set(); }
  };

  Task<> work(Client& client) {
    const AtEnd at_end{over_};
    if (!load_cookies(client)) {
      code_ = file_failed;
      co_return;
    }
    if (options_.offline) {
      const int code = co_await print_requests(client);
      code_ = code;
      co_return;
    }
    if (options_.saves()) {
      Downloader downloader(options_, prepared_, client, reports_);
      downloader_ = &downloader;
      const int code = co_await downloader.run();
      downloader_ = nullptr;
      code_ = code;
    } else {
      const int code = co_await print_all(client);
      code_ = code;
    }
    if (!save_cookies(client) && code_ == succeeded) code_ = file_failed;
  }

  // Sends the request, several times if it fails.
  Task<Result<ClientResponse, Problem>> ask(Client& client, const Url& url, RequestReport& report) {
    Attempts attempts(options_, prepared_.is_repeatable(), loop::Loop::current().now());
    while (true) {
      ClientRequest request = prepared_.make(client, url);
      report.attach(request);
      request.on_head([this, &attempts, &report](HeadOf of, std::string_view lines) {
        attempts.note_head();
        report.note_head(of, lines);
        if (!options_.verbose) return;
        const Mortal mortal;
        say(shown_head(options_, of, lines));
      });
      Result<ClientResponse, Problem> response = co_await std::move(request);
      reports_.write_heads(report.take_heads());
      const std::optional<Retry> retry = attempts.after(response, loop::Loop::current().now());
      if (!retry) co_return response;
      if (!options_.quiet) say(retry->line);
      report.note_retry();
      co_await sleep(retry->wait);
    }
  }

  // Returns the exit code of the first URL that failed, or 0.
  Task<int> print_all(Client& client) {
    int failure = succeeded;
    for (const Url& url : options_.urls) {
      const int code = co_await print(client, url);
      if (failure == succeeded) failure = code;
    }
    co_return failure;
  }

  // Prints what would be sent; returns the exit code of the first request that cannot be made.
  Task<int> print_requests(Client& client) {
    int failure = succeeded;
    for (const Url& url : options_.urls) {
      ClientRequest request = prepared_.make(client, url);
      if (options_.saves() && !prepared_.has_field("accept-encoding")) {
        request.header("Accept-Encoding", "identity");  // as the download has it
      }
      const Result<void, Problem> printed = co_await print_request(std::move(request));
      if (!printed && failure == succeeded) failure = fail(options_, printed.error());
    }
    co_return failure;
  }

  Task<int> print(Client& client, const Url& url) {
    RequestReport report(options_, url);
    const int code = co_await print(client, url, report);
    say(reports_.write(options_, report.finish(code)));
    co_return code;
  }

  int fail_with(RequestReport& report, const Problem& problem) const {
    report.fail(problem.text);
    return fail(options_, problem);
  }

  Task<int> print(Client& client, const Url& url, RequestReport& report) {
    Result<ClientResponse, Problem> response = co_await ask(client, url, report);
    if (!response) co_return fail_with(report, response.error());
    report.take(*response);
    if (const auto refused = refused_redirect(options_, *response)) {
      co_return fail_with(report, *refused);
    }
    const int code = failure_code(options_, response->status());
    const Mortal mortal;
    const bool is_head = options_.method == "HEAD";
    const bool shows_head = (is_head || options_.with_head) && !options_.hides_head;
    if (shows_head) print_head(*response, options_.colour, is_head ? "" : "\n");
    if (code != succeeded && options_.hides_errors) {
      report.fail(answered(url, *response));
      co_return fail(code, answered(url, *response));
    }
    const Result<void, Problem> printed = co_await print_content(*response);
    report.take(*response);
    if (options_.with_head && printed) print_trailers(*response, options_.colour);
    if (options_.verbose) {
      say(trailers_text(*response, wants_colour(options_.colour, standard_error), "< "));
    }
    say(timing_text(options_, *response));
    if (!printed) co_return fail_with(report, printed.error());
    co_return code;
  }

  Task<Result<void, Problem>> print_content(ClientResponse& response) {
    ContentPrinter printer(options_, response, content_);
    while (true) {
      const Result<std::optional<Bytes>, Problem> piece = co_await response.read();
      if (!piece) {
        printer.finish();
        co_return unprinted(piece.error());
      }
      const std::optional<Bytes>& bytes = *piece;
      if (!bytes) break;
      if (printer.append(text(*bytes))) continue;
      refuse_binary(response);
      co_return {};
    }
    printer.finish();
    co_return {};
  }

  static Problem unprinted(Problem problem) {
    if (problem.code() == Errc::Unsupported) {
      problem.text += ": unknown Content-Encoding; use --raw to print it undecoded";
    }
    return problem;
  }

  static void refuse_binary(const ClientResponse& response) {
    std::string about(response.header("content-type").value_or("unknown type"));
    const auto length = response.length_bytes();
    if (length && !response.is_decoded()) about += ", " + size_text(*length);
    say(complaint("the content is binary (" + about +
                  "): save it with -d or -o FILE, or print it with -o -"));
  }

  bool load_cookies(Client& client) {
    if (session_ != nullptr) session_->fill(client.cookie_jar(), wall_time());
    if (options_.cookie_file.empty()) return true;
    // Reading a pipe could block, and only a regular file can be saved again.
    const auto about = disk::stat_of(options_.cookie_file);
    if (about && about->kind != disk::FileKind::Regular) {
      fail(file_failed,
           "cannot use " + options_.cookie_file + " as a cookie jar: not a regular file");
      return false;
    }
    const auto report = client.cookie_jar().load(options_.cookie_file, wall_time());
    if (!report && report.error().code() != Errc::NotFound) {
      fail(file_failed, file_text("read", options_.cookie_file, report.error().error));
      return false;
    }
    if (report && report->refused != 0) {
      say(complaint(options_.cookie_file + ": dropping " + std::to_string(report->refused) +
                    " invalid line(s)"));
    }
    return true;
  }

  bool save_cookies(Client& client) {
    if (session_ != nullptr && !options_.session_read_only) {
      const Result<void, Problem> saved = session_->save(client.cookie_jar(), wall_time());
      if (!saved) fail(file_failed, saved.error().text);
      if (!saved) return false;
    }
    if (options_.cookie_output.empty()) return true;
    const Result<void, Problem> saved =
        client.cookie_jar().save(options_.cookie_output, wall_time());
    if (!saved) fail(file_failed, file_text("write", options_.cookie_output, saved.error().error));
    return saved.has_value();
  }

  const GetOptions& options_;
  const PreparedRequest& prepared_;
  const Session* const session_;
  const ReportFile& reports_;
  const int content_;
  Event over_;
  Downloader* downloader_ = nullptr;  // while it runs
  int code_ = failed;
  int signal_ = 0;
};

/// Where content that is not saved goes. Standard output also has heads and --write-out, so a
/// device or pipe has a descriptor of its own.
struct ContentOutput {
  int descriptor = standard_output;
  disk::Descriptor opened{};
};

// A device or pipe is written to; a regular file is renamed into place at the end.
Result<ContentOutput, Problem> prepare_output(GetOptions& options) {
  if (options.output.empty() || options.output == "-") return ContentOutput();
  if (options.makes_folders) {
    std::error_code ignored;  // a folder that is missing is told when the file is opened
    std::filesystem::create_directories(std::filesystem::path(options.output).parent_path(),
                                        ignored);
  }
  Result<OutputPlace, Problem> place = look_at_output(options.output);
  if (!place) return std::move(place).error();
  if (place->is_regular) {
    options.output = place->path;
    return ContentOutput();
  }
  options.output = "-";
  options.download = false;
  const std::optional<int>& standard = place->standard;
  if (standard) return ContentOutput{.descriptor = *standard};
  const int descriptor = open_output(place->path);
  if (descriptor < 0) {
    const Error error = Error::from_system(errno, "open");
    return Problem{.error = error, .text = file_text("write", place->path, error)};
  }
  return ContentOutput{.descriptor = descriptor, .opened = disk::Descriptor(descriptor)};
}

// Adds the URLs of --input-file. Returns an exit code.
int add_urls(GetOptions& options) {
  if (options.input_file.empty()) return succeeded;
  Result<std::vector<Url>, Problem> urls = read_urls(options.input_file, options.keeps_dots);
  if (!urls) {
    const bool is_line = urls.error().code() == Errc::MalformedForm;
    return fail(is_line ? misunderstood : file_failed, urls.error().text);
  }
  for (Url& url : *urls) options.urls.push_back(std::move(url));
  if (options.urls.empty()) return fail(misunderstood, options.input_file + " has no URL");
  return succeeded;
}

// Opens the session, if one is named, and adds its headers. Returns an exit code.
int open_session(GetOptions& options, std::optional<Session>& session) {
  if (options.session.empty()) return succeeded;
  Result<Session, Problem> opened = Session::open(options);
  if (!opened) {
    const bool is_word = opened.error().code() == Errc::Unsupported;
    return fail(is_word ? misunderstood : file_failed, opened.error().text);
  }
  session = *std::move(opened);
  session->exchange_headers(options);
  if (session->dropped() != 0) {
    say(complaint(session->path() + ": dropping " + std::to_string(session->dropped()) +
                  " invalid line(s)"));
  }
  options.client.cookies = true;
  return succeeded;
}

int send_prepared(GetOptions& options, const PreparedRequest& prepared, const Session* session) {
  ContentOutput content;
  if (!options.offline) {
    warn_of(options.client.tls);
    Result<ContentOutput, Problem> output = prepare_output(options);
    if (!output) return fail(file_failed, output.error().text);
    content = *std::move(output);
  }
  ReportFile reports;
  if (const auto opened = reports.open(options); !opened) {
    return fail(file_failed, opened.error().text);
  }
  Conversation conversation(options, prepared, session, reports, content.descriptor);
  const int code = skua::run(conversation.run());
  // Checked only now: a program that feeds a pipe may need a moment.
  if (!options.quiet && prepared.ignores_input()) {
    say(complaint("WARNING: standard input was not sent; use --data - to send it"));
  }
  return code;
}

}  // namespace

int send_requests(GetOptions& options) {
  if (const int code = add_urls(options); code != succeeded) return code;
  if (!options.cookie_file.empty() || !options.cookie_output.empty()) options.client.cookies = true;
  std::optional<Session> session;
  if (const int code = open_session(options, session); code != succeeded) return code;
  try {
    const Result<PreparedRequest, Problem> prepared = PreparedRequest::prepare(options);
    if (!prepared) {
      const bool is_word = prepared.error().code() == Errc::MalformedForm;
      return fail(is_word ? misunderstood : file_failed, prepared.error().text);
    }
    if (options.curl) {
      write_all(standard_output, curl_text(options, *prepared) + "\n");
      return succeeded;
    }
    return send_prepared(options, *prepared, session ? &*session : nullptr);
  } catch (const std::invalid_argument& error) {  // an invalid field or proxy
    return fail(misunderstood, error.what());
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::broken_pipe) return file_failed;  // as with `| head`
    return fail(file_failed, error.what());
  } catch (const Exception& error) {
    const bool is_name = error.error().code() == Errc::MalformedChallenge;
    return fail(is_name ? misunderstood : file_failed, error.what());
  }
}

std::function<int()> configure_method(CLI::App& parser, Method method) {
  const auto options = std::make_shared<GetOptions>();
  options->method = name(method);
  declare(parser, *options);
  return [options] { return send_requests(*options); };
}

std::function<int()> configure_any_method(CLI::App& parser) {
  const auto options = std::make_shared<GetOptions>();
  declare(parser, *options);
  return [options] { return send_requests(*options); };
}

}  // namespace skua::cli
