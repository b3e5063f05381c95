// SPDX-License-Identifier: MIT
// The two common sources of parts: a text and a file. The size of a file is read when it is added,
// but the file is opened when it is sent, so a thousand files need one descriptor.
#include "http/form/multipart_writer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/ascii.hpp"
#include "base/disk.hpp"
#include "http/form/content_disposition.hpp"
#include "http/form/multipart_parser.hpp"
#include "http/message/media_type.hpp"
#include "skua/multipart_writer.hpp"

namespace skua::http {
namespace {

class TextSource final : public PartSource {
 public:
  explicit TextSource(std::string text) noexcept : text_(std::move(text)) {}

  [[nodiscard]] std::optional<std::uint64_t> length() const override { return text_.size(); }

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t size = std::min(into.size(), text_.size() - sent_bytes_);
    std::memcpy(into.data(), text_.data() + sent_bytes_, size);
    sent_bytes_ += size;
    return size;
  }

 private:
  std::string text_;
  std::size_t sent_bytes_ = 0;
};

Result<std::uint64_t> size_of(const Result<disk::FileStat>& stat) noexcept {
  if (!stat) return stat.error();
  if (stat->kind != disk::FileKind::Regular) return Error(Errc::Unsupported, "not a regular file");
  return stat->size_bytes;
}

class FileSource final : public PartSource {
 public:
  FileSource(std::string path, std::uint64_t size_bytes) noexcept
      : path_(std::move(path)), size_bytes_(size_bytes) {}

  [[nodiscard]] std::optional<std::uint64_t> length() const override { return size_bytes_; }

  Result<std::size_t> read(std::span<char> into) override {
    if (!file_) {
      if (auto opened = open(); !opened) return opened.error();
    }
    for (;;) {
      const auto size = disk::read(file_.number(), into.data(), into.size());
      if (size >= 0) return static_cast<std::size_t>(size);
      if (errno != EINTR) return Error::from_system(errno, "read file");
    }
  }

 private:
  // The file may be a pipe by now, and waiting for its other end could take forever.
  Result<void> open() {
    file_ = disk::Descriptor(disk::open(path_.c_str(), disk::for_reading));
    if (!file_) return Error::from_system(errno, "open file");
    const auto size_bytes = size_of(disk::stat_of(file_.number()));
    return size_bytes ? Result<void>() : size_bytes.error();
  }

  std::string path_;
  std::uint64_t size_bytes_;
  disk::Descriptor file_{};
};

}  // namespace

std::unique_ptr<PartSource> make_text_source(std::string text) {
  return std::make_unique<TextSource>(std::move(text));
}

Result<std::unique_ptr<PartSource>> make_file_source(const std::string& path) {
  const auto size_bytes = size_of(disk::stat_of(path));
  if (!size_bytes) return size_bytes.error();
  return std::make_unique<FileSource>(path, *size_bytes);
}

}  // namespace skua::http

// In: parts. Out: one stream of bytes: the delimiter, head and content of each part, then the end.
// Heads are built when a part is added; content is read straight into the caller's buffer. A part
// with another length than promised would shift every byte after it, so it is an error, reported as
// soon as it is detected.

