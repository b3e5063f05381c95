// SPDX-License-Identifier: MIT
// A chat over lines of text. Try `nc localhost 7007` in two terminals; the first line is your name.
#include <skua/literals.hpp>
#include <skua/tcp_server.hpp>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

namespace {

using namespace skua::literals;
using Members = std::map<std::string, skua::TcpConnection*>;  // one thread serves them all

struct Guest {
  Members& members;
  std::string name{};

  void on_readable(skua::TcpConnection& client) {
    while (true) {
      const std::size_t end = client.input().find('\n');
      if (end == std::string::npos) return;  // the rest of the line is to come
      std::string line(client.input().substr(0, end));
      client.consume(end + 1);
      std::erase_if(line, [](unsigned char c) { return std::iscntrl(c) != 0; });
      name.empty() ? join(client, line) : tell_all(name + ": " + line);
    }
  }
  void on_disconnect(skua::TcpConnection&, skua::Error) {
    if (members.erase(name) != 0) tell_all(name + " has left");
  }
  void join(skua::TcpConnection& client, const std::string& wanted) {
    if (wanted.empty() || members.contains(wanted)) return client.send("another name, please\n");
    members[name = wanted] = &client;
    tell_all(name + " has joined");
  }
  void tell_all(const std::string& text) const {
    for (const auto& member : members) member.second->send(text + "\n");
  }
};

}  // namespace

int main(int count, char** arguments) {
  const int port = count > 1 ? std::atoi(arguments[count - 1]) : 7007;
  Members members;
  skua::TcpServer<Guest> server({.host = "127.0.0.1",
                                 .port = static_cast<std::uint16_t>(port),
                                 .idle = 1h,
                                 .input_bytes = 1_KiB,         // the longest line
                                 .max_output_bytes = 64_KiB},  // a slow reader has to leave
                                [&members](skua::TcpConnection&) { return Guest{members}; });
  const auto announce = [&server] {
    std::printf("listening on %s\n", server.address().to_string().c_str());
    std::fflush(stdout);
  };
  server.run_until_signal(announce).value();
}
