// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <nghttp2/nghttp2.h>

#include "h2/client_session.hpp"
#include "h2/session.hpp"

namespace skua::h2 {

/// Field lines as nghttp2 takes them. Refers to the texts that it was made from, and copies only
/// what has to change; to be used again and again, for its memory. Internal: it shows nghttp2.
class NvList final {
 public:
  /// A response's head. RFC 9113 §8.3.2
  void assign(const ResponseHead& head);
  /// A request's head: fields that belong to HTTP/1 are left out, cookies are split (RFC 9113
  /// §8.2.3), so that HPACK has to write out only those that have changed.
  /// RFC:       9113 §8.2.2, §8.3.1
  void assign(const RequestLines& head);
  /// A trailer section, or whatever has field lines only.
  void assign(std::string_view lines);

  /// Appends the fields as lines, pseudo-header fields left out.
  void append_lines(std::string& out) const;

  [[nodiscard]] const nghttp2_nv* data() const noexcept { return fields_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return fields_.size(); }

 private:
  void start(std::size_t text_bytes);
  void add(std::string_view name, std::string_view value);
  void add_lines(std::string_view lines);
  void add_line(std::string_view name, std::string_view value);
  void add_request_line(std::string_view name, std::string_view value);
  std::string_view keep_number(std::uint64_t number);
  std::string_view keep(std::string_view text);

  std::vector<nghttp2_nv> fields_;
  std::string texts_;  // lower-case names and numbers; never grows between start() and the use
};

}  // namespace skua::h2
