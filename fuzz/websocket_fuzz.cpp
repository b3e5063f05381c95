// SPDX-License-Identifier: MIT
// In: our role and whether compression was negotiated, a seed for splits, then the peer's bytes.
// Checked: the events do not depend on how the bytes are split, messages keep their limit, text is
// UTF-8, and memory is bounded by the input.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "ws/close_code.hpp"
#include "ws/deflate.hpp"
#include "ws/extension.hpp"
#include "ws/message_reader.hpp"

namespace {

using skua::ws::MessageReader;
using Event = MessageReader::Event;

constexpr std::size_t message_bytes = 3000;
// A buffer that doubles its size, and a control frame.
constexpr std::size_t memory_bytes = 2 * message_bytes + 1000;

void check(bool holds) {
  if (!holds) std::abort();
}

bool is_utf8(std::string_view text) {
  skua::ws::Utf8Validator validator;
  return validator.feed(text) && validator.is_complete();
}

std::string text_of(Event event, const MessageReader& reader) {
  std::string text = std::to_string(static_cast<int>(event));
  if (event == Event::Close || event == Event::Failed) {
    check(is_utf8(reader.reason().text));
    return text + std::to_string(static_cast<int>(reader.reason().code)) + reader.reason().text;
  }
  const std::string_view payload = reader.payload();
  if (event == Event::Message) {
    check(payload.size() <= message_bytes);
    const bool is_text = reader.type() == skua::MessageType::Text;
    check(!is_text || is_utf8(payload));
    text += is_text ? 't' : 'b';
  }
  return text.append(payload) + '\n';
}

// Reads the bytes in pieces, or in one piece if the seed is 0.
std::string read(std::string_view bytes, unsigned flags, std::uint32_t seed) {
  skua::ws::InflatePool pool(1);
  skua::ws::Inflater inflater(15, (flags & 4U) != 0, &pool);
  MessageReader reader((flags & 1U) != 0 ? skua::ws::Role::Server : skua::ws::Role::Client,
                       message_bytes);
  if ((flags & 2U) != 0 && skua::ws::is_deflate_available()) reader.use(&inflater);
  std::string events;
  while (!bytes.empty()) {
    const std::size_t size = seed == 0 ? bytes.size() : 1 + (seed >> 26U);
    if (seed != 0) seed = seed * 1664525U + 1013904223U;
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    std::span<char> input(piece);
    for (Event event = reader.next(input); event != Event::NeedMore; event = reader.next(input)) {
      events += text_of(event, reader);
      if (event == Event::Failed) return events;
    }
    check(input.empty() && reader.memory_bytes() <= memory_bytes);
    check(reader.is_in_message() || reader.memory_bytes() <= 1000);
  }
  return events + (reader.is_in_message() ? "more" : "");
}

void read_extensions(std::string_view field) {
  const auto offers = skua::ws::parse_extensions(field);
  if (!offers) return;
  const skua::ws::DeflateOptions options{.keeps_context = true, .peer_keeps_context = true};
  const auto accepted = skua::ws::accept_deflate(*offers, options);
  if (accepted) check(skua::ws::parse_extensions(accepted->response).has_value());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::uint32_t seed = 1U + (data[1] | static_cast<std::uint32_t>(data[2]) << 8U);
  const std::string bytes(reinterpret_cast<const char*>(data + 3), size - 3);
  if (data[0] == 0xff) {
    read_extensions(bytes);
    return 0;
  }
  const std::string whole = read(bytes, data[0], 0);
  check(whole == read(bytes, data[0], seed));
  check(whole == read(bytes, data[0], seed * 7U + 1U));
  return 0;
}
