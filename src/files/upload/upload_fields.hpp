// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

/// The fields of resumable uploads: those of draft-ietf-httpbis-resumable-upload, and those of tus.
namespace skua::files {

/// Parses Upload-Offset or Upload-Length: an integer of up to 15 digits, as in RFC 9651 §3.3.1, and
/// not negative. Parameters are ignored.
std::optional<std::uint64_t> parse_upload_size(std::string_view value) noexcept;

/// Parses Upload-Complete: `?1` or `?0`. Parameters are ignored.
std::optional<bool> parse_upload_complete(std::string_view value) noexcept;

/// The versions of the draft whose clients understand our interim responses. They differ in what
/// is required, not in what is sent.
inline constexpr std::uint64_t first_draft_version = 6;  ///< draft 05, of Apple's systems
inline constexpr std::uint64_t last_draft_version = 8;

/// The version of tus that is spoken here, and what of it.
inline constexpr std::string_view tus_version = "1.0.0";
inline constexpr std::string_view tus_extensions =
    "creation,creation-with-upload,creation-defer-length,termination,expiration";

/// Returns the decoded value of a key of tus's Upload-Metadata: `filename d29ybGQ=,is_secret`.
/// nullopt if there is no such key, or its value is malformed.
std::optional<std::string> find_upload_metadata(std::string_view field, std::string_view key);

/// The facts that are kept beside the content of an unfinished upload.
struct PartState {
  std::string name{};   ///< that the file gets in its folder
  std::string owner{};  ///< the user who may go on with it; empty: whose secret its URL is
  std::optional<std::uint64_t> length_bytes{};  ///< of the whole file, if it is known
  std::string metadata{};                       ///< Upload-Metadata, as sent
  std::string conditions{};  ///< field lines of the request's preconditions, each with CRLF

  friend bool operator==(const PartState&, const PartState&) = default;
};

/// The longest text of a state that is written or read.
inline constexpr std::size_t max_state_bytes = 16'384;

/// Returns the state as text. No value has a line feed, because names and fields cannot.
std::string to_text(const PartState& state);
/// Returns nullopt unless the text is complete and well-formed.
std::optional<PartState> parse_state(std::string_view text);

}  // namespace skua::files
