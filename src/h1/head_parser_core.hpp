// SPDX-License-Identifier: MIT
// The head parser, included once by the source file of each instruction set, inside its region of
// compiler options and with SKUA_ISA naming it, so that all scanners are inlined. No include guard.
//
// Each step reads bytes in order, returns Complete to continue, and stops at the first invalid
// byte, so the outcome cannot depend on how the bytes were split. For the same reason, limits are
// checked before the byte after them.

namespace skua::h1::SKUA_ISA {
namespace {

namespace kernel = scan::SKUA_ISA;
using enum HeadState;

constexpr auto longest_method = static_cast<std::ptrdiff_t>(http::longest_method);

struct Input {
  const char* base;
  const char* p;
  const char* end;
  [[nodiscard]] std::ptrdiff_t left() const noexcept { return end - p; }
  [[nodiscard]] std::uint32_t offset(const char* at) const noexcept {
    return static_cast<std::uint32_t>(at - base);
  }
};

inline ParseStatus pause(HeadParse& s, HeadState state, const Input& in) noexcept {
  s.state = state;
  s.position = in.offset(in.p);
  return ParseStatus::NeedMore;
}

inline ParseStatus fail(HeadParse& s, Errc error) noexcept {
  s.state = Broken;
  s.error = error;
  return ParseStatus::Failed;
}

/// RFC 9112 §2.2: a server should ignore at least one empty line before a request. Some clients
/// send two, so all are ignored; they count toward the limit and the timeout of the head.
inline ParseStatus leading_crlf(HeadParse& s, Input& in) noexcept {
  for (;; ++in.p) {
    if (in.left() == 0) return pause(s, s.state, in);
    if (s.state == StartLf) {
      if (*in.p != '\n') return fail(s, Errc::MalformedStartLine);
      s.state = Start;
    } else if (*in.p == '\r') {
      s.state = StartLf;
    } else {
      return ParseStatus::Complete;
    }
  }
}

inline ParseStatus method(HeadParse& s, Input& in) noexcept {
  const char* const begin = in.base + s.part_begin;
  if (in.p == begin && in.left() >= 4 && std::memcmp(in.p, "GET ", 4) == 0) {
    s.head.method = Method::Get;
    in.p += 4;
    return ParseStatus::Complete;
  }
  in.p = kernel::token_end(in.base, in.p, in.end);
  if (in.p - begin > longest_method) return fail(s, Errc::UnknownMethod);  // RFC 9112 §3
  if (in.left() == 0) return pause(s, MethodName, in);
  if (in.p == begin || *in.p != ' ') return fail(s, Errc::MalformedStartLine);
  const std::string_view token(begin, static_cast<std::size_t>(in.p - begin));
  const std::optional<Method> known = parse_method(token);
  s.head.method = known.value_or(Method::Other);
  if (!known) {
    s.head.method_bytes = static_cast<std::uint8_t>(token.size());
    s.unknown_method = !http::may_be_other_method(token);
  }
  ++in.p;
  return ParseStatus::Complete;
}

/// Reports whether a byte that paths do not allow is inside a query and allowed there.
inline bool is_in_query(HeadParse& s, const char* begin, const char* p) noexcept {
  if (!ascii::is(*p, ascii::QueryTarget)) return false;
  // The search runs once: if it finds no '?', the target is rejected.
  if (!s.in_query) {
    s.in_query = std::memchr(begin, '?', static_cast<std::size_t>(p - begin)) != nullptr;
  }
  return s.in_query;
}

inline ParseStatus target(HeadParse& s, Input& in) noexcept {
  const char* const begin = in.base + s.part_begin;
  for (;; ++in.p) {
    in.p = kernel::target_end(in.base, in.p, in.end);
    if (static_cast<std::size_t>(in.p - begin) > s.limits.target_bytes) {
      return fail(s, Errc::TargetTooLong);
    }
    if (in.left() == 0) return pause(s, Target, in);
    if (*in.p == ' ') break;
    if (is_in_query(s, begin, in.p)) continue;
    const bool ends_line = *in.p == '\r' || *in.p == '\n' || *in.p == '\t';
    return fail(s, ends_line ? Errc::MalformedStartLine : Errc::MalformedTarget);
  }
  if (in.p == begin) return fail(s, Errc::MalformedStartLine);  // two spaces
  s.head.target_begin = s.part_begin;
  s.head.target_bytes = static_cast<std::uint16_t>(in.p - begin);
  ++in.p;
  return ParseStatus::Complete;
}

/// Returns how many bytes at p match `HTTP/d.d`, at most 8; -1 if one does not.
[[gnu::always_inline]] inline std::ptrdiff_t match_version(const char* p,
                                                           std::ptrdiff_t left) noexcept {
  constexpr std::string_view pattern = "HTTP/d.d";
  std::ptrdiff_t i = 0;
  for (; i < 8 && i < left; ++i) {
    const char wanted = pattern[static_cast<std::size_t>(i)];
    if (wanted == 'd' ? !ascii::is_digit(p[i]) : p[i] != wanted) return -1;
  }
  return i;
}

/// RFC 9110 §2.5: a higher minor version is processed as the highest that we support.
inline std::uint8_t minor_version(char digit) noexcept { return digit == '0' ? 0 : 1; }

/// Parses the version of a request and the end of its line. Rereads their ten bytes if they arrive
/// in pieces.
inline ParseStatus version_bytewise(HeadParse& s, Input& in) noexcept {
  const char* const p = in.p;
  if (match_version(p, in.left()) < 0 || (in.left() > 8 && p[8] != '\r') ||
      (in.left() > 9 && p[9] != '\n')) {
    return fail(s, Errc::MalformedStartLine);
  }
  if (in.left() < 10) return pause(s, Version, in);
  if (p[5] != '1') return fail(s, Errc::UnsupportedVersion);
  s.head.minor_version = minor_version(p[7]);
  in.p += 10;
  return ParseStatus::Complete;
}

inline ParseStatus version(HeadParse& s, Input& in) noexcept {
  if (in.left() >= 10 && std::memcmp(in.p, "HTTP/1.1\r\n", 10) == 0) {
    s.head.minor_version = 1;
    in.p += 10;
  } else if (const ParseStatus status = version_bytewise(s, in); status != ParseStatus::Complete) {
    return status;
  }
  if (s.unknown_method) return fail(s, Errc::UnknownMethod);
  return ParseStatus::Complete;
}

/// Parses `HTTP/1.1 200` and the space after it. RFC 9112 §4 requires the space even without a
/// reason phrase; many servers omit both, which is harmless.
inline ParseStatus status_line(HeadParse& s, Input& in) noexcept {
  const char* const p = in.p;
  const std::ptrdiff_t left = in.left();
  if (match_version(p, left) < 0) return fail(s, Errc::MalformedStartLine);
  if (left > 8 && p[8] != ' ') return fail(s, Errc::MalformedStartLine);
  for (std::ptrdiff_t i = 9; i < 12 && i < left; ++i) {
    if (!ascii::is_digit(p[i])) return fail(s, Errc::MalformedStartLine);
  }
  if (left > 12 && p[12] != ' ' && p[12] != '\r') return fail(s, Errc::MalformedStartLine);
  if (left < 13) return pause(s, StatusLine, in);
  if (p[5] != '1') return fail(s, Errc::UnsupportedVersion);
  const int status = (p[9] - '0') * 100 + (p[10] - '0') * 10 + (p[11] - '0');
  if (status < 100) return fail(s, Errc::MalformedStartLine);
  s.head.minor_version = minor_version(p[7]);
  s.head.status = static_cast<std::uint16_t>(status);
  in.p += p[12] == ' ' ? 13 : 12;
  s.part_begin = in.offset(in.p);
  return ParseStatus::Complete;
}

inline ParseStatus reason_phrase(HeadParse& s, Input& in) noexcept {
  const char* const begin = in.base + s.part_begin;
  if (s.state != ReasonLf) {
    in.p = kernel::field_value_end(in.base, in.p, in.end);
    if (static_cast<std::size_t>(in.p - begin) > s.limits.target_bytes) {
      return fail(s, Errc::HeadTooLong);
    }
    if (in.left() == 0) return pause(s, Reason, in);
    if (*in.p != '\r') return fail(s, Errc::MalformedStartLine);
  }
  if (in.left() < 2) return pause(s, ReasonLf, in);
  if (in.p[1] != '\n') return fail(s, Errc::MalformedStartLine);
  s.head.target_begin = s.part_begin;
  s.head.target_bytes = static_cast<std::uint16_t>(in.p - begin);
  in.p += 2;
  return ParseStatus::Complete;
}

/// Looks up the name [begin, end), which is a token; `floor` is the first readable byte.
inline http::FieldName find_name(const char* floor, const char* begin, const char* end) noexcept {
  const auto size = static_cast<std::size_t>(end - begin);
  if (size >= 8) {
    if (size > http::lookup::longest_bytes) return http::FieldName::Other;
    return http::lookup::find(begin, size, http::lookup::load(begin));
  }
  if (end - floor < 8) [[unlikely]]
    return http::find_field_name({begin, size});
  // Loads the eight bytes that end with the name and shifts out those before it.
  return http::lookup::find(begin, size, http::lookup::load(end - 8) >> (8 * (8 - size)));
}

/// Parses the CRLF that ends the head.
inline ParseStatus empty_line(HeadParse& s, Input& in) noexcept {
  if (in.left() < 2) return pause(s, EndLf, in);
  if (in.p[1] != '\n') return fail(s, Errc::MalformedField);
  in.p += 2;
  s.state = Done;
  s.position = in.offset(in.p);
  s.head.base = in.base;
  s.head.fields = s.storage.first(s.count);
  s.head.size_bytes = s.position;
  return ParseStatus::Complete;
}

/// Parses field lines. Keeps the state that changes with every line in members of its own, and
/// stores it back to the HeadParse when it stops.
class FieldLines {
 public:
  FieldLines(HeadParse& s, const Input& in) noexcept
      : s_(s),
        in_(in),
        line_(in.base + s.line_begin),
        value_(in.base + s.part_begin),
        name_bytes_(s.name_bytes),
        next_(s.storage.data() + s.count),
        cost_(s.cost),
        known_(s.head.known) {}

