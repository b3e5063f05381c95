// SPDX-License-Identifier: MIT
// In: the records of responses, on the threads of the server. Out: lines in the log's queue.
#include "serve/log/access_log.hpp"

#include <chrono>
#include <utility>

namespace skua::cli {

Result<std::unique_ptr<AccessLog>, Problem> AccessLog::open(const ServeOptions& options,
                                                            const std::optional<User>& user,
                                                            LogWriter::Say say) {
  if (auto checked = check_log(options); !checked) return std::move(checked).error();
  if (!options.log.is_on()) return std::unique_ptr<AccessLog>();
  auto file = LogFile::open(options.log.target(), user);
  if (!file) return std::move(file).error();
  return std::make_unique<AccessLog>(options.log, *std::move(file), std::move(say));
}

AccessLog::AccessLog(const LogOptions& options, LogFile file, LogWriter::Say say)
    : options_(options),
      is_terminal_(file.is_terminal()),
      writer_(std::move(file), std::move(say)) {}

void AccessLog::start() {
  writer_.start();
  signal_.start([this] { writer_.reopen(); });
}

void AccessLog::add(const RequestRecord& record) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  writer_.add(log_line(options_, record, now));
}

}  // namespace skua::cli
