// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "base/disk.hpp"
#include "get/options.hpp"
#include "get/request_report.hpp"
#include "skua/error.hpp"

namespace skua::cli {

/// Returns the kind of failure that an exit code stands for, as the report names it; empty for
/// success.
std::string_view failure_of(int exit_code) noexcept;

/// Returns the report for scripts: a line of JSON, with its line feed.
std::string json_line(const RequestFacts& facts);

/// The destinations of what is told about requests: reports in JSON, heads and ETags.
class ReportFile final {
 public:
  /// Creates the files that the options name, if they do. Its text names the file on failure.
  Result<void, Problem> open(const GetOptions& options);
  /// Writes the reports that the options ask for; that of --write-out goes to standard output.
  /// Returns what is left for standard error.
  ///
  /// Ends with: std::system_error.
  [[nodiscard]] std::string write(const GetOptions& options, const RequestFacts& facts) const;
  /// Writes heads to the file of the options.
  ///
  /// Ends with: std::system_error.
  void write_heads(std::string_view heads) const;

 private:
  static void write_etag(const GetOptions& options, const RequestFacts& facts);

  disk::Descriptor file_;
  disk::Descriptor heads_;
  bool writes_heads_ = false;  // to standard output
};

}  // namespace skua::cli
