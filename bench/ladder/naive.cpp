// SPDX-License-Identifier: MIT
//
// Rung 0, naive. In: a request, one read(2) a byte. Out: the answer, one send(2) a byte.
// The idea: none yet. Everything is a string that grows by a byte, sscanf() parses, one connection
// is served at a time and closed after its answer.

#include "ladder.hpp"

#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using ladder::Status;
using namespace std::string_view_literals;

/// Thrown if the peer has left, or was silent for too long. There is nobody to answer.
struct Gone {};

struct Request {
  std::string method;
  bool has_length = false;
  unsigned long long content_length = 0;
  bool expects_continue = false;
  std::string body;
};

void send_bytes(int fd, std::string_view text) {
  for (const char byte : text) {
    if (send(fd, &byte, 1, MSG_NOSIGNAL) != 1) throw Gone{};
  }
}

char read_byte(int fd) {
  char byte = 0;
  if (read(fd, &byte, 1) != 1) throw Gone{};
  return byte;
}

// Returns a line of the head without its end; `left` is how long the rest of the head may be.
std::string read_line(int fd, std::size_t& left) {
  std::string line;
  while (!line.ends_with('\n')) {
    if (left == 0) throw Status::HeadTooLarge;
    --left;
    line += read_byte(fd);
  }
  if (!line.ends_with("\r\n")) throw Status::BadRequest;
  line.resize(line.size() - 2);
  // To sscanf() a text ends at a NUL, whatever comes after it.
  if (line.find_first_of("\r\0"sv) != std::string::npos) throw Status::BadRequest;
  return line;
}

void parse_request_line(const std::string& line, Request& request) {
  char method[16] = "";  // as long as the width in the format, and the NUL
  int major = 0;
  int minor = 0;
  int end = 0;
  const int found =
      std::sscanf(line.c_str(), "%15[A-Z] %*[^ ] HTTP/%1d.%1d%n", method, &major, &minor, &end);
  if (found != 3 || static_cast<std::size_t>(end) != line.size()) throw Status::BadRequest;
  if (major != 1) throw Status::VersionNotSupported;
  request.method = method;
}

void parse_content_length(const char* value, Request& request) {
  // Digits, not %llu: that takes "-1", and what it makes of too large a number is undefined.
  char digits[20] = "";
  int end = 0;
  if (std::sscanf(value, " %19[0-9] %n", digits, &end) != 1) throw Status::BadRequest;
  if (value[end] != '\0' || request.has_length) throw Status::BadRequest;
  request.has_length = true;
  request.content_length = std::strtoull(digits, nullptr, 10);
  if (request.content_length > ladder::max_body_bytes) throw Status::ContentTooLarge;
}

void parse_field(const std::string& line, Request& request) {
  const auto is_named = [&line](const char* name, std::size_t size) {
    return strncasecmp(line.c_str(), name, size) == 0;
  };
  const std::size_t colon = line.find(':');
  if (colon == std::string::npos || colon == 0) throw Status::BadRequest;
  // A blank before the colon could hide a Content-Length from some servers, but not from others.
  if (line.find_first_of(" \t") < colon) throw Status::BadRequest;
  if (is_named("Content-Length:", 15)) parse_content_length(line.c_str() + 15, request);
  if (is_named("Transfer-Encoding:", 18)) throw Status::NotImplemented;
  if (is_named("Expect: 100-continue", 20)) request.expects_continue = true;
}

Request read_request(int fd) {
  Request request;
  std::size_t left = ladder::max_head_bytes;
  parse_request_line(read_line(fd, left), request);
  while (true) {
    const std::string line = read_line(fd, left);
    if (line.empty()) break;
    parse_field(line, request);
  }
  if (request.method != "GET" && request.method != "POST") throw Status::MethodNotAllowed;
  if (request.expects_continue) send_bytes(fd, ladder::please_continue);
  while (request.body.size() < request.content_length) request.body += read_byte(fd);
  return request;
}

void answer(int fd, const std::string& content) {
  std::string response = "HTTP/1.1 200 OK\r\n";
  response += "Content-Type: text/plain\r\n";
  response += "Content-Length: " + std::to_string(content.size()) + "\r\n";
  response += "Connection: close\r\n";
  response += "\r\n";
  response += content;
  send_bytes(fd, response);
}

void serve(int fd) {
  try {
    try {
      const Request request = read_request(fd);
      if (request.method == "POST") {
        answer(fd, std::to_string(request.body.size()));
      } else {
        answer(fd, std::string(ladder::hello));
      }
    } catch (const Status why) {
      send_bytes(fd, ladder::refusal(why));
    }
  } catch (const Gone&) {
    // Nobody reads an answer.
  }
  ladder::close_gently(fd);
}

}  // namespace

int main(int count, char** arguments) {
  const int listener = ladder::open_listener(ladder::port_argument(count, arguments));
  ladder::announce(listener);
  while (true) serve(ladder::accept_connection(listener));
}