  /// Parses up to the empty line. RFC 9112 §5: no white space before the colon, no line folding (a
  /// line that begins with white space has no token as its name), and only CRLF ends a line.
  ParseStatus parse(HeadState state) noexcept {
    for (;; state = Line) {
      switch (state) {
        [[likely]] case Line:
          if (in_.left() == 0) return stop(Line);
          if (*in_.p == '\r') return end();
          line_ = in_.p;
          [[fallthrough]];
        case Name:
          in_.p = kernel::token_end(in_.base, in_.p, in_.end);
          if (in_.left() == 0) return stop_in_line(Name);
          if (*in_.p != ':' || in_.p == line_) return fail_line();
          name_bytes_ = static_cast<std::uint32_t>(in_.p - line_);
          ++in_.p;
          [[fallthrough]];
        case ValueBegin:
          skip_white_space();
          if (in_.left() == 0) return stop_in_line(ValueBegin);
          value_ = in_.p;
          [[fallthrough]];
        case Value:
          in_.p = kernel::field_value_end(in_.base, in_.p, in_.end);
          if (in_.left() == 0) return stop_in_line(Value);
          if (*in_.p != '\r') return fail_line();
          if (is_too_long()) return fail(s_, Errc::FieldTooLong);
          [[fallthrough]];
        case ValueLf:
          if (in_.left() < 2) return stop_in_line(ValueLf);
          if (in_.p[1] != '\n') return fail(s_, Errc::MalformedField);
          if (!keep()) return fail(s_, Errc::TooManyFields);
          in_.p += 2;
          break;
        case EndLf: return empty_line(s_, in_);
        default: return s_.state == Done ? ParseStatus::Complete : ParseStatus::Failed;
      }
    }
  }

