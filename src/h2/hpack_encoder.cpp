// SPDX-License-Identifier: MIT
// In: fields. Out: bytes of header blocks. Entries of the dynamic table are found by tag: each
// known name and each pseudo-header field has its own tag, all other names share a few. The entries
// with a tag form a list, latest first, so that values sent earlier are found:
//
//   latest_[tag] -> entry -> its link -> older entry -> ... -> an evicted one
//
// Entry numbers have 16 bits, so one that was evicted long ago may look like a current one. Hence
// every match is compared, and only a few steps are taken.
#include "h2/hpack_encoder.hpp"

#include <algorithm>

#include "h2/hpack_table.hpp"
#include "h2/huffman.hpp"
#include "h2/short_text.hpp"
#include "http/message/field_lookup.hpp"

namespace skua::h2 {
namespace {

using http::FieldName;

// HpackTable::Entry::facts: a tag, and the number of the previous entry with that tag.
constexpr unsigned link_shift = 16;
// Entry numbers have 16 bits; the table never has that many entries.
constexpr std::uint32_t number_mask = 0xffff;
constexpr std::uint32_t max_table = 1U << 20U;
static_assert(max_table / entry_charge <= number_mask);
constexpr unsigned max_steps = 8;
constexpr std::size_t longest_name = 128;  // longer names are never indexed
constexpr std::size_t short_cookie_bytes = 20;
constexpr std::size_t small_literal = 256;
/// Shorter texts would save at most one octet, which is not worth the time.
constexpr std::size_t min_coded_bytes = 6;
/// Room besides the texts: three numbers of up to eleven octets, and bytes that are overwritten.
constexpr std::size_t literal_overhead = 48;

constexpr unsigned pseudo_tags = 54;
constexpr unsigned other_tags = 64;
constexpr unsigned other_tag_count = 16;
static_assert(http::lookup::name_count < pseudo_tags);

constexpr unsigned indexed = 0x80;
constexpr unsigned size_update = 0x20;

/// Whether a field is worth a table entry. RFC 7541 §7.1.3
enum class Worth : std::uint8_t { Entry, NoEntry, Secret, SecretIfShort };

constexpr Worth worth_of(FieldName name) noexcept {
  switch (name) {
    // Values that rarely repeat.
    case FieldName::Age:
    case FieldName::ContentLength:
    case FieldName::ContentRange:
    case FieldName::Etag:
    case FieldName::IfMatch:
    case FieldName::IfModifiedSince:
    case FieldName::IfNoneMatch:
    case FieldName::IfRange:
    case FieldName::IfUnmodifiedSince:
    case FieldName::LastModified:
    case FieldName::Location:
    case FieldName::Range:
    case FieldName::SecWebSocketKey:
    case FieldName::SetCookie:
    case FieldName::XRequestId: return Worth::NoEntry;
    case FieldName::Authorization:
    case FieldName::ProxyAuthorization: return Worth::Secret;
    case FieldName::Cookie: return Worth::SecretIfShort;
    default: return Worth::Entry;
  }
}

/// Writes a number after the bits of its kind, which are in `first`. RFC 7541 §5.1
char* write_number(char* out, unsigned first, unsigned bits, std::uint64_t number) noexcept {
  const std::uint64_t most = (1U << bits) - 1;
  if (number < most) {
    *out++ = static_cast<char>(first | number);
    return out;
  }
  *out++ = static_cast<char>(first | most);
  for (number -= most; number >= 0x80; number >>= 7U) {
    *out++ = static_cast<char>(0x80U | (number & 0x7fU));
  }
  *out++ = static_cast<char>(number);
  return out;
}

/// RFC 7541 §5.2
char* write_text(char* out, std::string_view text) noexcept {
  constexpr std::size_t one_octet = 0x7f;  // smaller lengths take one
  if (text.size() < min_coded_bytes) {
    *out++ = static_cast<char>(text.size());
    for (const char c : text) *out++ = c;
    return out;
  }
  if (text.size() <= one_octet) {
    char* const end = huffman_write_shorter(text, out + 1);
    if (end != nullptr) {
      *out = static_cast<char>(0x80 | (end - out - 1));
      return end;
    }
  } else {
    const std::size_t size = huffman_size(text);
    if (size < text.size()) return huffman_write_shorter(text, write_number(out, 0x80, 7, size));
  }
  out = write_number(out, 0, 7, text.size());
  return std::copy_n(text.data(), text.size(), out);
}

[[gnu::noinline]] void append_number(std::string& out, unsigned first, unsigned bits,
                                     std::uint32_t number) {
  char bytes[literal_overhead];
  const char* const end = write_number(bytes, first, bits, number);
  out.append(bytes, static_cast<std::size_t>(end - bytes));
}

// Not inlined: the growth path of std::string would make callers save registers.
[[gnu::noinline]] void append_index(std::string& out, std::uint32_t index) {
  if (index >= 0x7f) return append_number(out, indexed, 7, index);
  out.push_back(static_cast<char>(indexed | index));
}

struct Kind {
  unsigned first;
  unsigned bits;
};

/// RFC 7541 §6.2
constexpr Kind kind_of(Indexing indexing) noexcept {
  switch (indexing) {
    case Indexing::Auto: return {0x40, 6};
    case Indexing::Without: return {0x00, 4};
    case Indexing::Never: return {0x10, 4};
  }
  return {};
}

unsigned tag_of(const HpackTable::Entry& entry) noexcept { return entry.facts & 0xffffU; }

/// Returns the static index of a status, or 0.
constexpr std::uint32_t find_status(std::uint16_t status) noexcept {
  switch (status) {
    case 200: return 8;
    case 204: return 9;
    case 206: return 10;
    case 304: return 11;
    case 400: return 12;
    case 404: return 13;
    case 500: return 14;
    default: return 0;
  }
}

/// Static entries whose names are neither a FieldName nor a pseudo-header field.
constexpr auto other_static = [] {
  std::array<std::uint8_t, 10> indexes{};
  std::size_t count = 0;
  for (std::uint8_t i = 1; i <= static_table::count; ++i) {
    const DecodedField& field = static_table::fields[i];
    if (field.known == FieldName::Other && field.pseudo == Pseudo::None) indexes.at(count++) = i;
  }
  if (count != indexes.size()) throw "not that many";
  return indexes;
}();

std::uint8_t find_other_static(std::string_view name) noexcept {
  for (const std::uint8_t index : other_static) {
    if (static_table::fields[index].name == name) return index;
  }
  return 0;
}

std::uint8_t tag_of(std::string_view name) noexcept {
  const auto first = static_cast<unsigned char>(name.empty() ? '\0' : name.front());
  const auto last = static_cast<unsigned char>(name.empty() ? '\0' : name.back());
  const std::size_t mixed = name.size() * 5 + first * 3U + last;
  return static_cast<std::uint8_t>(other_tags + mixed % other_tag_count);
}

}  // namespace

/// A name and its position in both tables.
struct HpackEncoder::Name {
  std::string_view text{};
  std::uint8_t tag = 0;
  std::uint8_t static_first = 0;  ///< index of its first static entry, or 0
  std::uint8_t static_last = 0;   ///< and of its last
  Worth worth = Worth::Entry;

