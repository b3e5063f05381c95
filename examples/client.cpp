// SPDX-License-Identifier: MIT
// Prints a page, or saves it to a file: `example-client http://127.0.0.1:8080/ [FILE]`.
#include <cstdio>
#include <skua.hpp>
#include <string>

namespace {

skua::Task<int> show(skua::Client& client, std::string url) {
  auto response = co_await client.get(url);
  if (!response) {
    std::fprintf(stderr, "%s\n", response.error().text.c_str());
    co_return 1;
  }
  std::printf("%u %s\n", skua::code(response->status()), response->url().to_string().c_str());
  while (true) {
    auto piece = co_await response->read();
    if (!piece) {
      std::fprintf(stderr, "%s\n", piece.error().text.c_str());
      co_return 1;
    }
    if (!*piece) co_return 0;
    std::fwrite((*piece)->data(), 1, (*piece)->size(), stdout);
  }
}

skua::Task<int> save(skua::Client& client, std::string url, std::string path) {
  const auto tell = [](skua::Progress progress) {
    std::fprintf(stderr, "\r%llu bytes", static_cast<unsigned long long>(progress.done_bytes));
  };
  auto saved = co_await client.get(url).on_progress(tell).save(path);
  std::fputc('\n', stderr);
  if (saved) co_return 0;
  std::fprintf(stderr, "%s\n", saved.error().text.c_str());
  co_return 1;
}

skua::Task<int> run(std::string url, std::string path) {
  skua::Client client;
  int status = 0;
  if (path.empty()) {
    status = co_await show(client, url);
  } else {
    status = co_await save(client, url, path);
  }
  co_await client.close();
  co_return status;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2 || count > 3) {
    std::fprintf(stderr, "usage: example-client URL [FILE]\n");
    return 2;
  }
  return skua::run(run(arguments[1], count == 3 ? arguments[2] : ""));
}
