// SPDX-License-Identifier: MIT
//
// A peer of the benchmarks: cpp-httplib, which serves each connection on a thread of a pool. It has
// no WebSockets and no HTTP/2. Usage: cpp-httplib --port P [--tls-cert FILE --tls-key FILE]
// [--files FOLDER]

#include <httplib.h>

#include <ctime>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace {

constexpr std::size_t connections = 512;  // served at once; a thread for each
constexpr time_t hour = 3600;

// Returns the value of Date, formatted once a second by each thread.
const std::string& date() {
  thread_local std::time_t last = 0;
  thread_local std::string text;
  if (const std::time_t now = std::time(nullptr); now != last) {
    std::tm utc{};
    char buffer[32];
    text.assign(buffer, std::strftime(buffer, sizeof buffer, "%a, %d %b %Y %H:%M:%S GMT",
                                      gmtime_r(&now, &utc)));
    last = now;
  }
  return text;
}

void add_routes(httplib::Server& server, const std::string& files) {
  using httplib::Request;
  using httplib::Response;
  server.Get("/", [](const Request&, Response& response) {
    response.set_content("Hello, World!", "text/plain");
  });
  server.Get("/json", [](const Request&, Response& response) {
    response.set_header("Cache-Control", "no-cache, private");
    response.set_header("ETag", R"("33a64df551425fcc55e4d42a1")");
    response.set_header("Vary", "Accept-Encoding");
    response.set_header("X-Request-Id", "9f86d081884c7d659a2feaa0");
    response.set_header("Access-Control-Allow-Origin", "https://example.com");
    response.set_content(R"({"message":"Hello, World!"})", "application/json");
  });
  for (int number = 0; number < 200; ++number) {
    server.Get("/r" + std::to_string(number) + "/items/([^/]+)",
               [](const Request& request, Response& response) {
                 response.set_content(request.matches[1], "text/plain");
               });
  }
  server.Post("/echo", [](const Request& request, Response& response) {
    response.set_content(request.body, "application/octet-stream");
  });
  server.Post("/upload",
              [](const Request&, Response& response, const httplib::ContentReader& read) {
                std::size_t size = 0;
                read([&size](const char*, std::size_t count) {
                  size += count;
                  return true;
                });
                response.set_content(std::to_string(size), "text/plain");
              });
  if (!files.empty()) server.set_mount_point("/files", files);
}

}  // namespace

int main(int argc, char** argv) {
  const auto option = [argc, argv](std::string_view name) -> std::string {
    for (int i = 1; i + 1 < argc; ++i) {
      if (argv[i] == name) return argv[i + 1];
    }
    return "";
  };
  const std::string certificate = option("--tls-cert");
  const std::string key = option("--tls-key");
  const auto server = certificate.empty()
                          ? std::make_unique<httplib::Server>()
                          : std::make_unique<httplib::SSLServer>(certificate.c_str(), key.c_str());
  server->new_task_queue = [] { return new httplib::ThreadPool(connections); };
  server->set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
  server->set_keep_alive_timeout(hour);
  server->set_tcp_nodelay(true);
  server->set_payload_max_length(std::size_t{16} * 1024 * 1024);
  server->set_post_routing_handler([](const httplib::Request&, httplib::Response& response) {
    response.set_header("Date", date());
  });
  add_routes(*server, option("--files"));
  return server->listen("127.0.0.1", std::stoi(option("--port"))) ? 0 : 1;
}
