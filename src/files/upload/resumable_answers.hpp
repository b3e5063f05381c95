// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "files/upload/part_writer.hpp"
#include "files/upload/upload_file.hpp"
#include "skua/response.hpp"
#include "skua/status.hpp"

/// Answers about resumable uploads, each in the protocol of the request: the draft of the IETF, or
/// tus.
namespace skua::files {

/// Below it, in the path of a URL, are the uploads that are not complete.
inline constexpr std::string_view part_folder = "/.skua-uploads/";

/// The fields of a request about an upload.
struct UploadRequest {
  bool is_tus = false;
  std::optional<bool> is_whole{};  ///< Upload-Complete; tus: the length decides
  std::optional<std::uint64_t> offset_bytes{};
  std::optional<std::uint64_t> length_bytes{};  ///< of the whole file
  std::string base{};  ///< the part of the URL's path in front of the folder of uploads
  bool creates = false;
};

/// Returns the value of Upload-Limit.
std::string limits_of(const UploadOptions& options);
/// Returns the URL of an upload.
std::string part_url(const UploadRequest& asked, const PartWriter& writer);

/// Adds what every answer of tus has, if it is one.
Response with_tus(Response response, bool is_tus);
Response refused(const UploadResult& result, bool is_tus);
Response refused(Status status, std::string_view reason, bool is_tus);
Response wrong_offset(const UploadRequest& asked, std::uint64_t expected);
Response already_complete(bool is_tus);
/// Refuses a request whose length is not the one that is known.
Response wrong_length(bool is_tus);
/// Refuses a request whose content is more than the site takes.
Response too_long(const UploadOptions& options, bool is_tus);

/// The answer to a request whose content has been kept.
Response appended(const UploadRequest& asked, const UploadSite& site, const PartWriter& writer,
                  std::uint64_t size_bytes);
/// The answer to a request that has completed the file.
Response completed(const UploadRequest& asked, const PartWriter& writer, const UploadResult& result,
                   std::uint64_t size_bytes);
/// The answer to HEAD. Draft §4.3; tus, Core Protocol, HEAD
Response state_response(const UploadRequest& asked, const UploadOptions& options,
                        const PartState& state, std::uint64_t size_bytes, bool is_complete);
/// The answer to OPTIONS; `is_part`: about an upload, not the folder.
Response upload_options_response(const UploadOptions& options, bool is_part);

}  // namespace skua::files
