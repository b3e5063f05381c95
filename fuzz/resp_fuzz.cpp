// SPDX-License-Identifier: MIT
// In: a seed for splits, then the bytes of a server. Checked: the replies do not depend on how the
// bytes are split, a reply keeps its limits, and the readers of replies take what comes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "redis/slot_map.hpp"
#include "redis/topic_members.hpp"
#include "redis/topic_settings.hpp"
#include "resp/reply_parser.hpp"

namespace {

using skua::redis::Reply;
using skua::resp::ReplyParser;
using Event = ReplyParser::Event;

constexpr skua::resp::ReplyLimits limits{.reply_bytes = 20'000, .depth = 5};

void check(bool holds) {
  if (!holds) std::abort();
}

std::size_t memory_of(const Reply& reply, std::size_t depth) {
  check(depth <= limits.depth + 1);
  std::size_t bytes = sizeof(Reply) + reply.text().size();
  for (const Reply& one : reply.elements()) bytes += memory_of(one, depth + 1);
  for (const Reply& one : reply.attributes()) bytes += memory_of(one, depth + 1);
  return bytes;
}

void use(const Reply& reply) {
  const skua::redis::Endpoint asked{.host = "a", .port = 1};
  for (const auto& range : skua::redis::read_slots(reply, asked)) check(range.first <= range.last);
  const auto redirection = skua::redis::read_redirection(reply.text(), asked);
  check(redirection.kind == skua::redis::Redirection::Kind::None || redirection.slot < 16384);
  static_cast<void>(reply.find("a"));
  static_cast<void>(reply.number());
  const auto entry = skua::redis::entry_of(reply);
  check(entry == nullptr || entry->message.id == entry->id.to_string());
  static_cast<void>(skua::redis::first_id_of(reply));
  skua::TopicMember member;
  if (skua::redis::read_member(reply.text(), member)) {
    check(member.name.size() + member.data.size() < reply.text().size());
  }
}

// Reads the bytes in pieces, or in one piece if the seed is 0.
std::string read(std::string_view bytes, std::uint32_t seed) {
  ReplyParser parser(limits);
  std::string events;
  while (!bytes.empty()) {
    const std::size_t size = seed == 0 ? bytes.size() : 1 + (seed >> 26U);
    if (seed != 0) seed = seed * 1664525U + 1013904223U;
    const std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    std::string_view input = piece;
    for (Event event = parser.next(input); event != Event::NeedMore; event = parser.next(input)) {
      if (event == Event::Failed) return events + parser.error().message();
      const Reply reply = parser.take();
      check(memory_of(reply, 0) <= limits.reply_bytes);
      use(reply);
      events += reply.to_string() + '\n';
    }
    check(input.empty());
  }
  return events + (parser.is_in_reply() ? "more" : "");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t seed = 1U + (data[0] | static_cast<std::uint32_t>(data[1]) << 8U);
  const std::string bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  const std::string whole = read(bytes, 0);
  check(whole == read(bytes, seed));
  check(whole == read(bytes, seed * 7U + 1U));
  return 0;
}
