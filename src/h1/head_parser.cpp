// SPDX-License-Identifier: MIT
// In: received bytes. Out: a head, as offsets into them. Holds the code shared by all instruction
// sets; the parser itself is in head_parser_core.hpp.
#include "h1/head_parser.hpp"

#include "base/scan/scan.hpp"
#include "h1/head_parser_run.hpp"

namespace skua::h1 {
namespace {

// Sizes of names, values and targets have 16 bits, offsets 32.
constexpr std::size_t longest_part = 0xffff;
constexpr std::size_t longest_head = std::size_t{1} << 30;

constexpr HeadState first_state(HeadKind kind) noexcept {
  switch (kind) {
    case HeadKind::Request: return HeadState::Start;
    case HeadKind::Response: return HeadState::StatusLine;
    case HeadKind::Trailers: return HeadState::Line;
  }
  return HeadState::Broken;
}

HeadLimits clamp(HeadLimits limits, std::size_t storage_size) noexcept {
  limits.target_bytes = std::min(limits.target_bytes, longest_part);
  limits.field_line_bytes = std::min(limits.field_line_bytes, longest_part);
  limits.head_bytes = std::min(limits.head_bytes, longest_head);
  limits.fields = static_cast<std::uint16_t>(std::min<std::size_t>(limits.fields, storage_size));
  return limits;
}

}  // namespace

HeadParse::HeadParse(HeadKind wanted, const HeadLimits& given,
                     std::span<http::FieldLine> lines) noexcept
    : state(first_state(wanted)),
      first(first_state(wanted)),
      kind(wanted),
      storage(lines),
      limits(clamp(given, lines.size())) {}

HeadParser::HeadParser(HeadKind kind, const HeadLimits& limits,
                       std::span<http::FieldLine> storage) noexcept
    : HeadParser(kind, limits, storage, scan::best_isa()) {}

HeadParser::HeadParser(HeadKind kind, const HeadLimits& limits, std::span<http::FieldLine> storage,
                       scan::Isa isa) noexcept
    : parse_(kind, limits, storage), run_(portable::run) {
  switch (isa) {
#if defined(__x86_64__)
    case scan::Isa::Sse42: run_ = sse42::run; break;
    case scan::Isa::Avx2: run_ = avx2::run; break;
#elif defined(__aarch64__)
    case scan::Isa::Neon: run_ = neon::run; break;
#endif
    default: break;
  }
}

void HeadParser::reset() noexcept {
  HeadParse& s = parse_;
  s.state = s.first;
  s.position = s.part_begin = s.line_begin = s.cost = s.count = 0;
  s.error = Errc::None;
  s.in_query = s.unknown_method = false;
  s.head.known = 0;
  s.head.fields = {};
}

ParseStatus HeadParser::parse(std::string_view received) noexcept {
  const std::size_t limit = parse_.limits.head_bytes;
  if (received.size() <= limit) return run_(parse_, received);
  const ParseStatus status = run_(parse_, received.substr(0, limit));
  if (status != ParseStatus::NeedMore) return status;
  parse_.state = HeadState::Broken;
  parse_.error = Errc::HeadTooLong;
  return ParseStatus::Failed;
}

void HeadParser::continue_from(const HeadParser& other) noexcept {
  const std::span<http::FieldLine> storage = parse_.storage;
  const HeadLimits limits = parse_.limits;
  SKUA_ASSERT(other.parse_.count <= storage.size());
  std::copy_n(other.parse_.storage.begin(), other.parse_.count, storage.begin());
  parse_ = other.parse_;
  parse_.storage = storage;
  parse_.limits = limits;
  if (parse_.state == HeadState::Done) parse_.head.fields = storage.first(parse_.count);
}

}  // namespace skua::h1
