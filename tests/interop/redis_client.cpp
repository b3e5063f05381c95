// SPDX-License-Identifier: MIT
// The client that redis_test.py drives: `skua-redis-client [OPTION...] URL MODE`. Modes: `repl`
// runs a command a line, `load TASKS` writes until its input ends and prints what was acknowledged,
// `subscribe CHANNEL` prints messages.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <skua/async.hpp>
#include <skua/loop.hpp>
#include <skua/redis.hpp>
#include <skua/redis_stores.hpp>

namespace {

using namespace skua::literals;
using namespace std::chrono_literals;
using skua::redis::Client;
using skua::redis::Command;

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::optional<std::string> read_line() {
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

Command parsed(std::string_view text) {
  std::optional<Command> command;
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (command) {
      command->add(word);
    } else {
      command.emplace(word);
    }
  }
  return command.value_or(Command("PING"));
}

std::vector<Command> parsed_all(std::string_view text) {
  std::vector<Command> commands;
  while (!text.empty()) {
    const std::size_t end = text.find(" ; ");
    commands.push_back(parsed(text.substr(0, end)));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 3);
  }
  return commands;
}

std::string text_of(const skua::Result<skua::redis::Reply, skua::Problem>& result) {
  return result ? result->to_string() : "problem " + result.error().text;
}

// `tx A ; B` is a transaction, `pipe A ; B` a pipeline, `script KEY N` adds N in a script.
skua::Task<> run_line(Client& client, std::string line) {
  static const skua::redis::Script script("return redis.call('INCRBY', KEYS[1], ARGV[1])");
  if (line.starts_with("tx ")) {
    auto commands = parsed_all(std::string_view(line).substr(3));
    const auto replies = co_await client.transaction(std::move(commands));
    std::string text = replies ? "" : "problem " + replies.error().text;
    for (std::size_t i = 0; replies && i < replies->size(); ++i) {
      text += (i == 0 ? "" : "; ") + (*replies)[i].to_string();
    }
    print(text);
  } else if (line.starts_with("pipe ")) {
    auto commands = parsed_all(std::string_view(line).substr(5));
    const auto replies = co_await client.pipeline(std::move(commands));
    std::string text;
    for (const auto& one : replies) text += (text.empty() ? "" : "; ") + text_of(one);
    print(text);
  } else if (line.starts_with("script ")) {
    const Command words = parsed(line);
    const std::string key(words.arguments()[1]);
    const std::string count(words.arguments()[2]);
    const auto reply = co_await client.eval(script, skua::redis::Keys(key), count);
    print(text_of(reply));
  } else {
    const auto reply = co_await client.command(parsed(line));
    print(text_of(reply));
  }
}

// `rate KEY REQUESTS MILLISECONDS` counts a request.
skua::Task<> count(skua::redis::SharedRates& rates, const Command words) {
  const int requests = std::atoi(std::string(words.arguments()[2]).c_str());
  const int milliseconds = std::atoi(std::string(words.arguments()[3]).c_str());
  const std::string key(words.arguments()[1]);
  skua::Rate rate;
  rate.interval = std::chrono::milliseconds(milliseconds) / requests;
  rate.burst = static_cast<std::size_t>(requests);
  const auto counted = co_await rates.count(key, rate);
  if (!counted) {
    print("problem " + counted.error().text);
    co_return;
  }
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(counted->wait);
  print((counted->is_allowed ? "allowed " : "refused ") + std::to_string(counted->remaining) + " " +
        std::to_string(wait.count()));
}

std::string found_text(const skua::SharedTexts::Found& found) {
  if (!found) return "problem " + found.error().text;
  return *found ? "found " + **found : "nothing";
}

// `text add KEY TEXT`, `text get KEY` or `text replace KEY OLD NEW`; `-` is the empty text.
skua::Task<> use_texts(skua::redis::SharedTexts& texts, const Command words) {
  const std::string verb(words.arguments()[1]);
  const std::string key(words.arguments()[2]);
  const std::string first(words.arguments()[3]);
  const std::string second(words.arguments()[4] == "-" ? "" : words.arguments()[4]);
  if (verb == "add") {
    const auto found = co_await texts.add(key, first, 1h);
    print(found_text(found));
  } else if (verb == "get") {
    const auto found = co_await texts.get(key);
    print(found_text(found));
  } else {
    const auto replaced = co_await texts.replace(key, first, second, 1h);
    print(replaced ? "done" : "problem " + replaced.error().text);
  }
}

