// SPDX-License-Identifier: MIT
//
// In: the options of the command line. Out: a running skua server, one per mode.

#include "modes.hpp"

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "skua.hpp"

namespace bench {
namespace {

using skua::Request;
using skua::Response;
using skua::Router;
using skua::Task;
using skua::WebSocket;
using skua::WebSocketCallbacks;
using skua::WebSocketCompression;
using namespace skua::literals;

// Benchmark bodies may be larger than a careful server would keep.
constexpr std::size_t bulk_body_bytes = 256_MiB;

int failed(const std::string& what, const skua::Error& error) {
  std::fprintf(stderr, "skua-bench-server: %s: %s\n", what.c_str(), error.message().c_str());
  return 1;
}

int serve(const Router& router, const ServerOptions& options, std::size_t body_bytes) {
  skua::ServerOptions told{
      .host = options.host,
      .port = options.port,
      .threads = options.threads,
      .backend = skua::parse_backend(options.backend).value_or(skua::BackendChoice::Auto),
      .tls = {.certificate = options.tls_cert, .private_key = options.tls_key}};
  told.limits.body_bytes = body_bytes;
  if (options.metrics) told.metrics = std::make_shared<skua::Metrics>();
  const skua::ShutdownSignals signals;
  skua::Server server(router, std::move(told));
  if (const auto started = server.start(); !started) {
    std::fprintf(stderr, "skua-bench-server: %s\n", started.error().message().c_str());
    return 1;
  }
  std::printf("listening on %s\n", server.url().c_str());
  std::fflush(stdout);
  signals.wait_and_drain(server);
  return 0;
}

int plaintext(const ServerOptions& options) {
  Router router;
  router.get("/", [] { return "Hello, World!"; });
  router.get("/plaintext", [] { return "Hello, World!"; });
  return serve(router, options, 10_MiB);
}

int json(const ServerOptions& options) {
  Router router;
  const auto answer = [] { return Response::json(R"({"message":"Hello, World!"})"); };
  router.get("/", answer);
  router.get("/json", answer);
  return serve(router, options, 10_MiB);
}

// Adds the fields that a typical API response has besides its content.
Response with_fields() {
  return Response::json(R"({"message":"Hello, World!"})")
      .header("Cache-Control", "no-cache, private")
      .header("ETag", R"("33a64df551425fcc55e4d42a1")")
      .header("Vary", "Accept-Encoding")
      .header("X-Request-Id", "9f86d081884c7d659a2feaa0")
      .header("Access-Control-Allow-Origin", "https://example.com");
}

int json_fields(const ServerOptions& options) {
  Router router;
  router.get("/", with_fields);
  router.get("/json", with_fields);
  return serve(router, options, 10_MiB);
}

Response echo_body(const Request& request) {
  return {skua::Status::Ok, std::string(request.body()), "application/octet-stream"};
}

int echo(const ServerOptions& options) {
  Router router;
  router.any("/{rest...}",
             [](const Request& request, std::string_view) { return echo_body(request); });
  return serve(router, options, bulk_body_bytes);
}

Task<std::string> count_body(Request& request) {
  std::uint64_t bytes = 0;
  while (true) {
    const std::optional<skua::Bytes> piece = co_await request.read();
    if (!piece) break;
    bytes += piece->size();
  }
  co_return std::to_string(bytes);
}

int sink(const ServerOptions& options) {
  Router router;
  router.any("/{rest...}", [](Request& request, std::string_view) { return count_body(request); });
  return serve(router, options, 10_MiB);
}

// Returns a line `NAME FILENAME BYTES` for each part.
skua::Task<Response> report_parts(Request& request, std::string_view) {
  skua::Multipart parts = request.multipart();
  std::string report;
  while (true) {
    skua::Result<std::optional<skua::Part>> next = co_await parts.next();
    if (!next) co_return next.error();
    if (!*next) co_return report;
    skua::Part& part = **next;
    std::uint64_t bytes = 0;
    while (true) {
      const skua::Result<std::optional<skua::Bytes>> piece = co_await part.read();
      if (!piece) co_return piece.error();
      if (!*piece) break;
      bytes += (*piece)->size();
    }
    report.append(part.name()).append(" ").append(part.filename().value_or("-"));
    report.append(" ").append(std::to_string(bytes)).append("\n");
  }
}

int upload(const ServerOptions& options) {
  Router router;
  router.any("/{rest...}", report_parts);
  return serve(router, options, 10_MiB);
}

// Refuses uploads before they arrive: 405 at `/get`, 413 at `/small`, 401 at `/guarded`.
int refuse(const ServerOptions& options) {
  Router router;
  router.get("/get", [] { return "Hello, World!"; });
  router.post("/small",
              [](const Request& request) { return std::to_string(request.body().size()); });
  Router guarded;
  guarded.use([](Request& request) -> std::optional<Response> {
    if (request.header("Authorization")) return std::nullopt;
    return skua::Status::Unauthorized;
  });
  guarded.post("/", [](const Request& request) { return std::to_string(request.body().size()); });
  router.mount("/guarded", std::move(guarded));
  return serve(router, options, 1_KiB);
}

int stream(const ServerOptions& options) {
  Router router;
  router.get("/plaintext", [] { return "Hello, World!"; });
  router.get("/stream", [] {
    return Response::stream("application/octet-stream", [](skua::BodyWriter& out) -> skua::Task<> {
      while (true) co_await out.write(std::string(16 * 1024, 's'));
    });
  });
  return serve(router, options, 10_MiB);
}

std::string fields(const Request& request) {
  std::string out;
  for (const auto [name, value] : request.headers()) {
    out.append(name).append(": ").append(value).append("\n");
  }
  return out;
}

// Returns a line `k=v` for each cookie of every Cookie field.
std::string cookies(const Request& request) {
  std::string out;
  for (const auto [name, value] : request.cookies()) {
    if (!name.empty()) out.append(name).append("=").append(value).append("\n");
  }
  return out;
}

Task<> echo_messages(WebSocket& socket) {
  while (auto message = co_await socket.receive()) {
    if (message->type == skua::MessageType::Text) {
      co_await socket.send(message->text);
    } else {
      co_await socket.send(message->bytes());
    }
  }
}

// `/ws` echoes messages; messages to `/publish` go to all sockets of `/subscribe`.
void add_websockets(Router& router) {
  router.websocket("/ws",
                   WebSocketCallbacks{.message = [](WebSocket& socket, skua::Message message) {
                     if (message.type == skua::MessageType::Text) {
                       socket.send(message.text);
                     } else {
                       socket.send(message.bytes());
                     }
                   }});
  router.websocket("/coroutine", echo_messages);
  router.websocket("/subscribe", WebSocketCallbacks{.open = [](WebSocket& socket, Request&) {
                     socket.subscribe("all");
                   }});
  router.websocket("/publish",
                   WebSocketCallbacks{.message = [](WebSocket& socket, skua::Message message) {
                     socket.publish("all", message.text, message.type);
                   }});
}

int ws_echo(const ServerOptions& options) {
  Router router;
  add_websockets(router);
  return serve(router, options, 10_MiB);
}

// Everything that bench/run asks of a server, bench/peers/README.md says what, or behind a gateway.
int suite(const ServerOptions& options) {
  Router router;
  router.get("/", [] { return "Hello, World!"; });
  router.get("/plaintext", [] { return "Hello, World!"; });
  router.get("/json", with_fields);
  for (int i = 0; i < 200; ++i) {
    const skua::RuntimePattern pattern("/r" + std::to_string(i) + "/items/{id}");
    router.get(pattern, [](std::string_view id) { return std::string(id); });
  }
  router.post("/echo", echo_body);
  router.post("/upload", count_body);
  add_websockets(router);
  if (!options.folder.empty()) {
    auto folder = skua::FileHandler::open(options.folder);
    if (!folder) return failed(options.folder, folder.error().error);
    router.get("/files/{path...}", *std::move(folder));
  }
  return serve(router, options, bulk_body_bytes);
}

struct TcpEcho {
  static void on_readable(skua::TcpConnection& client) {
    client.send(client.input());
    client.consume_all();
  }
};

int tcp_echo(const ServerOptions& options) {
  skua::TcpServer<TcpEcho> server(
      {.host = options.host,
       .port = options.port,
       .threads = options.threads,
       .backend = skua::parse_backend(options.backend).value_or(skua::BackendChoice::Auto),
       .tls = {.certificate = options.tls_cert, .private_key = options.tls_key}});
  const auto served = server.run_until_signal([&server] {
    std::printf("listening on http://%s\n", server.address().to_string().c_str());
    std::fflush(stdout);
  });
  if (served) return 0;
  std::fprintf(stderr, "skua-bench-server: %s\n", served.error().text.c_str());
  return 1;
}

int conformance(const ServerOptions& options) {
  Router router;
  router.websocket("/ws", echo_messages,
                   {.message_bytes = 16_MiB,
                    .queue_bytes = 32_MiB,
                    .compression = WebSocketCompression::Context});
  router.any("/echo", [](const Request& request) { return fields(request); });
  router.any("/cookie", [](const Request& request) { return cookies(request); });
  const auto body = [](const Request& request) {
    return Response(request.body().empty() ? std::string("OK") : std::string(request.body()));
  };
  router.any("/", body);
  router.any("/{rest...}",
             [body](const Request& request, std::string_view) { return body(request); });
  return serve(router, options, 10_MiB);
}

int files(const ServerOptions& options) {
  auto folder = skua::FileHandler::open(options.folder);
  if (!folder) return failed(options.folder, folder.error().error);
  Router router;
  router.get("/{path...}", *std::move(folder));
  return serve(router, options, 10_MiB);
}

constexpr Mode table[] = {
    {"plaintext", "13 bytes of text/plain", plaintext},
    {"json", "a small JSON object", json},
    {"json-fields", "a small JSON object with five more fields", json_fields},
    {"echo", "echoes the request body", echo},
    {"sink", "reads the body, responds with its length", sink},
    {"upload", "reads multipart/form-data, responds with a list of its parts", upload},
    {"refuse", "405 at /get, 413 at /small and 401 at /guarded, before an upload arrives", refuse},
    {"stream", "GET /stream: bytes for as long as the client reads", stream},
    {"files", "a folder", files},
    {"suite", "everything that bench/run asks for; DIR is served at /files", suite},
    {"conformance", "for HTTP test suites: every path echoes", conformance},
    {"ws-echo", "WebSocket echo at /ws; /publish to /subscribe", ws_echo},
    {"tcp-echo", "echoes all bytes, by a TcpServer", tcp_echo},
};

}  // namespace

std::span<const Mode> skua_modes() { return table; }

}  // namespace bench
