// SPDX-License-Identifier: MIT
// In: the options as TOML, and their values. Out: also, as comments, what no option can change:
// every limit and timeout of skua/options.hpp, with units.
#include "serve/print_config.hpp"

#include "base/file_io.hpp"
#include "server/server_run.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

namespace skua::cli {
namespace {

void section(const char* name) { std::printf("\n# [%s]\n", name); }

void print(const char* name, const std::string& value) {
  std::printf("# %-28s = %s\n", name, value.c_str());
}

void print_flag(const char* name, bool value) { print(name, value ? "yes" : "no"); }

void print_count(const char* name, std::uint64_t value) { print(name, std::to_string(value)); }

// Uses the largest unit that divides the size evenly.
void print_size(const char* name, std::uint64_t bytes) {
  const char* unit = "B";
  for (const char* larger : {"KiB", "MiB", "GiB"}) {
    if (bytes == 0 || bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = larger;
  }
  print(name, std::to_string(bytes) + " " + unit);
}

void print_time(const char* name, Duration time) {
  if (time == Duration::max()) return print(name, "never");
  const auto count = [&](Duration unit) { return std::to_string(time / unit); };
  if (time % 1h == 0ns && time != 0ns) return print(name, count(1h) + " h");
  if (time % 1s == 0ns) return print(name, count(1s) + " s");
  print(name, count(1ms) + " ms");
}

// The effective limit is lower if the process may not open that many files.
void print_connections(const ServerOptions& options) {
  const std::size_t wanted = options.limits.connections;
  const std::size_t open_files = base::open_files_limit();
  const std::size_t cap = server::connection_cap(options, open_files, base::open_files_count());
  if (cap == wanted) return print_count("connections", cap);
  print("connections", std::to_string(cap) + " (" + std::to_string(wanted) +
                           " configured, open file limit " + std::to_string(open_files) + ")");
}

void print_limits(const ServerOptions& options) {
  const Limits& limits = options.limits;
  section("limits");
  print_size("target", limits.target_bytes);
  print_size("field_line", limits.field_line_bytes);
  print_size("head", limits.head_bytes);
  print_count("fields", limits.fields);
  print_size("connection_head", limits.connection_head_bytes);
  print_size("server_head", limits.server_head_bytes);
  print_size("body", limits.body_bytes);
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  if (limits.streamed_body_bytes == unlimited) {
    print("streamed_body", "unlimited");
  } else {
    print_size("streamed_body", limits.streamed_body_bytes);
  }
  print_size("body_per_second", limits.body_bytes_per_second);
  print_size("chunk_extension", limits.chunk_extension_bytes);
  print_size("trailer", limits.trailer_bytes);
  print_count("trailer_fields", limits.trailer_fields);
  print_size("unread_body", limits.unread_body_bytes);
  print_size("connection_body", limits.connection_body_bytes);
  print_size("server_body", limits.server_body_bytes);
  print_size("output", limits.output_bytes);
  print_size("stream", limits.stream_bytes);
  print_count("http2_streams", limits.http2_streams);
  print_connections(options);
}

void print_timeouts(const Timeouts& timeouts) {
  section("timeouts");
  print_time("handshake", timeouts.handshake);
  print_time("head", timeouts.head);
  print_time("body", timeouts.body);
  print_time("body_grace", timeouts.body_grace);
  print_time("write", timeouts.write);
  print_time("handler", timeouts.handler);
  print_time("half_closed", timeouts.half_closed);
  print_time("idle", timeouts.idle);
  print_time("idle_under_pressure", timeouts.idle_under_pressure);
  print_time("connection_age", timeouts.connection_age);
  print_time("linger", timeouts.linger);
  print_time("drain_delay", timeouts.drain_delay);
  print_time("drain_grace", timeouts.drain_grace);
  print_time("websocket_spread", timeouts.websocket_spread);
  print_time("shutdown", timeouts.shutdown);
}

void print_tls(const TlsOptions& tls) {
  if (!tls.is_enabled()) return;
  section("https");
  print("minimum_version", tls.minimum_version == TlsVersion::Tls12 ? "1.2" : "1.3");
  print_flag("session_tickets", tls.session_tickets);
  print_time("ticket_key_lifetime", tls.ticket_key_lifetime);
  print_time("reload_interval", tls.reload_interval);
  print_flag("refuses_misdirected_names", tls.refuses_misdirected_names);
}

}  // namespace

void print_config(const std::string& settings, const ServeOptions& options) {
  std::fputs(settings.c_str(), stdout);
  if (options.site.login) std::puts("# SKUA_AUTH in the environment requires a login, too.");
  if (options.site.upload_login) {
    std::puts("# SKUA_UPLOAD_AUTH in the environment requires a login for uploads.");
  }
  const ServerOptions& server = options.server;
  print_tls(server.tls);
  print_limits(server);
  print_timeouts(server.timeouts);
}

}  // namespace skua::cli