 private:
  [[nodiscard]] bool is_too_long() const noexcept {
    return static_cast<std::size_t>(in_.p - line_) > s_.limits.field_line_bytes;
  }

  void skip_white_space() noexcept {
    // Nearly all lines have one space before the value.
    if (in_.left() >= 2 && in_.p[0] == ' ' && in_.p[1] > ' ') {
      ++in_.p;
    } else {
      while (in_.left() != 0 && ascii::is_ows(*in_.p)) ++in_.p;
    }
  }

  /// Stores the line whose value ends at in_.p. Returns false if there are too many.
  bool keep() noexcept {
    const char* end = in_.p;
    const http::FieldName name = find_name(in_.base, line_, line_ + name_bytes_);
    cost_ += 1;
    if (name == http::FieldName::Cookie) cost_ += kernel::count(in_.base, value_, end, ';');
    if (cost_ > s_.limits.fields) return false;
    // The byte before the end belongs to the value, or is the colon or white space before it.
    if (end[-1] <= ' ') {
      while (end != value_ && ascii::is_ows(end[-1])) --end;
    }
    next_->name_begin = in_.offset(line_);
    next_->value_begin = in_.offset(value_);
    next_->name_bytes = static_cast<std::uint16_t>(name_bytes_);
    next_->value_bytes = static_cast<std::uint16_t>(end - value_);
    next_->name = name;
    ++next_;
    known_ |= std::uint64_t{1} << static_cast<unsigned>(name);
    return true;
  }