namespace skua {
namespace {

void check_type(std::string_view type) {
  const auto media = http::parse_media_type(type);
  http::Parameters parameters(media ? media->parameters : std::string_view("malformed"));
  while (parameters.next()) {
  }
  if (parameters.is_malformed()) {
    throw std::invalid_argument("multipart: the type of a part is not a media type");
  }
}

// RFC 2392 §2: the text between the angle brackets must fit in a `cid:` URL.
void check_content_id(std::string_view id) {
  for (const char c : id) {
    if (c <= ' ' || c > '~' || c == '<' || c == '>') {
      throw std::invalid_argument("multipart: a Content-ID must be visible ASCII without < and >");
    }
  }
}

}  // namespace

MultipartWriter::MultipartWriter(MultipartKind kind)
    : boundary_(http::Boundary::random().text()), end_("--" + boundary_ + "--\r\n"), kind_(kind) {}

void MultipartWriter::add(std::string_view name, std::optional<std::string_view> filename,
                          std::string_view type, std::unique_ptr<PartSource> source) {
  if (is_reading_) throw std::invalid_argument("multipart: cannot add a part after read()");
  if (!type.empty()) check_type(type);
  std::string head = (parts_.empty() ? "--" : "\r\n--") + boundary_ + "\r\n";
  if (kind_ == MultipartKind::FormData) {
    head.append("Content-Disposition: ").append(http::form_data_disposition(name, filename));
    head += "\r\n";
  }
  if (!type.empty()) head.append("Content-Type: ").append(type).append("\r\n");
  if (kind_ == MultipartKind::Related && !name.empty()) {
    check_content_id(name);
    head.append("Content-ID: <").append(name).append(">\r\n");
  }
  head += "\r\n";
  if (parts_.empty()) {
    root_type_ = type.substr(0, type.find_first_of("; \t"));
    end_.insert(0, "\r\n");
  }
  const auto length_bytes = source->length();
  parts_.push_back({std::move(head), std::move(source), length_bytes});
}

MultipartWriter& MultipartWriter::field(std::string_view name, std::string_view value) {
  add(name, std::nullopt, {}, http::make_text_source(std::string(value)));
  return *this;
}

Result<void> MultipartWriter::file(std::string_view name, const std::string& path,
                                   std::string_view type, std::string_view filename) {
  auto source = http::make_file_source(path);
  if (!source) return source.error();
  // npos + 1 is 0: a path without a folder.
  if (filename.empty()) filename = std::string_view(path).substr(disk::name_begin(path));
  add(name, filename, type, *std::move(source));
  return {};
}

MultipartWriter& MultipartWriter::memory(std::string_view name, std::string_view filename,
                                         std::string_view type, std::string text) {
  add(name, filename, type, http::make_text_source(std::move(text)));
  return *this;
}

MultipartWriter& MultipartWriter::part(std::string_view name, std::unique_ptr<PartSource> source,
                                       std::string_view type,
                                       std::optional<std::string_view> filename) {
  if (!source) throw std::invalid_argument("multipart: a part has no source");
  add(name, filename, type, std::move(source));
  return *this;
}

MultipartWriter& MultipartWriter::on_progress(Progress progress) {
  progress_ = std::move(progress);
  return *this;
}

std::string MultipartWriter::content_type() const {
  if (kind_ == MultipartKind::FormData) return "multipart/form-data; boundary=" + boundary_;
  // RFC 2387 §3.1: the type of the root, which is the first part.
  // RFC 2045 §5.2: the default is plain text.
  const std::string type = root_type_.empty() ? "text/plain" : root_type_;
  return "multipart/related; type=\"" + type + "\"; boundary=" + boundary_;
}

std::optional<std::uint64_t> MultipartWriter::length_bytes() const noexcept {
  std::uint64_t total = end_.size();
  for (const Part& part : parts_) {
    if (!part.length_bytes) return std::nullopt;
    total += part.head.size() + *part.length_bytes;
  }
  return total;
}

Result<std::size_t> MultipartWriter::read(std::span<char> into) {
  is_reading_ = true;
  std::size_t size = 0;
  while (failure_ && size < into.size()) {
    const auto some = read_some(into.subspan(size));
    if (!some)
      failure_ = some.error();
    else if (*some == 0)
      break;
    else
      size += *some;
  }
  if (!failure_) return failure_.error();
  done_bytes_ += size;
  if (progress_ && size != 0) progress_(done_bytes_, length_bytes());
  return size;
}

// Reads from the head or content of the current part, or from the end; returns 0 after that.
Result<std::size_t> MultipartWriter::read_some(std::span<char> into) {
  for (; part_ < parts_.size(); ++part_, text_bytes_ = 0, content_bytes_ = 0) {
    const std::string_view head = parts_[part_].head;
    if (text_bytes_ == head.size()) {
      const auto size = read_content(into);
      if (!size || *size != 0) return size;
      parts_[part_].source.reset();
      continue;
    }
    const std::size_t size = head.substr(text_bytes_).copy(into.data(), into.size());
    text_bytes_ += size;
    return size;
  }
  const std::size_t size =
      std::string_view(end_).substr(text_bytes_).copy(into.data(), into.size());
  text_bytes_ += size;
  return size;
}

Result<std::size_t> MultipartWriter::read_content(std::span<char> into) {
  const Part& part = parts_[part_];
  char more = 0;
  if (part.length_bytes) {
    const std::uint64_t left = *part.length_bytes - content_bytes_;
    // After the promised length, try one byte: the source must be at its end.
    into = left == 0 ? std::span(&more, 1) : into.first(std::min<std::uint64_t>(into.size(), left));
  }
  const auto size = part.source->read(into);
  if (!size) return size;
  content_bytes_ += *size;
  if (*size > into.size() || (part.length_bytes && content_bytes_ > *part.length_bytes)) {
    return Error(Errc::BodyTooLong, "multipart part");
  }
  if (part.length_bytes && *size == 0 && content_bytes_ != *part.length_bytes) {
    return Error(Errc::TruncatedBody, "multipart part");
  }
  return size;
}

}  // namespace skua
