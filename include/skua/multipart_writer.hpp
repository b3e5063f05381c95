// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "skua/error.hpp"

namespace skua {

/// The content of a part that is made up while it is sent.
class PartSource {
 public:
  PartSource() = default;
  PartSource(const PartSource&) = delete;
  PartSource& operator=(const PartSource&) = delete;
  virtual ~PartSource() = default;

  /// How many bytes read() hands out in all; nothing where that is not known. Asked once.
  [[nodiscard]] virtual std::optional<std::uint64_t> length() const { return std::nullopt; }
  /// Fills `into`, which is not empty, from its start. Returns how many bytes it wrote; 0 at the
  /// end.
  virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// What multipart content is for: a form, or texts that refer to each other by Content-ID.
enum class MultipartKind : std::uint8_t { FormData, Related };

/// Writes multipart content as a stream: whatever it holds, it is never in memory as a whole.
///
/// ```cpp
/// skua::MultipartWriter form;
/// form.field("title", "Holidays").memory("note", "note.txt", "text/plain", "Sunny!");
/// if (auto added = form.file("photo", "sea.png", "image/png"); !added) return added.error();
/// char buffer[16384];
/// for (auto size = form.read(buffer); size && *size != 0; size = form.read(buffer)) { ... }
/// ```
/// Names and file names are encoded as browsers do (`%22`, `%0D`, `%0A`); content goes out as it
/// is. The boundary is random, so that no content can hold it.
/// Ends with: std::invalid_argument for a type that is none, a Content-ID that cannot be one, and a
///            part that is added once reading has begun.
/// RFC:       7578, 2387
class MultipartWriter final {
 public:
  /// Hears how far it got; the total is not known while a part does not know its length.
  using Progress =
      std::function<void(std::uint64_t done_bytes, std::optional<std::uint64_t> total_bytes)>;

  explicit MultipartWriter(MultipartKind kind = MultipartKind::FormData);
  MultipartWriter(MultipartWriter&&) noexcept = default;
  MultipartWriter& operator=(MultipartWriter&&) noexcept = default;
  MultipartWriter(const MultipartWriter&) = delete;
  MultipartWriter& operator=(const MultipartWriter&) = delete;
  ~MultipartWriter() = default;

  /// A text field. In related content every `name` is a Content-ID, or empty for none, and there
  /// are no file names.
  MultipartWriter& field(std::string_view name, std::string_view value);
  /// A regular file, which is looked at now and opened when its turn comes; `filename` is what the
  /// peer hears, empty: the last component of `path`.
  ///
  /// Ends with: NotFound, PermissionDenied; Unsupported for what is no regular file.
  Result<void> file(std::string_view name, const std::string& path,
                    std::string_view type = "application/octet-stream",
                    std::string_view filename = {});
  /// A file that is made of this text.
  MultipartWriter& memory(std::string_view name, std::string_view filename, std::string_view type,
                          std::string text);
  /// A part of your own. An empty `type` and no file name are left out.
  MultipartWriter& part(std::string_view name, std::unique_ptr<PartSource> source,
                        std::string_view type = {},
                        std::optional<std::string_view> filename = std::nullopt);

  /// Called by each read() that wrote something.
  MultipartWriter& on_progress(Progress progress);

  /// `multipart/form-data; boundary=...`
  [[nodiscard]] std::string content_type() const;
  /// The size of all of it, without reading a byte; nothing where a part does not know its length.
  [[nodiscard]] std::optional<std::uint64_t> length_bytes() const noexcept;

  /// Fills `into`, which is not empty. Returns how many bytes it wrote; 0 at the end. Files are
  /// read where this is called, so it waits for the disk.
  ///
  /// Ends with: TruncatedBody, BodyTooLong for a part (a file that shrinks or grows while it is
  ///            sent) that does not keep to its length; errors of files and sources. From then on
  ///            always the same.
  Result<std::size_t> read(std::span<char> into);

 private:
  struct Part {
    std::string head;  // with the delimiter in front of it
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
  std::size_t part_ = 0;             // the one being sent; parts_.size(): the end
  std::size_t text_bytes_ = 0;       // sent of its head, or of the end
  std::uint64_t content_bytes_ = 0;  // sent of its content
  std::uint64_t done_bytes_ = 0;
  Result<void> failure_;
  MultipartKind kind_;
  bool is_reading_ = false;
};

}  // namespace skua