  static constexpr Name make(std::string_view text, std::size_t tag, Worth worth) {
    Name name{.text = text, .tag = static_cast<std::uint8_t>(tag), .worth = worth};
    for (std::uint8_t i = static_table::count; i != 0; --i) {
      if (static_table::lines[i - 1].name != text) continue;
      name.static_first = i;
      if (name.static_last == 0) name.static_last = i;
    }
    return name;
  }

  /// Returns the static entry with this name and value, or 0.
  [[nodiscard]] std::uint32_t find_static(std::string_view value) const noexcept {
    if (static_first == 0) return 0;
    for (std::uint32_t i = static_first; i <= static_last; ++i) {
      if (short_text::is_same(static_table::fields[i].value, value)) return i;
    }
    return 0;
  }
};

constexpr std::array<HpackEncoder::Name, 64> HpackEncoder::known_names = [] {
  std::array<Name, 64> names{};
  for (std::size_t i = 1; i <= http::lookup::name_count; ++i) {
    names[i] = Name::make(http::lookup::names[i - 1], i, worth_of(static_cast<FieldName>(i)));
  }
  return names;
}();

constexpr std::array<HpackEncoder::Name, 8> HpackEncoder::pseudo_names = [] {
  std::array<Name, 8> names{};
  const auto set = [&names](Pseudo which, std::string_view text, Worth worth) {
    const auto number = static_cast<unsigned>(which);
    names[number] = Name::make(text, pseudo_tags + number, worth);
  };
  set(Pseudo::Method, ":method", Worth::Entry);
  set(Pseudo::Scheme, ":scheme", Worth::Entry);
  set(Pseudo::Authority, ":authority", Worth::Entry);
  set(Pseudo::Path, ":path", Worth::NoEntry);
  set(Pseudo::Status, ":status", Worth::NoEntry);
  set(Pseudo::Protocol, ":protocol", Worth::Entry);
  return names;
}();

HpackEncoder::HpackEncoder(std::uint32_t max_table_bytes) noexcept
    : table_(std::min(max_table_bytes, default_table_bytes)),
      max_bytes_(std::min(max_table_bytes, max_table)),
      next_bytes_(table_.limit_bytes()),
      smallest_bytes_(table_.limit_bytes()),
      has_update_(table_.limit_bytes() != default_table_bytes) {}

void HpackEncoder::set_peer_table_bytes(std::uint32_t bytes) noexcept {
  next_bytes_ = std::min(bytes, max_bytes_);
  smallest_bytes_ = std::min(smallest_bytes_, next_bytes_);
  if (next_bytes_ != table_.limit_bytes() || smallest_bytes_ < table_.limit_bytes())
    has_update_ = true;
}

void HpackEncoder::start(std::string& out) {
  if (!has_update_) return;
  if (smallest_bytes_ < std::min(next_bytes_, table_.limit_bytes())) {
    append_number(out, size_update, 5, smallest_bytes_);
    table_.set_limit(smallest_bytes_);
  }
  append_number(out, size_update, 5, next_bytes_);
  table_.set_limit(next_bytes_);
  smallest_bytes_ = next_bytes_;
  has_update_ = false;
}

/// Returns the index of the latest entry of a tag with one name, if it has this value, or 0.
inline std::uint32_t HpackEncoder::find_latest(unsigned tag,
                                               std::string_view value) const noexcept {
  const std::uint32_t age = (table_.added() - latest_[tag]) & number_mask;
  if (age >= table_.count()) return 0;
  const HpackTable::Entry& entry = table_.entry(age);
  if (tag_of(entry) != tag || !short_text::is_same(table_.value(entry), value)) return 0;
  return static_table::count + 1 + age;
}

void HpackEncoder::add(std::string& out, FieldName known, std::string_view name,
                       std::string_view value, Indexing indexing) {
  if (known == FieldName::Other) return add_other(out, name, value, indexing);
  const auto tag = static_cast<unsigned>(known);
  if (indexing == Indexing::Auto) {
    const std::uint32_t index = find_latest(tag, value);
    if (index != 0) return append_index(out, index);
  }
  add_known(out, known_names[tag], value, indexing);
}

void HpackEncoder::add_pseudo(std::string& out, Pseudo which, std::string_view value) {
  SKUA_ASSERT(which != Pseudo::None && which != Pseudo::Unknown);
  const Name& name = pseudo_names[static_cast<unsigned>(which)];
  std::uint32_t index = name.find_static(value);
  if (index == 0) index = find_latest(name.tag, value);
  if (index != 0) return append_index(out, index);
  add_known(out, name, value, Indexing::Auto);
}

void HpackEncoder::add_status(std::string& out, std::uint16_t status) {
  SKUA_ASSERT(status >= 100 && status <= 999);
  const std::uint32_t index = find_status(status);
  if (index != 0) return append_index(out, index);
  const char digits[3] = {static_cast<char>('0' + status / 100),
                          static_cast<char>('0' + status / 10 % 10),
                          static_cast<char>('0' + status % 10)};
  const Name& name = pseudo_names[static_cast<unsigned>(Pseudo::Status)];
  add_literal(out, name, name.static_first, {digits, 3}, Indexing::Without);
}

/// Adds a field that differs from the latest entry of its name.
[[gnu::noinline]] void HpackEncoder::add_known(std::string& out, const Name& name,
                                               std::string_view value, Indexing indexing) {
  const bool may_be_there = name.worth == Worth::Entry || name.worth == Worth::SecretIfShort;
  if (indexing == Indexing::Auto && may_be_there) {
    const std::uint32_t index = find(name.tag, value);
    if (index != 0) return append_index(out, index);
  }
  add_unseen(out, name, name.static_first, value, indexing);
}

[[gnu::noinline]] void HpackEncoder::add_other(std::string& out, std::string_view name,
                                               std::string_view value, Indexing indexing) {
  char shorter[longest_name];
  std::string longer;
  char* lower = shorter;
  if (name.size() > longest_name) {
    longer.resize(name.size());
    lower = longer.data();
    if (indexing == Indexing::Auto) indexing = Indexing::Without;
  }
  short_text::to_lower(name, lower);
  Name found{.text = {lower, name.size()}};
  found.tag = tag_of(found.text);
  std::uint32_t name_index = 0;
  const std::uint32_t index = find_other(found, value, name_index);
  if (index != 0 && indexing != Indexing::Never) return append_index(out, index);
  found.static_first = found.static_last = find_other_static(found.text);
  if (found.static_first != 0) name_index = found.static_first;
  add_unseen(out, found, name_index, value, indexing);
}

/// Adds a field that is not in the dynamic table, or that must not be looked up there.
void HpackEncoder::add_unseen(std::string& out, const Name& name, std::uint32_t name_index,
                              std::string_view value, Indexing indexing) {
  if (indexing == Indexing::Auto) {
    const bool is_secret = name.worth == Worth::Secret || (name.worth == Worth::SecretIfShort &&
                                                           value.size() < short_cookie_bytes);
    const std::size_t charge = name.text.size() + value.size() + entry_charge;
    if (is_secret) {
      indexing = Indexing::Never;
    } else if (name.worth == Worth::NoEntry || charge > table_.limit_bytes() / 2) {
      indexing = Indexing::Without;
    }
  }
  if (indexing != Indexing::Never) {
    const std::uint32_t index = name.find_static(value);
    if (index != 0) return append_index(out, index);
  }
  add_literal(out, name, name_index, value, indexing);
}

/// Returns the index of an entry with this value, or 0. The tag must belong to a single name.
std::uint32_t HpackEncoder::find(unsigned tag, std::string_view value) const noexcept {
  std::uint32_t number = latest_[tag];
  for (unsigned step = 0; step < max_steps; ++step) {
    const std::uint32_t age = (table_.added() - number) & number_mask;
    if (age >= table_.count()) return 0;
    const HpackTable::Entry& entry = table_.entry(age);
    if (tag_of(entry) != tag) return 0;
    if (short_text::is_same(table_.value(entry), value)) return static_table::count + 1 + age;
    number = entry.facts >> link_shift;
  }
  return 0;
}

/// Like `find()`, but for a shared tag. Sets `name_index` to the latest entry with the name.
std::uint32_t HpackEncoder::find_other(const Name& name, std::string_view value,
                                       std::uint32_t& name_index) const noexcept {
  std::uint32_t number = latest_[name.tag];
  for (unsigned step = 0; step < max_steps; ++step) {
    const std::uint32_t age = (table_.added() - number) & number_mask;
    if (age >= table_.count()) return 0;
    const HpackTable::Entry& entry = table_.entry(age);
    if (tag_of(entry) != name.tag) return 0;
    number = entry.facts >> link_shift;
    if (!short_text::is_same(table_.name(entry), name.text)) continue;
    const std::uint32_t index = static_table::count + 1 + age;
    if (short_text::is_same(table_.value(entry), value)) return index;
    if (name_index == 0) name_index = index;
  }
  return 0;
}

void HpackEncoder::add_literal(std::string& out, const Name& name, std::uint32_t name_index,
                               std::string_view value, Indexing indexing) {
  const auto write = [&](char* to) noexcept {
    const Kind kind = kind_of(indexing);
    to = write_number(to, kind.first, kind.bits, name_index);
    if (name_index == 0) to = write_text(to, name.text);
    return write_text(to, value);
  };
  const std::size_t most = literal_overhead + name.text.size() + value.size();
  if (most <= small_literal) {
    char bytes[small_literal];
    const char* const end = write(bytes);
    out.append(bytes, static_cast<std::size_t>(end - bytes));
  } else {
    const std::size_t begin = out.size();
    out.resize(begin + most);
    const char* const end = write(out.data() + begin);
    out.resize(static_cast<std::size_t>(end - out.data()));
  }
  if (indexing != Indexing::Auto) return;
  HpackTable::Entry* const entry = table_.add(name.text, value);
  if (entry == nullptr) return;
  entry->facts = name.tag | static_cast<std::uint32_t>(latest_[name.tag]) << link_shift;
  latest_[name.tag] = static_cast<std::uint16_t>(table_.added());
}

}  // namespace skua::h2
