// SPDX-License-Identifier: MIT
// In: coded content as it arrives. Out: the content. Each coding fills a buffer that the next one
// drains, so memory is bounded by the codings' windows and buffers, whatever the input.
#include "client/wire/decoding.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/ascii.hpp"
#include "skua/bytes.hpp"

namespace skua::client {
namespace {

using coding::Coding;
using coding::Decoder;

constexpr std::size_t buffer_bytes = 16_KiB;

// Servers also say `none`, which is registered nowhere. Other clients take it for what is meant.
bool is_identity(std::string_view name) noexcept {
  return ascii::equals_ignoring_case(name, "identity") || ascii::equals_ignoring_case(name, "none");
}

// RFC 9110 §8.4: #content-coding, in the order in which the codings were applied. Empty elements
// are ignored (§5.6.1.2).
Result<void> add_codings(std::string_view list, std::vector<Coding>& codings) {
  while (!list.empty()) {
    const std::string_view name = ascii::take_list_element(list);
    if (name.empty() || is_identity(name)) continue;
    if (!ascii::is_token_text(name)) return Error(Errc::MalformedField, "Content-Encoding");
    const std::optional<Coding> coding = coding::find_coding(name);
    if (!coding) return Error(Errc::Unsupported, "content coding");
    if (codings.size() == max_codings) return Error(Errc::Unsupported, "too many content codings");
    codings.push_back(*coding);
  }
  return {};
}

std::size_t copy(std::string_view& input, std::span<char> room) noexcept {
  const std::size_t size = input.copy(room.data(), room.size());
  input.remove_prefix(size);
  return size;
}

}  // namespace

std::string accepted_codings() {
  std::string list;
  for (const Coding coding : {Coding::Zstd, Coding::Brotli, Coding::Gzip}) {
    if (!coding::is_available(coding)) continue;
    list.append(list.empty() ? "" : ", ").append(coding::name(coding));
  }
  return list;
}

Result<ContentDecoder> ContentDecoder::create(const http::Head& head, coding::DecodeLimits limits) {
  std::vector<Coding> codings;
  for (const http::FieldLine& line : head.fields) {
    if (line.name != http::FieldName::ContentEncoding) continue;
    const Result<void> added = add_codings(head.value(line), codings);
    if (!added) return added.error();
  }
  return create(codings, limits);
}

Result<ContentDecoder> ContentDecoder::create(std::string_view codings,
                                              coding::DecodeLimits limits) {
  std::vector<Coding> found;
  const Result<void> added = add_codings(codings, found);
  if (!added) return added.error();
  return create(found, limits);
}

Result<ContentDecoder> ContentDecoder::create(const std::vector<Coding>& codings,
                                              coding::DecodeLimits limits) {
  std::vector<Stage> stages;
  for (auto coding = codings.rbegin(); coding != codings.rend(); ++coding) {
    Result<coding::Decoder> decoder =
        coding::Decoder::create(*coding, limits, coding::RawDeflate::Taken);
    if (!decoder) return decoder.error();
    // The first stage reads the input in place.
    stages.push_back({.decoder = *std::move(decoder),
                      .buffer = std::vector<char>(stages.empty() ? 0 : buffer_bytes)});
  }
  return ContentDecoder(std::move(stages), limits);
}

Result<std::size_t> ContentDecoder::read(std::string_view& input, std::span<char> room) noexcept {
  SKUA_ASSERT(!room.empty());
  if (error_.code() != Errc::None) return error_;
  if (is_identity()) return copy(input, room);
  const std::size_t before = input.size();
  const Result<std::size_t> made = pull(input, room);
  taken_bytes_ += before - input.size();
  if (!made) {
    error_ = made.error();
    return error_;
  }
  made_bytes_ += *made;
  if (!limits_.is_within_ratio(taken_bytes_, made_bytes_)) {
    error_ = Error(Errc::BodyTooLong, "content coding: the ratio");
    return error_;
  }
  return made;
}

// Asks the innermost coding, and the one around it if that has nothing left to decode.
Result<std::size_t> ContentDecoder::pull(std::string_view& input, std::span<char> room) noexcept {
  const std::size_t last = stages_.size() - 1;
  for (std::size_t at = last;;) {
    Stage& stage = stages_[at];
    std::string_view& source = at == 0 ? input : stage.pending;
    const std::span<char> target = at == last ? room : std::span<char>(stages_[at + 1].buffer);
    const Result<std::size_t> made = stage.decoder.read(source, target);
    if (!made) return made;
    if (*made == 0) {
      if (at == 0) return made;
      --at;
    } else if (at == last) {
      return made;
    } else {
      stages_[++at].pending = {target.data(), *made};
    }
  }
}

Result<void> ContentDecoder::finish() const noexcept {
  if (error_.code() != Errc::None) return error_;
  if (taken_bytes_ == 0) return {};
  for (const Stage& stage : stages_) {
    if (const Result<void> end = stage.decoder.finish(); !end) return end;
  }
  return {};
}

}  // namespace skua::client
