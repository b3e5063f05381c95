// SPDX-License-Identifier: MIT
// In: the records of responses, on the threads of servers. Out: lines in the log's queue.
#include "skua/access_log.hpp"

#include <atomic>
#include <chrono>
#include <cmath>
#include <new>
#include <optional>
#include <utility>

#include "async/guarded.hpp"
#include "http/uri/masked_query.hpp"
#include "operations/log_file.hpp"
#include "operations/log_line.hpp"
#include "operations/log_writer.hpp"
#include "operations/rotation_signal.hpp"

namespace skua {

using operations::LogFile;
using operations::LogPattern;
using operations::LogTime;
using operations::LogWriter;

std::vector<std::string> secret_parameters() { return http::secret_parameters(); }

struct AccessLog::Impl {
  Impl(AccessLogOptions told, LogFile file, std::optional<LogPattern> parsed)
      : options(std::move(told)),
        pattern(std::move(parsed)),
        is_terminal(file.is_terminal()),
        writer(std::move(file),
               [this](std::string_view message) {
                 if (!options.on_problem) return;
                 async::guarded([&] { options.on_problem(message); });
               },
               {.queue_bytes = options.queue_bytes}) {
    if (options.reopens_on_signal) signal.emplace();
  }

  [[nodiscard]] std::string line(const RequestRecord& record) const;
  [[nodiscard]] bool is_left_out(const RequestRecord& record) noexcept;

  const AccessLogOptions options;
  const std::optional<LogPattern> pattern;  // if the format is one
  const bool is_terminal;
  std::atomic<std::uint64_t> seen{0};  // of those that may be left out
  LogWriter writer;
  std::optional<operations::RotationSignal> signal;  // last: calls the writer
};

std::string AccessLog::Impl::line(const RequestRecord& record) const {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  if (pattern) return pattern->line(record, now);
  return options.format == "json" ? operations::json_line(record, now)
                                  : operations::combined_line(record, now);
}

// Evenly: with a share of 0.25, each fourth gets a line.
bool AccessLog::Impl::is_left_out(const RequestRecord& record) noexcept {
  if (options.sample >= 1 || record.is_cut || code(record.status) >= 500) return false;
  const auto before = static_cast<double>(seen.fetch_add(1, std::memory_order_relaxed));
  return std::floor(before * options.sample) == std::floor((before + 1) * options.sample);
}

Result<std::unique_ptr<AccessLog>, Problem> AccessLog::open(AccessLogOptions options) {
  std::optional<LogPattern> pattern;
  if (options.format != "combined" && options.format != "json") {
    auto parsed = LogPattern::parse(options.format);
    if (!parsed) return std::move(parsed).error();
    pattern = *std::move(parsed);
  }
  auto file = LogFile::open(options.file, options.owner);
  if (!file) return std::move(file).error();
  return std::unique_ptr<AccessLog>(new AccessLog(
      std::make_unique<Impl>(std::move(options), *std::move(file), std::move(pattern))));
}

AccessLog::AccessLog(std::unique_ptr<Impl> impl) noexcept : impl_(std::move(impl)) {}

AccessLog::~AccessLog() = default;

void AccessLog::start() {
  impl_->writer.start();
  std::optional<operations::RotationSignal>& signal = impl_->signal;
  if (signal) signal->start([this] { reopen(); });
}

void AccessLog::add(const RequestRecord& record) noexcept try {
  if (impl_->is_left_out(record)) return;
  const http::MaskedQuery target(record.target, impl_->options.masked);
  const http::MaskedQuery referer(record.referer, impl_->options.masked);
  RequestRecord shown = record;
  shown.target = target.text();
  shown.referer = referer.text();
  impl_->writer.add(impl_->line(shown));
} catch (const std::bad_alloc&) {
  impl_->writer.lose_line();
}

void AccessLog::reopen() { impl_->writer.reopen(); }

std::uint64_t AccessLog::lost_count() const { return impl_->writer.lost_count(); }

bool AccessLog::is_terminal() const noexcept { return impl_->is_terminal; }

}  // namespace skua
