// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <ctime>
#include <string>
#include <string_view>

namespace bench::raw {

/// Many copies of the constant response, so that one send answers a batch of pipelined requests.
class Answers final {
 public:
  /// The most responses that one call of `take` returns.
  static constexpr std::size_t most = 64;

  Answers() { refresh(); }

  /// Updates Date if the second has changed; called once per turn of the loop.
  void refresh() {
    const std::time_t now = std::time(nullptr);
    if (now != now_) write(now);
  }

  /// Returns the bytes of `count` responses, at most `most`; valid as long as the object, rewritten
  /// in place by `refresh`.
  [[nodiscard]] std::string_view take(std::size_t count) const noexcept {
    return {bytes_.data(), (count < most ? count : most) * size_};
  }

 private:
  void write(std::time_t now) {
    now_ = now;
    std::tm utc{};
    gmtime_r(&now, &utc);
    std::array<char, 64> date{};
    // IMF-fixdate, RFC 9110 §5.6.7; the program always runs in the C locale.
    std::strftime(date.data(), date.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc);
    const std::string one =
        std::string("HTTP/1.1 200 OK\r\nServer: raw\r\nDate: ") + date.data() +
        "\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!";
    // The date has a fixed width, so the bytes of a send in flight keep their place and length.
    size_ = one.size();
    bytes_.resize(size_ * most);
    for (std::size_t i = 0; i < most; ++i) bytes_.replace(i * size_, size_, one);
  }

  std::time_t now_ = 0;
  std::size_t size_ = 0;
  std::string bytes_;
};

}  // namespace bench::raw