  [[gnu::always_inline]] void hand_back() noexcept {
    s_.count = static_cast<std::uint32_t>(next_ - s_.storage.data());
    s_.cost = cost_;
    s_.head.known = known_;
  }
  ParseStatus end() noexcept {
    hand_back();
    return empty_line(s_, in_);
  }
  ParseStatus stop(HeadState at) noexcept {
    hand_back();
    s_.line_begin = in_.offset(line_);
    s_.part_begin = in_.offset(value_);
    s_.name_bytes = name_bytes_;
    return pause(s_, at, in_);
  }
  ParseStatus stop_in_line(HeadState at) noexcept {
    return is_too_long() ? fail(s_, Errc::FieldTooLong) : stop(at);
  }
  ParseStatus fail_line() noexcept {
    return fail(s_, is_too_long() ? Errc::FieldTooLong : Errc::MalformedField);
  }

  HeadParse& s_;
  Input in_;
  const char* line_;
  const char* value_;
  std::uint32_t name_bytes_;
  http::FieldLine* next_;
  std::uint32_t cost_;
  std::uint64_t known_;
};

}  // namespace

// Defined once per namespace.
// NOLINTNEXTLINE(misc-definitions-in-headers)
ParseStatus run(HeadParse& s, std::string_view received) noexcept {
  Input in{received.data(), received.data() + s.position, received.data() + received.size()};
  constexpr ParseStatus go_on = ParseStatus::Complete;
  ParseStatus status = go_on;
  HeadState state = s.state;
  switch (state) {
    case Start:
    case StartLf:
      if (status = leading_crlf(s, in); status != go_on) return status;
      s.part_begin = in.offset(in.p);
      [[fallthrough]];
    case MethodName:
      if (status = method(s, in); status != go_on) return status;
      s.part_begin = in.offset(in.p);
      [[fallthrough]];
    case Target:
      if (status = target(s, in); status != go_on) return status;
      [[fallthrough]];
    case Version:
      if (status = version(s, in); status != go_on) return status;
      state = Line;
      break;
    case StatusLine:
      if (status = status_line(s, in); status != go_on) return status;
      [[fallthrough]];
    case Reason:
    case ReasonLf:
      if (status = reason_phrase(s, in); status != go_on) return status;
      state = Line;
      break;
    default: break;
  }
  return FieldLines(s, in).parse(state);
}

}  // namespace skua::h1::SKUA_ISA
