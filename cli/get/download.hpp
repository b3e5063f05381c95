// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "client/files/partial_content.hpp"
#include "client/files/resumable_file.hpp"
#include "get/json_report.hpp"
#include "get/options.hpp"
#include "get/request_content.hpp"
#include "get/retry.hpp"
#include "progress.hpp"
#include "skua/async.hpp"
#include "skua/client.hpp"
#include "skua/url.hpp"

namespace skua::cli {

/// Returns the origin of a response's content: its URL, validator and size.
client::PartOrigin origin_of(const Url& url, const ClientResponse& response);

/// Decides how to treat the response to a request for the rest of `file`, or for the whole.
client::Verdict judge(const ClientResponse& response, const client::ResumableFile& file,
                      bool asked_for_rest);

/// Returns the total size in Content-Range; nullopt if unknown.
std::optional<std::uint64_t> total_told(const ClientResponse& response);

/// Returns the file name in Content-Disposition, made safe; empty if there is none.
std::string name_told(const ClientResponse& response);
/// Returns the last segment of a URL's path, made safe as a file name; `index.html` if empty.
std::string name_in(const Url& url);

/// Downloads the URLs of a command line into files, several at a time.
///
/// If it is destroyed early, the received data stays in `.NAME.part`.
/// Lifetime:  all constructor arguments outlive it.
class Downloader final {
 public:
  Downloader(const GetOptions& options, const PreparedRequest& prepared, Client& client,
             const ReportFile& reports)
      : options_(options),
        prepared_(prepared),
        client_(client),
        reports_(reports),
        display_(!options.quiet),
        codes_(options.urls.size(), 0) {}

  /// Returns the exit code of the first URL that could not be saved, or 0.
  ///
  /// Waits for: all downloads.
  Task<int> run();
  /// Erases the display; returns the names of the part files that can be resumed, empty if none.
  std::string stop();

 private:
  Task<> work();
  Task<> tick();
  Task<int> fetch(const Url& url);
  Task<int> fetch_into(const Url& url, client::ResumableFile& file, RequestReport& report);
  // Returns an exit code, or nullopt if the rest of the file is to be requested.
  Task<std::optional<int>> receive(const Url& url, ClientResponse& response,
                                   client::ResumableFile& file, Attempts& attempts,
                                   RequestReport& report);
  Task<Result<ClientResponse, Problem>> ask(const Url& url, const client::ResumableFile* resumed,
                                            Attempts& attempts, RequestReport& report);
  void announce(const Retry& retry, RequestReport& report);
  [[nodiscard]] client::Verdict verdict_on(const ClientResponse& response,
                                           const client::ResumableFile& file, bool goes_on) const;
  [[nodiscard]] bool is_unmodified(const ClientResponse& response) const;
  int refuse(const Url& url, const ClientResponse& response, RequestReport& report);
  [[nodiscard]] ClientRequest request(const Url& url, const client::ResumableFile* resumed) const;
  [[nodiscard]] std::string name_for(const Url& url, const ClientResponse& response) const;
  [[nodiscard]] bool is_complete(const std::string& name, const ClientResponse& response) const;
  int keep(const Url& url, const ClientResponse& response, client::ResumableFile& file,
           const std::string& summary, RequestReport& report);
  int break_off(int code, std::string_view text, const client::ResumableFile& file,
                RequestReport& report);
  int fail_to_write(Error error, const client::ResumableFile& file, RequestReport& report);
  int fail(int code, std::string_view text, RequestReport& report);

  const GetOptions& options_;
  const PreparedRequest& prepared_;
  Client& client_;
  const ReportFile& reports_;
  ProgressDisplay display_;
  std::vector<int> codes_;
  std::vector<const client::ResumableFile*> files_;  // being written
  std::size_t next_ = 0;
};

/// The target of -o FILE. Symbolic links are resolved, so that the link itself is not replaced.
/// A name of standard output or standard error, such as /dev/stdout, is that descriptor.
///
/// Ends with: Unsupported for a folder, with a text.
struct OutputPlace {
  std::string path{};
  bool is_regular = true;         ///< false: a device or pipe, written in place
  std::optional<int> standard{};  ///< the descriptor
};
Result<OutputPlace, Problem> look_at_output(const std::string& path);

}  // namespace skua::cli
