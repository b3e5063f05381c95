// SPDX-License-Identifier: MIT
// In: the record of a response. Out: its line as a JSON object in printable ASCII.
#include <cstdint>
#include <string>
#include <string_view>

#include "http/message/json_text.hpp"
#include "operations/log_line.hpp"

namespace skua::operations {
namespace {

// `key` has its quotes, and the comma before it.
void append_text(std::string& out, std::string_view key, std::string_view value) {
  if (value.empty()) return;
  out.append(key).append(":");
  http::append_json(out, value.substr(0, max_logged_bytes));
}

void append_count(std::string& out, std::string_view key, std::uint64_t value) {
  out.append(key).append(":");
  append_number(out, value);
}

}  // namespace

std::string json_line(const RequestRecord& record, LogTime now) {
  std::string out = "{\"time\":\"";
  out.reserve(320 + record.target.size());
  append_timestamp(out, now);
  out += '"';
  const std::string_view client = client_of(record);
  append_text(out, ",\"address\"", client);
  if (client != address_of(record.peer)) append_text(out, ",\"peer\"", record.peer);
  append_text(out, ",\"user\"", record.user);
  if (!record.target.empty()) {  // else no request line could be parsed
    append_text(out, ",\"method\"", method_name_of(record));
    append_text(out, ",\"target\"", record.target);
    append_text(out, ",\"protocol\"", version_name(record.version));
  }
  append_count(out, ",\"status\"", code(record.status));
  append_count(out, ",\"bytes\"", record.body_bytes);
  out.append(",\"seconds\":");
  append_seconds(out, record.duration);
  if (record.first_byte != Duration::zero()) {
    out.append(",\"first_byte\":");
    append_seconds(out, record.first_byte);
  }
  if (record.received_bytes != 0) append_count(out, ",\"received\"", record.received_bytes);
  if (record.sent_bytes != 0) append_count(out, ",\"sent\"", record.sent_bytes);
  if (record.connection_id != 0) append_count(out, ",\"connection\"", record.connection_id);
  append_text(out, ",\"route\"", record.route);
  append_text(out, ",\"referer\"", record.referer);
  append_text(out, ",\"user_agent\"", record.user_agent);
  append_text(out, ",\"request_id\"", record.request_id);
  if (record.error != Errc::None) append_text(out, ",\"error\"", message(record.error));
  if (record.tls != nullptr) {
    append_text(out, ",\"tls\"", version_name(record.tls->version));
    append_text(out, ",\"cipher\"", record.tls->cipher);
  }
  if (record.is_cut) out.append(",\"cut\":true");
  append_text(out, ",\"end\"", end_text(record.end));
  out.append("}\n");
  return out;
}

}  // namespace skua::operations
