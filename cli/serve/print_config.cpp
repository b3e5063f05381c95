// SPDX-License-Identifier: MIT
// In: settings. Out: `name = value` lines with units, including every limit and timeout of
// skua/options.hpp.
#include "serve/print_config.hpp"

#include "base/file_io.hpp"
#include "server/server_run.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

namespace skua::cli {
namespace {

void section(const char* name) { std::printf("[%s]\n", name); }

void print(const char* name, const std::string& value) {
  std::printf("%-28s = %s\n", name, value.c_str());
}

std::string joined(const std::vector<std::string>& values) {
  std::string out;
  for (const std::string& value : values) out.append(out.empty() ? "" : ", ").append(value);
  return out;
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
  print_time("drain_grace", timeouts.drain_grace);
  print_time("shutdown", timeouts.shutdown);
}

void print_files(const FileOptions& files) {
  section("files");
  print("index", files.index.empty() ? "none" : files.index);
  print_flag("listing", files.listing);
  print_flag("dotfiles", files.dotfiles);
  print_flag("follow_symlinks", files.follow_symlinks);
  print("max_age",
        files.max_age.count() < 0 ? "not sent" : std::to_string(files.max_age.count()) + " s");
}

void print_tls(const ServeOptions& options) {
  const TlsOptions& tls = options.server.tls;
  section("https");
  print_flag("enabled", tls.is_enabled());
  if (!tls.is_enabled()) return;
  print("certificate", tls.self_signed ? "self-signed, created at startup" : tls.certificate);
  if (!tls.self_signed) {
    print("private_key", tls.private_key.empty() ? tls.certificate : tls.private_key);
  }
  print("client_ca", tls.client_ca.empty() ? "none (clients are not asked)" : tls.client_ca);
  print("minimum_version", tls.minimum_version == TlsVersion::Tls12 ? "1.2" : "1.3");
  print_flag("session_tickets", tls.session_tickets);
  print_time("ticket_key_lifetime", tls.ticket_key_lifetime);
  print_time("reload_interval", tls.reload_interval);
  print_flag("refuses_misdirected_names", tls.refuses_misdirected_names);
  print("redirect_http", options.redirect_port ? std::to_string(*options.redirect_port) : "no");
  print("hsts",
        options.hsts_seconds == 0 ? "not sent" : std::to_string(options.hsts_seconds) + " s");
}

}  // namespace

void print_config(const ServeOptions& options) {
  const ServerOptions& server = options.server;
  section("serve");
  print("folder", options.folder);
  print("host", server.host);
  print_count("port", server.port);
  print_flag("reuse_port", server.reuse_port);
  print("allow", options.allow.empty() ? "everyone" : joined(options.allow));
  print("deny", options.deny.empty() ? "nobody" : joined(options.deny));
  print("user", options.user.empty() ? "unchanged" : options.user);
  print_flag("sandbox", options.sandbox);
  print("threads", server.threads == 0 ? "one per core" : std::to_string(server.threads));
  print("backend", std::string(to_string(server.backend)));
  print_flag("http2", server.http2);
  print("server_name", server.server_name.empty() ? "not sent" : server.server_name);
  print_flag("access_log", options.access_log);
  print_files(options.files);
  print_tls(options);
  print_limits(server);
  print_timeouts(server.timeouts);
}

}  // namespace skua::cli
