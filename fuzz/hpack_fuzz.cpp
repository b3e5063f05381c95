// SPDX-License-Identifier: MIT
// In: a seed for splits, then header blocks, each after its length. Checked: our decoder and
// nghttp2's find the same fields in the same blocks and refuse the same ones, however the input to
// ours is split; tables keep their limits; decoded fields survive our encoder and both decoders.
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/hpack_decoder.hpp"
#include "h2/hpack_encoder.hpp"

#if defined(SKUA_HAS_JUDGE)
#include <nghttp2/nghttp2.h>
#endif

namespace {

using namespace skua::h2;  // NOLINT(google-build-using-namespace)

using FieldTexts = std::vector<std::pair<std::string, std::string>>;

void check(bool holds) {
  if (!holds) std::abort();
}

/// Returns the size of the next piece.
std::size_t cut(std::uint32_t& seed) {
  seed = seed * 1664525U + 1013904223U;
  return 1 + (seed >> 24U) % ((seed >> 16U & 1U) != 0 ? 3 : 60);
}

/// Checks that the rules judge a field the same way every time.
void check_field(const DecodedField& field) {
  const rules::Name name = rules::look_at(field.name);
  check(field.known == name.known && field.pseudo == name.pseudo);
  check(field.is_malformed == (name.is_malformed || !rules::is_value(name, field.value)));
}

std::optional<FieldTexts> decode(HpackDecoder& decoder, std::string_view block,
                                 std::uint32_t seed) {
  FieldTexts fields;
  std::string kept;
  decoder.start();
  bool is_last = false;
  while (!is_last) {
    const std::string_view piece = block.substr(0, seed == 0 ? block.size() : cut(seed));
    block.remove_prefix(piece.size());
    kept.append(piece);
    is_last = block.empty();
    // Exactly sized, so that a sanitizer sees a read past the end.
    const std::vector<char> bytes(kept.begin(), kept.end());
    std::size_t taken = 0;
    const auto result = decoder.decode({bytes.data(), bytes.size()}, is_last, taken,
                                       [&](const DecodedField& field) {
                                         check_field(field);
                                         fields.emplace_back(field.name, field.value);
                                         return true;
                                       });
    check(taken <= kept.size() && result != HpackDecoder::Result::Stopped);
    check(decoder.table().size_bytes() <= decoder.table().limit_bytes());
    if (result == HpackDecoder::Result::Malformed) return std::nullopt;
    kept.erase(0, taken);
  }
  check(kept.empty());
  return fields;
}

/// nghttp2's decoder, if this build has it.
class Reference {
 public:
#if defined(SKUA_HAS_JUDGE)
  Reference() { check(nghttp2_hd_inflate_new(&raw_) == 0); }
  ~Reference() { nghttp2_hd_inflate_del(raw_); }

  void expect(std::string_view block, const std::optional<FieldTexts>& expected) {
    FieldTexts fields;
    for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
      nghttp2_nv field{};
      flags = 0;
      const auto* const bytes = reinterpret_cast<const std::uint8_t*>(block.data());
      const auto taken = nghttp2_hd_inflate_hd2(raw_, &field, &flags, bytes, block.size(), 1);
      if (taken < 0) return check(!expected);
      block.remove_prefix(static_cast<std::size_t>(taken));
      if ((flags & NGHTTP2_HD_INFLATE_EMIT) == 0) continue;
      fields.emplace_back(std::string(reinterpret_cast<char*>(field.name), field.namelen),
                          std::string(reinterpret_cast<char*>(field.value), field.valuelen));
    }
    nghttp2_hd_inflate_end_headers(raw_);
    check(expected == fields);
  }

 private:
  nghttp2_hd_inflater* raw_ = nullptr;
#else
  Reference() = default;
  void expect(std::string_view, const std::optional<FieldTexts>&) {}
#endif
 public:
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;
};

/// An encoder, and the decoders of its output.
struct RoundTrip {
  void run(const FieldTexts& fields, std::uint32_t seed) {
    std::string block;
    if (seed % 5 == 0) encoder.set_peer_table_bytes(seed >> 8U & 0xfffU);
    encoder.start(block);
    for (const auto& [name, value] : fields) {
      const rules::Name found = rules::look_at(name);
      if (found.pseudo == Pseudo::Unknown || found.is_malformed) {
        encoder.add(block, skua::http::FieldName::Other, name, value);
      } else if (found.pseudo != Pseudo::None) {
        encoder.add_pseudo(block, found.pseudo, value);
      } else {
        encoder.add(block, found.known, name, value, static_cast<Indexing>(cut(seed) % 3));
      }
    }
    FieldTexts sent = fields;
    for (auto& [name, value] : sent) {
      for (char& c : name) c = skua::ascii::to_lower(c);
    }
    const auto read = decode(decoder, block, 0);
    check(read == sent);
    reference.expect(block, read);
    check(decoder.table().size_bytes() == encoder.table().size_bytes());
  }

  HpackEncoder encoder{512};
  HpackDecoder decoder;
  Reference reference;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > 8192) return 0;
  const std::uint32_t seed = data[0] | static_cast<std::uint32_t>(data[1]) << 8U;
  std::string_view rest(reinterpret_cast<const char*>(data + 2), size - 2);

  // nghttp2's limit.
  constexpr std::size_t max_literal_bytes = 65536;
  HpackDecoder whole(default_table_bytes, max_literal_bytes);
  HpackDecoder in_pieces(default_table_bytes, max_literal_bytes);
  Reference reference;
  RoundTrip round_trip;
  while (!rest.empty()) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    const std::string_view block = rest.substr(1, length == 0xff ? rest.size() : length);
    rest.remove_prefix(1 + block.size());
    const auto fields = decode(whole, block, 0);
    check(decode(in_pieces, block, seed | 1U) == fields);
    reference.expect(block, fields);
    if (!fields) break;
    round_trip.run(*fields, seed);
  }
  return 0;
}
