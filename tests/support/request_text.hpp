// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skua::testing {

/// Parses the requests that a test writes as HTTP/1 text, whole or in pieces. An invalid request
/// fails the test.
class RequestText final {
 public:
  using Fields = std::vector<std::pair<std::string, std::string>>;  ///< names in lower case

  struct Head {
    std::string method{};
    std::string target{};
    std::string host{};
    std::string protocol{};  ///< of Upgrade; if set, everything after the head is content
    Fields fields{};         ///< without Host and fields specific to HTTP/1
    bool has_content = false;
    bool wants_close = false;
  };

  class Events {
   public:
    virtual void on_request(Head head) = 0;
    virtual void on_content(std::string_view bytes) = 0;
    /// Called only for a request with content.
    virtual void on_end(Fields trailers) = 0;

   protected:
    ~Events() = default;
  };

  explicit RequestText(Events& events) : events_(events) {}

  void append(std::string_view text);

 private:
  enum class State : unsigned char { Head, Content, ChunkSize, ChunkEnd, Trailers, Tunnel };

  bool take_one();
  void take_head(std::string_view text);
  bool take_content();
  bool take_all();
  bool take_line();
  void end_message();

  Events& events_;
  std::string text_;
  std::size_t left_bytes_ = 0;  // in the content or the chunk
  Fields trailers_;
  State state_ = State::Head;
  bool is_chunked_ = false;
};

}  // namespace skua::testing
