// SPDX-License-Identifier: MIT
//
// In: a URL and the numbers of connections and requests. Out: their cost, as one line of JSON.
// The idea: libcurl used as its manual recommends for speed: the multi interface driven by epoll,
// one easy handle per connection, added again when its response has been read.

#include "measured.hpp"

#include <curl/curl.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench::clients {
namespace {

void expect(CURLcode code) {
  if (code != CURLE_OK) throw std::runtime_error(curl_easy_strerror(code));
}

void expect(CURLMcode code) {
  if (code != CURLM_OK) throw std::runtime_error(curl_multi_strerror(code));
}

class Load final {
 public:
  explicit Load(const Plan& plan) : plan_(plan), left_(plan.requests) {
    expect(curl_multi_setopt(multi_, CURLMOPT_SOCKETFUNCTION, &Load::on_socket));
    expect(curl_multi_setopt(multi_, CURLMOPT_SOCKETDATA, this));
    expect(curl_multi_setopt(multi_, CURLMOPT_TIMERFUNCTION, &Load::on_timer));
    expect(curl_multi_setopt(multi_, CURLMOPT_TIMERDATA, this));
    expect(curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, static_cast<long>(plan.connections)));
  }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  ~Load() {
    for (CURL* const easy : handles_) {
      curl_multi_remove_handle(multi_, easy);
      curl_easy_cleanup(easy);
    }
    curl_multi_cleanup(multi_);
    close(epoll_);
  }

  void run() {
    for (std::size_t i = 0; i < plan_.connections && left_ != 0; ++i) begin(make());
    while (running_ != 0) turn();
    measurement_.print();
  }

 private:
  static std::size_t on_content(const char* /*bytes*/, std::size_t, std::size_t count, void* read) {
    *static_cast<std::size_t*>(read) += count;
    return count;
  }

  static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void* known) {
    Load& load = *static_cast<Load*>(self);
    epoll_event event{};
    event.data.fd = socket;
    if ((what & CURL_POLL_IN) != 0) event.events |= EPOLLIN;
    if ((what & CURL_POLL_OUT) != 0) event.events |= EPOLLOUT;
    if (what == CURL_POLL_REMOVE) {
      epoll_ctl(load.epoll_, EPOLL_CTL_DEL, socket, nullptr);
    } else if (known == nullptr) {
      epoll_ctl(load.epoll_, EPOLL_CTL_ADD, socket, &event);
      curl_multi_assign(load.multi_, socket, &load);
    } else {
      epoll_ctl(load.epoll_, EPOLL_CTL_MOD, socket, &event);
    }
    return 0;
  }

  static int on_timer(CURLM*, long milliseconds, void* self) {
    static_cast<Load*>(self)->timer_milliseconds_ = static_cast<int>(milliseconds);
    return 0;
  }

  CURL* make() {
    CURL* const easy = curl_easy_init();
    handles_.push_back(easy);
    expect(curl_easy_setopt(easy, CURLOPT_URL, plan_.url.c_str()));
    expect(curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, &Load::on_content));
    expect(curl_easy_setopt(easy, CURLOPT_WRITEDATA, &content_bytes_));
    expect(curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L));
    expect(curl_easy_setopt(easy, CURLOPT_NOPROXY, "*"));
    expect(curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L));
    expect(curl_easy_setopt(easy, CURLOPT_USERAGENT, "curl"));
    return easy;
  }

  void begin(CURL* easy) {
    --left_;
    ++running_;
    expect(curl_multi_add_handle(multi_, easy));
  }

  void turn() {
    std::array<epoll_event, 64> events{};
    const int count =
        epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), timer_milliseconds_);
    int ignored = 0;
    if (count == 0 || timer_milliseconds_ == 0) {
      timer_milliseconds_ = -1;
      expect(curl_multi_socket_action(multi_, CURL_SOCKET_TIMEOUT, 0, &ignored));
    }
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      int what = 0;
      if ((event.events & (EPOLLIN | EPOLLHUP)) != 0) what |= CURL_CSELECT_IN;
      if ((event.events & EPOLLOUT) != 0) what |= CURL_CSELECT_OUT;
      if ((event.events & EPOLLERR) != 0) what |= CURL_CSELECT_ERR;
      expect(curl_multi_socket_action(multi_, event.data.fd, what, &ignored));
    }
    take_results();
  }

  void take_results() {
    int ignored = 0;
    while (const CURLMsg* const message = curl_multi_info_read(multi_, &ignored)) {
      if (message->msg != CURLMSG_DONE) continue;
      CURL* const easy = message->easy_handle;
      expect(message->data.result);
      measurement_.add(std::exchange(content_bytes_, 0));
      --running_;
      expect(curl_multi_remove_handle(multi_, easy));
      if (left_ != 0) begin(easy);
    }
  }

  const Plan& plan_;
  std::size_t left_;
  std::size_t running_ = 0;
  std::size_t content_bytes_ = 0;  // read on any connection since a request last ended
  CURLM* multi_ = curl_multi_init();
  int epoll_ = epoll_create1(EPOLL_CLOEXEC);
  int timer_milliseconds_ = -1;
  std::vector<CURL*> handles_;
  Measurement measurement_;
};

int run(int argc, char** argv) {
  Plan plan;
  CLI::App app("Sends requests to a server with libcurl; prints their cost.");
  app.add_option("--url", plan.url, "URL to request")->required();
  app.add_option("--connections", plan.connections, "Connections, each always busy")
      ->check(CLI::Range(1, 10000));
  app.add_option("--requests", plan.requests, "Requests on all connections together")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  expect(curl_global_init(CURL_GLOBAL_DEFAULT));
  Load(plan).run();
  curl_global_cleanup();
  return 0;
}

}  // namespace
}  // namespace bench::clients

int main(int argc, char** argv) {
  try {
    return bench::clients::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "curl_multi: %s\n", error.what());
    return 1;
  }
}
