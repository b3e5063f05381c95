// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "skua/bytes.hpp"
#include "skua/config.hpp"
#include "skua/error.hpp"
#include "skua/form.hpp"
#include "skua/task.hpp"

namespace skua {

namespace http {
class MultipartReader;
}

/// One part of multipart content, while it arrives. What is not read is passed over.
///
/// Lifetime:  valid, as all its views, until the next `Multipart::next`; the Multipart outlives the
///            tasks. One task at a time.
class Part final {
 public:
  static constexpr std::uint64_t unlimited_bytes = std::numeric_limits<std::uint64_t>::max();

  /// The name of the form's field; empty where the content is no form.
  [[nodiscard]] std::string_view name() const noexcept;
  /// The name of the file as the peer calls it, which is not to be trusted; nothing for a text
  /// field.
  [[nodiscard]] std::optional<std::string_view> filename() const noexcept;
  /// That name fit for a new file: its last component, without anything that a file system gives a
  /// meaning to. Empty when nothing is left of it.
  [[nodiscard]] std::string safe_filename() const;
  /// The media type as it was sent; empty without one.
  [[nodiscard]] std::string_view content_type() const noexcept;
  /// The first field of the part's head with this name, whatever the case of its letters.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept;

  /// The next piece of the content; nothing at its end.
  ///
  /// Waits for: more of the content.
  /// Ends with: MalformedMultipart, TruncatedBody.
  /// Lifetime:  the bytes are valid until the next read.
  Task<Result<std::optional<Bytes>>> read();
  /// What is left of the content as a text.
  ///
  /// Waits for: the end of the part.
  /// Ends with: BodyTooLong past the limit; as read().
  Task<Result<std::string>> text(std::size_t limit_bytes = 64_KiB);
  /// Writes what is left of the content to a file and says how large it is. The file has another
  /// name in the same folder until it is whole; then it replaces whatever has this name. In case of
  /// an error, or when the task is dropped, nothing is left of it.
  ///
  /// Waits for: the end of the part, and the disk, on another thread.
  /// Ends with: BodyTooLong past the limit; PermissionDenied, NotFound for the folder; Overloaded;
  ///            as read().
  Task<Result<std::uint64_t>> save(std::string path, std::uint64_t limit_bytes = unlimited_bytes);

 private:
  friend class Multipart;
  explicit Part(http::MultipartReader& reader) noexcept : reader_(&reader) {}
  http::MultipartReader* reader_;
};

/// Multipart content, one part after the other, in constant memory: `multipart/form-data`,
/// `related`, `mixed` or any other.
///
/// ```cpp
/// for (;;) {
///   auto part = co_await parts.next();
///   if (!part) co_return part.error();  // MalformedMultipart: 400, TooManyParts: 413
///   if (!*part) break;
///   auto text = co_await (*part)->text();
/// }
/// ```
/// Every part of a form has a name: one without is malformed.
/// RFC:       2046 §5.1, 7578
class Multipart final {
 public:
  /// Where the content comes from: its next piece, valid until the next call; nothing at its end.
  using Source = std::function<Task<std::optional<Bytes>>()>;

  /// Content with this Content-Type; where it is not multipart, next() says so.
  Multipart(std::string_view content_type, Source source, const MultipartLimits& limits = {});
  Multipart(Multipart&&) noexcept;
  Multipart& operator=(Multipart&&) noexcept;
  ~Multipart();

  /// Passes over the rest of the part and reads the head of the next one; nothing when there is
  /// none.
  ///
  /// Waits for: more of the content.
  /// Ends with: UnsupportedMediaType, MalformedMultipart, TooManyParts, PartHeadTooLong,
  ///            TruncatedBody; from then on always the same.
  Task<Result<std::optional<Part>>> next();

 private:
  std::unique_ptr<http::MultipartReader> reader_;
};

}  // namespace skua