skua::Task<> repl(Client& client, skua::redis::SharedRates& rates,
                  skua::redis::SharedTexts& texts) {
  print("ready");
  while (true) {
    const std::optional<std::string> line = co_await skua::offload(read_line);
    if (!line) co_return;
    if (line->starts_with("rate ")) {
      co_await count(rates, parsed(*line));
    } else if (line->starts_with("text ")) {
      co_await use_texts(texts, parsed(*line));
    } else {
      co_await run_line(client, *line);
    }
  }
}

skua::Task<> write_keys(Client& client, int task, const bool& is_ending) {
  int i = 0;
  while (true) {
    if (is_ending) co_return;
    const std::string key = "load:" + std::to_string(task) + ":" + std::to_string(i);
    std::vector<Command> commands;
    commands.emplace_back("SET", key, i);
    commands.emplace_back("WAIT", 1, 1000);
    commands.front().within(3s);
    commands.back().within(3s);
    const auto replies = co_await client.pipeline(std::move(commands));
    const bool is_written = replies[0] && !replies[0]->is_error();
    const bool is_copied = replies[1] && replies[1]->integer().value_or(0) >= 1;
    if (is_written && is_copied) {
      print("ok " + key + " " + std::to_string(i));
    } else {
      print("failed " + key + " " + text_of(replies[is_written ? 1 : 0]));
    }
    ++i;
    co_await skua::sleep(2ms);
  }
}

skua::Task<> load(Client& client, int tasks) {
  bool is_ending = false;
  skua::Scope writers;
  for (int i = 0; i < tasks; ++i) writers.spawn(write_keys(client, i, is_ending));
  while (!is_ending) {
    const std::optional<std::string> line = co_await skua::offload(read_line);
    is_ending = !line.has_value();
  }
  co_await writers.join();
}

skua::Task<> subscribe(Client& client, std::string channel) {
  auto subscription = co_await client.subscribe(skua::redis::Channels().channel(channel));
  if (!subscription) {
    print("problem " + subscription.error().text);
    co_return;
  }
  print("ready");
  while (true) {
    const auto message = co_await subscription->next();
    if (!message) break;
    const bool is_gap = message->kind == skua::redis::Message::Kind::Gap;
    print(is_gap ? "gap" : "message " + message->payload);
  }
}

skua::redis::Options read_options(std::vector<std::string>& words) {
  skua::redis::Options options;
  while (words.size() > 1 && words.front().starts_with("--")) {
    const std::string name = words.front();
    words.erase(words.begin());
    if (name == "--cluster") {
      options.mode = skua::redis::Mode::Cluster;
      continue;
    }
    const std::string value = words.front();
    words.erase(words.begin());
    if (name == "--sentinel") {
      options.mode = skua::redis::Mode::Sentinel;
      options.master = value;
    } else if (name == "--node") {
      options.nodes.push_back(value);
    } else if (name == "--ca") {
      options.tls.authorities = value;
    } else if (name == "--cert") {
      options.tls.certificate.certificate = value;
    } else if (name == "--key") {
      options.tls.certificate.private_key = value;
    } else if (name == "--server-name") {
      options.server_name = value;
    }
  }
  return options;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::string> words(arguments + 1, arguments + count);
  skua::redis::Options options = read_options(words);
  if (words.size() < 2) {
    std::fprintf(stderr,
                 "usage: skua-redis-client [OPTION...] URL repl|load N|subscribe CHANNEL\n");
    return 2;
  }
  options.url = words[0];
  const auto loop = skua::Loop::create().value();
  const skua::redis::PerThread redis(options);
  Client& client = redis.here();
  skua::redis::SharedRates rates(redis);
  skua::redis::SharedTexts texts(redis);
  if (words[1] == "repl") loop->run(repl(client, rates, texts));
  if (words[1] == "load") loop->run(load(client, std::atoi(words.at(2).c_str())));
  if (words[1] == "subscribe") loop->run(subscribe(client, words.at(2)));
}
