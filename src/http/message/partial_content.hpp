// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "http/message/conditional.hpp"
#include "http/message/field.hpp"
#include "http/message/range.hpp"
#include "skua/response.hpp"

namespace skua::http {

/// Content that may be sent in parts.
class RangeSource {
 public:
  [[nodiscard]] virtual std::uint64_t size_bytes() const noexcept = 0;
  /// Returns a part as content. Called once at most: it may take what it needs out of the source.
  virtual Body part(ByteRange range) = 0;
  /// Appends a copy of a part; returns false if it cannot be read.
  [[nodiscard]] virtual bool append(std::string& out, ByteRange range) const = 0;

 protected:
  ~RangeSource() = default;
};

/// Returns the Range field if it applies: only to GET, only if there is one, and only to the
/// representation that If-Range names.
///
/// RFC:       9110 §13.1.5, §14.2
std::optional<std::string_view> find_range(const Head& request, const Validators& current,
                                           std::chrono::sys_seconds now) noexcept;

/// Turns a 200 into 206 with parts of the source, or into 416. Returns false, and leaves the
/// response unchanged, if a Range field calls for the whole content.
///
/// Several ranges are sent as multipart/byteranges if they fit into 256 KiB; otherwise, and if the
/// content is coded, the whole content is sent.
/// RFC:       9110 §14.2, §14.6, §15.3.7, §15.5.17
bool make_partial(Response& response, std::string_view field, RangeSource& source);

/// Does so for a handler's 200 with these validators, if the request has a Range field, the
/// validators are strong, and the content is in memory or a file. `Accept-Ranges: none` in the
/// response prevents it.
void apply_range(const Head& request, const Validators& current, std::chrono::sys_seconds now,
                 Response& response);

}  // namespace skua::http
