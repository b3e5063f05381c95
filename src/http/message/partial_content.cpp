// SPDX-License-Identifier: MIT
// In: a 200, its content, and a Range field. Out: 206, 416, or the 200. The same code serves files
// and what handlers return; they differ only in where the bytes of a range come from.
#include "http/message/partial_content.hpp"

#include <span>
#include <utility>

#include "base/ascii.hpp"
#include "base/base_encoding.hpp"
#include "base/file_io.hpp"
#include "crypto/random.hpp"
#include "skua/literals.hpp"

namespace skua::http {
namespace {

// The parts are copied into one string, so this bounds the memory that one request can use.
constexpr std::uint64_t max_multipart_bytes = 256_KiB;

std::string_view slice(std::string_view text, ByteRange range) noexcept {
  return text.substr(static_cast<std::size_t>(range.first),
                     static_cast<std::size_t>(range.size_bytes()));
}

// The content of a response: any kind but a stream.
class BodySource final : public RangeSource {
 public:
  explicit BodySource(Body& body) noexcept : body_(body) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return body_.size_bytes(); }

  Body part(ByteRange range) override {
    switch (body_.kind()) {
      case Body::Kind::Shared: return SharedText{body_.shared()->owner, slice(body_.text(), range)};
      case Body::Kind::Static: return Body::borrowed(slice(body_.text(), range));
      case Body::Kind::File: {
        FileRange part = *body_.file();
        part.offset += range.first;
        part.size_bytes = range.size_bytes();
        return part;
      }
      default: return slice(body_.text(), range);
    }
  }

  [[nodiscard]] bool append(std::string& out, ByteRange range) const override {
    const FileRange* const file = body_.file();
    if (file == nullptr) {
      out.append(slice(body_.text(), range));
      return true;
    }
    const std::size_t begin = out.size();
    out.resize(begin + static_cast<std::size_t>(range.size_bytes()));
    const std::span<char> into = std::span(out).subspan(begin);
    return base::read_at(file->file, file->offset + range.first, into).value_or(0U) == into.size();
  }

 private:
  Body& body_;
};

// Formats multipart/byteranges with the parts in the requested order. RFC 9110 §14.6
std::optional<std::string> multipart(const RangeSource& source, std::span<const ByteRange> ranges,
                                     std::string_view type, std::string_view boundary) {
  std::string out;
  for (const ByteRange& range : ranges) {
    out.append("--").append(boundary);
    if (!type.empty()) out.append("\r\nContent-Type: ").append(type);
    out.append("\r\nContent-Range: ").append(content_range(range, source.size_bytes()));
    out.append("\r\n\r\n");
    if (!source.append(out, range)) return std::nullopt;
    out.append("\r\n");
  }
  out.append("--").append(boundary).append("--\r\n");
  return out;
}

// A weak tag names several contents. RFC 9110 §8.8.2.2: so does a date whose second is not over.
bool is_strong(const Validators& current, std::chrono::sys_seconds now) noexcept {
  if (const auto tag = parse_entity_tag(current.etag)) return !tag->weak;
  return current.modified && *current.modified < now;
}

bool allows_ranges(const Response& response) noexcept {
  const Body::Kind kind = response.content().kind();
  if (kind == Body::Kind::None || kind == Body::Kind::Stream) return false;
  const auto accepted = response.header("Accept-Ranges");
  if (accepted && !ascii::equals_ignoring_case(*accepted, "bytes")) return false;
  return !response.header("Content-Range");
}

}  // namespace

std::optional<std::string_view> find_range(const Head& request, const Validators& current,
                                           std::chrono::sys_seconds now) noexcept {
  if (!request.has(FieldName::Range) || request.method != Method::Get) return std::nullopt;
  std::optional<std::string_view> range;
  for (const FieldLine& line : request.fields) {
    if (line.name != FieldName::Range) continue;
    if (range) return std::nullopt;  // not a list field: two are invalid
    range = request.value(line);
  }
  if (!range_applies(request, current, now)) return std::nullopt;
  return range;
}

bool make_partial(Response& response, std::string_view field, RangeSource& source) {
  const std::uint64_t size_bytes = source.size_bytes();
  const RangeSet set = parse_ranges(field, size_bytes);
  if (set.kind() == RangeSet::Kind::Whole) return false;
  if (set.kind() == RangeSet::Kind::Unsatisfiable) {
    response = Response(Status::RangeNotSatisfiable);
    response.header("Content-Range", unsatisfied_range(size_bytes));
    return true;
  }
  const std::span<const ByteRange> ranges = set.ranges();
  if (ranges.size() == 1) {
    Body part = source.part(ranges[0]);
    response.status(Status::PartialContent);
    response.content() = std::move(part);
    response.header("Content-Range", content_range(ranges[0], size_bytes));
  } else {
    // Content-Encoding would be that of the multipart message, not of its parts.
    if (set.total_bytes() > max_multipart_bytes || response.header("Content-Encoding"))
      return false;
    // 128 random bits: no content contains them by chance, and no attacker can craft one that does.
    const Result<std::string> bits = crypto::random_bytes(16);
    if (!bits) return false;
    const std::string boundary = "skua-" + hex::encode(*bits);
    std::optional<std::string> text = multipart(source, ranges, response.content_type(), boundary);
    if (!text) return false;
    response.status(Status::PartialContent);
    response.body(*std::move(text), "multipart/byteranges; boundary=" + boundary);
  }
  response.header("Accept-Ranges", "bytes");
  return true;
}

void apply_range(const Head& request, const Validators& current, std::chrono::sys_seconds now,
                 Response& response) {
  if (!request.has(FieldName::Range) || !allows_ranges(response) || !is_strong(current, now)) {
    return;
  }
  const std::optional<std::string_view> range = find_range(request, current, now);
  if (!range) return;
  BodySource source(response.content());
  make_partial(response, *range, source);
}

}  // namespace skua::http
