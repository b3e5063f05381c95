// SPDX-License-Identifier: MIT
// In: events. Out: the lines of a text/event-stream, with a comment after each quiet interval:
// proxies and clients take silence for a dead connection.
#include "skua/events.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "loop/loop.hpp"
#include "skua/async.hpp"

namespace skua {
namespace {

constexpr std::string_view line_breaks("\r\n\0", 3);

void append_field(std::string& text, std::string_view name, std::string_view value) {
  text.append(name).append(": ").append(value).append("\n");
}

void append_line_field(std::string& text, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  if (value.find_first_of(line_breaks) != value.npos) {
    throw std::invalid_argument("an event's type and id must not contain line breaks");
  }
  append_field(text, name, value);
}

// Splits the value at every kind of line break that the receiver recognizes.
void append_lines(std::string& text, std::string_view name, std::string_view value) {
  while (true) {
    const std::size_t end = value.find_first_of("\r\n");
    append_field(text, name, value.substr(0, end));
    if (end == value.npos) return;
    value.remove_prefix(end + (value.substr(end).starts_with("\r\n") ? 2 : 1));
  }
}

Duration now() { return loop::Loop::current().now().time_since_epoch(); }

Task<> keep_alive_while_quiet(EventWriter& out, Duration interval) {
  while (true) {
    const Duration left = interval - out.quiet();
    if (left > Duration::zero()) {
      co_await sleep(left);
    } else {
      co_await out.comment("");
    }
  }
}

Task<> write_events(const std::function<Task<>(EventWriter&)>& produce, BodyWriter& body,
                    Duration keep_alive) {
  EventWriter out(body);
  Scope scope;
  if (keep_alive > Duration::zero()) scope.spawn(keep_alive_while_quiet(out, keep_alive));
  co_await produce(out);
}

}  // namespace

EventWriter::EventWriter(BodyWriter& out) : out_(&out), sent_at_(now()) {}

Duration EventWriter::quiet() const { return now() - sent_at_; }

BodyWriter::Awaiter EventWriter::send(const ServerSentEvent& event) {
  std::string text;
  text.reserve(event.data.size() + event.event.size() + event.id.size() + 40);
  append_line_field(text, "event", event.event);
  append_line_field(text, "id", event.id);
  if (event.retry.count() > 0) append_field(text, "retry", std::to_string(event.retry.count()));
  append_lines(text, "data", event.data);
  text.append("\n");
  sent_at_ = now();
  return out_->write(std::move(text));
}

BodyWriter::Awaiter EventWriter::checkpoint(std::string_view id) {
  std::string text;
  append_line_field(text, "id", id);
  text.append("\n");
  sent_at_ = now();
  return out_->write(std::move(text));
}

BodyWriter::Awaiter EventWriter::comment(std::string_view comment) {
  std::string text;
  append_lines(text, "", comment);
  text.append("\n");
  sent_at_ = now();
  return out_->write(std::move(text));
}

Response server_sent_events(std::function<Task<>(EventWriter&)> produce, Duration keep_alive) {
  if (!produce) throw std::invalid_argument("server_sent_events: the producer is empty");
  auto stream = std::make_shared<BodyStream>();
  stream->is_endless = true;
  stream->produce = [produce = std::move(produce), keep_alive](BodyWriter& body) {
    return write_events(produce, body, keep_alive);
  };
  return Response(Status::Ok, Body(std::shared_ptr<const BodyStream>(std::move(stream))),
                  "text/event-stream")
      .header("Cache-Control", "no-store")
      .header("X-Accel-Buffering", "no");  // respected by nginx and other proxies
}

}  // namespace skua
