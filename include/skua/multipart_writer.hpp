// SPDX-License-Identifier: MIT
#pragma once

#include "skua/release.hpp"  // first: checks the C++ version

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/config.hpp"
#include "skua/error.hpp"

namespace skua {

/// The content of a part, produced while it is sent.
class SKUA_API PartSource {
 public:
  PartSource() = default;
  PartSource(const PartSource&) = delete;
  PartSource& operator=(const PartSource&) = delete;
  virtual ~PartSource() = default;

  /// Returns how many bytes read() yields in total; nullopt if unknown. Called once.
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const { return std::nullopt; }
  /// Fills `into`, which is not empty, from its start. Returns the number of bytes written; 0 at
  /// the end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// The kind of multipart content: a form, or parts that refer to each other by Content-ID.
enum class MultipartKind : std::uint8_t { FormData, Related };

/// Writes multipart content as a stream, never holding all of it in memory.
///
/// ```cpp
/// skua::MultipartWriter form;
/// form.field("title", "Holidays").memory("note", "note.txt", "text/plain", "Sunny!");
/// if (auto added = form.file("photo", "sea.png", "image/png"); !added) return added.error();
/// char buffer[16384];
/// for (auto size = form.read(buffer); size && *size != 0; size = form.read(buffer)) { ... }
/// ```
/// Names and file names are encoded as in browsers (`%22`, `%0D`, `%0A`); content is sent as is.
/// The boundary is random, so content cannot contain it.
/// Ends with: std::invalid_argument for a malformed media type or Content-ID, and for a part added
///            after reading has begun.
/// RFC:       7578, 2387
class SKUA_API MultipartWriter final {
 public:
  /// Reports progress; the total is nullopt if the length of any part is unknown.
  using Progress =
      std::function<void(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes)>;

  explicit MultipartWriter(MultipartKind kind = MultipartKind::FormData);
  MultipartWriter(MultipartWriter&&) noexcept = default;
  MultipartWriter& operator=(MultipartWriter&&) noexcept = default;
  MultipartWriter(const MultipartWriter&) = delete;
  MultipartWriter& operator=(const MultipartWriter&) = delete;
  ~MultipartWriter() = default;

  /// Adds a text field. In related content every `name` is a Content-ID, or empty for none, and
  /// there are no file names.
  MultipartWriter& field(std::string_view name, std::string_view value);
  /// Adds a regular file, which is checked now and opened when its turn comes. `filename` is sent
  /// to the peer; empty: the last component of `path`.
  ///
  /// Ends with: NotFound, PermissionDenied; Unsupported if it is not a regular file.
  Result<void> file(std::string_view name, const std::string& path,
                    std::string_view type = "application/octet-stream",
                    std::string_view filename = {});
  /// Adds a file with this content.
  MultipartWriter& memory(std::string_view name, std::string_view filename, std::string_view type,
                          std::string text);
  /// Adds a part from your own source. An empty `type` or a missing file name is left out.
  MultipartWriter& part(std::string_view name, std::unique_ptr<PartSource> source,
                        std::string_view type = {},
                        std::optional<std::string_view> filename = std::nullopt);

  /// Sets a callback for each read() that wrote something.
  MultipartWriter& on_progress(Progress progress);

  /// Returns the Content-Type: `multipart/form-data; boundary=...`.
  [[nodiscard]] std::string content_type() const;
  /// Returns the total size without reading anything; nullopt if the length of a part is unknown.
  [[nodiscard]] std::optional<std::uint64_t> length_bytes() const noexcept;

  /// Fills `into`, which is not empty. Returns the number of bytes written; 0 at the end. Blocks
  /// the calling thread while it reads files.
  ///
  /// Ends with: TruncatedBody or BodyTooLong if a part does not keep to its length (a file shrinks
  ///            or grows while it is sent); errors of files and sources. Every later call returns
  ///            the same error.
  Result<std::size_t> read(std::span<char> into);

 private:
  struct Part {
    std::string head;  // with the delimiter before it
    std::unique_ptr<PartSource> source;
    std::optional<std::uint64_t> length_bytes;
  };

  void add(std::string_view name, std::optional<std::string_view> filename, std::string_view type,
           std::unique_ptr<PartSource> source);
  Result<std::size_t> read_some(std::span<char> into);
  Result<std::size_t> read_content(std::span<char> into);

  std::string boundary_;
  std::string root_type_;  // of the first part, without parameters
  std::string end_;
  std::vector<Part> parts_;
  Progress progress_;
  std::size_t part_ = 0;             // the one being sent; parts_.size(): end_
  std::size_t text_bytes_ = 0;       // sent of its head, or of end_
  std::uint64_t content_bytes_ = 0;  // sent of its content
  std::uint64_t done_bytes_ = 0;
  Result<void> failure_;
  MultipartKind kind_;
  bool is_reading_ = false;
};

}  // namespace skua
