// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "resp.hpp"

/// Keys and values, and the commands of Redis that read and change them.
class Store {
 public:
  std::string answer(const resp::Words& words) {
    const std::string name = resp::upper(words[0]);
    const std::size_t count = words.size();
    if (name == "PING" && count == 1) return "+PONG\r\n";
    if ((name == "PING" || name == "ECHO") && count == 2) return resp::bulk(words[1]);
    if (name == "GET" && count == 2) return get(words[1]);
    if (name == "SET" && count == 3) return set(words[1], words[2]);
    if (name == "INCR" && count == 2) return increment(words[1]);
    if ((name == "DEL" || name == "EXISTS") && count >= 2) return find_all(words, name == "DEL");
    if (name == "COMMAND") return "*0\r\n";  // redis-cli asks for help texts
    if (name == "CONFIG" && count == 3) {    // redis-benchmark asks whether values are saved
      return "*2\r\n" + resp::bulk(words[2]) + resp::bulk("");
    }
    return "-ERR unknown command, or wrong number of arguments\r\n";
  }

 private:
  [[nodiscard]] std::string get(std::string_view key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? "$-1\r\n" : resp::bulk(found->second);
  }

  std::string set(std::string_view key, std::string_view value) {
    const auto found = values_.find(key);
    if (found == values_.end()) {
      values_.emplace(key, value);
    } else {
      found->second = value;
    }
    return "+OK\r\n";
  }

  std::string increment(std::string_view key) {
    std::string& value = values_.try_emplace(std::string(key), "0").first->second;
    const std::optional<long long> number = resp::parse<long long>(value);
    if (!number || *number == std::numeric_limits<long long>::max()) {
      return "-ERR value is not an integer or out of range\r\n";
    }
    value = std::to_string(*number + 1);
    return resp::integer(*number + 1);
  }

  // Counts the keys that exist, and may remove them.
  std::string find_all(const resp::Words& words, bool removes) {
    long long known = 0;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto found = values_.find(words[i]);
      if (found == values_.end()) continue;
      ++known;
      if (removes) values_.erase(found);
    }
    return resp::integer(known);
  }

  std::map<std::string, std::string, std::less<>> values_;  // a tree: clients cannot flood a hash
};
