// SPDX-License-Identifier: MIT
// Runs every row of tests/cases/server/states.md against a worker, over HTTP/1 and HTTP/2. The peer
// is a memory stream, and the clock moves only when a row says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/states_handlers.hpp"
#include "server/states_peer.hpp"
#include "server/states_table.hpp"
#include "support/memory_stream.hpp"
#include "support/paths.hpp"
#include "support/test_worker.hpp"

namespace skua {
namespace {

using testing::StatePeer;
using testing::StateRow;

ServerOptions options_of_states() {
  ServerOptions options;
  options.timeouts.handler = 5min;
  options.limits.body_bytes = 100'000;
  options.limits.unread_body_bytes = 1'000;
  return options;
}

/// One row over one protocol.
class StateRun {
 public:
  StateRun(const StateRow& row, bool is_http2)
      : row_(row),
        router_(handlers_.router()),
        worker_(router_, BackendChoice::Poll, options_of_states(), testing::Transport::Tcp) {
    if (is_http2) {
      peer_ = std::make_unique<testing::Http2StatePeer>(row.request);
    } else {
      peer_ = std::make_unique<testing::Http1StatePeer>(row.request);
    }
    auto stream = std::make_unique<net::MemoryStream>();
    stream_ = stream.get();
    stream_->tell_destruction(is_destroyed_);
    (*worker_).serve(std::move(stream));
  }
  StateRun(const StateRun&) = delete;
  StateRun& operator=(const StateRun&) = delete;
  ~StateRun() {
    (*worker_).begin_drain(Duration(0));
    settle();
    EXPECT_TRUE(is_destroyed_) << "line " << row_.line;
  }

  /// Returns what was sent, what became of the connection, and of the handler.
  std::string outcome() {
    send(peer_->greeting());
    if (row_.request.takes_nothing) take(0);
    send(peer_->begin(testing::state_path(row_.handler)));
    for (const std::string& step : row_.steps) play(step);
    const std::string handler(word_);
    const std::string sent = peer_->describe(output_);
    return sent + "; " + connection() + "; " + handler;
  }

 private:
  // Events of a stream come on the loop's thread, in its turn.
  void settle() {
    for (int round = 0; round < 6; ++round) {
      (*worker_).loop().post([this] {
        do {
          if (!is_destroyed_) output_ += stream_->take_output();
        } while (!is_destroyed_ && stream_->pump_once());
      });
      (*worker_).run_once(Duration(0));
    }
    if (!is_destroyed_) output_ += stream_->take_output();
  }
  void send(const std::string& bytes) {
    if (is_destroyed_) return;
    if (!bytes.empty()) stream_->feed(bytes);
    settle();
  }
  void pass(Duration time) {
    while (time > Duration(0)) {
      const Duration step = std::min<Duration>(time, 1s);
      worker_.advance(step);
      settle();
      time -= step;
    }
  }
  void end(Error error) {
    can_send_ = false;
    if (!is_destroyed_) stream_->finish(error);
    settle();
  }
  void take(std::size_t bytes) {
    can_take_ = bytes != 0;
    if (!is_destroyed_) stream_->take_at_most(bytes);
    settle();
  }
  void drain() {
    (*worker_).begin_drain(20s);
    settle();
  }
  void drip() {
    for (int second = 0; second < 12; ++second) {
      send(peer_->next(1));
      pass(1s);
    }
  }

  void play(const std::string& step) {
    if (step == "nothing") return;
    if (step == "the rest") return send(peer_->rest());
    if (step == "drips") return drip();
    if (step == "server drains") return drain();
    if (step == "peer ends") return end(Errc::None);
    if (step == "peer vanishes") return end(Error(Errc::Closed, "reset"));
    if (step == "peer takes nothing") return take(0);
    if (step == "peer takes all") return take(std::string::npos);
    if (step == "peer opens its window") return send(peer_->open_window());
    if (step == "peer cancels") {
      const std::string bytes = peer_->cancel();
      return bytes.empty() ? end(Error(Errc::Closed, "reset")) : send(bytes);
    }
    int number = 0;
    const auto [rest, error] = std::from_chars(step.data(), step.data() + step.size(), number);
    const std::string_view unit(rest, step.data() + step.size());
    if (error == std::errc() && unit == " s") return pass(std::chrono::seconds(number));
    if (error == std::errc() && unit == " ms") return pass(std::chrono::milliseconds(number));
    throw std::runtime_error("unknown step: " + step);
  }

  std::string connection() {
    if (is_destroyed_ || stream_->is_closed()) return "closed";
    if (stream_->is_write_shut()) return "lingers";
    const std::string stream = peer_->has_open_stream(output_) ? ", stream open" : "";
    if (!can_send_ || !can_take_ || !peer_->can_ask()) return "open" + stream;
    const std::size_t row_bytes = output_.size();
    send(peer_->another());
    const std::string another = peer_->describe_another(output_, row_bytes);
    if (another == R"(200 "another" close)") return "answers one more";
    return (another == R"(200 "another")" ? "kept alive" : "open") + stream;
  }

  const StateRow& row_;
  std::string_view word_ = "not run";
  testing::StateHandlers handlers_{word_};
  const Router router_;
  testing::TestWorker worker_;
  std::unique_ptr<StatePeer> peer_;
  net::MemoryStream* stream_ = nullptr;
  std::string output_;  ///< of the server
  bool is_destroyed_ = false;
  bool can_send_ = true;
  bool can_take_ = true;
};

void check_handler(const std::string& name) {
  const auto& known = testing::state_handlers;
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  throw std::runtime_error("unknown handler: " + name);
}

/// Runs a row over one protocol. Returns why its cell is wrong; empty if it is right.
std::string complaint_of(const StateRow& row, std::size_t protocol) {
  const std::string& expected = row.expected.at(protocol);
  if (expected == "-") return {};
  const std::string where =
      "states.md:" + std::to_string(row.line) + ", over " + (protocol == 0 ? "HTTP/1" : "HTTP/2");
  try {
    check_handler(row.handler);
    const std::string actual = StateRun(row, protocol == 1).outcome();
    if (actual == expected) return {};
    return where + "\n  expected: " + expected + "\n    actual: " + actual;
  } catch (const std::runtime_error& error) {
    return where + ": " + error.what();
  }
}

std::vector<std::string> complaints(const std::vector<StateRow>& rows) {
  std::vector<std::string> found;
  for (const StateRow& row : rows) {
    for (const std::size_t protocol : {0U, 1U}) {
      std::string complaint = complaint_of(row, protocol);
      if (!complaint.empty()) found.push_back(std::move(complaint));
    }
  }
  return found;
}

std::vector<std::string> complaints(const std::string& row) {
  std::istringstream file("| request | handler | then | HTTP/1 | HTTP/2 |\n|---|\n" + row + "\n");
  return complaints(testing::read_states(file));
}

/// Returns the complaint about one row, or why it cannot be read.
std::string complaint(const std::string& row) {
  try {
    const std::vector<std::string> found = complaints(row);
    return found.empty() ? "" : found.front();
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(StateCases, AWrongRowIsFound) {
  const std::string right = R"(200 "0 bytes"; kept alive; finished)";
  EXPECT_EQ(complaint("| GET | plain | nothing | " + right + " | " + right + " |"), "");
  EXPECT_EQ(complaint("| GET | plain | nothing | " + right + " | 404; closed; not run |"),
            "states.md:3, over HTTP/2\n  expected: 404; closed; not run\n    actual: " + right);
}

TEST(StateCases, EveryWordIsKnown) {
  const auto contains = [](const std::string& row, std::string_view what) {
    const std::string found = complaint(row);
    EXPECT_NE(found.find(what), found.npos) << row << "\n" << found;
  };
  contains("| PUT | plain | nothing | - | - |", "states.md:3: unknown request: PUT");
  contains("| GET, odd | plain | nothing | - | - |", "unknown property of a request: odd");
  contains("| GET | odd | nothing | x | - |", "unknown handler: odd");
  contains("| GET | plain | 9 s, odd | unknown step: odd | - |", "HTTP/1: unknown step: odd");
  contains("| GET | plain | 9 h | x | - |", "unknown step: 9 h");
  contains("| GET | answers much | peer opens its window | x | - |", "HTTP/1 has no windows");
  contains("| GET | plain | nothing | x |", "a row has five cells");
  contains("| GET | plain | nothing | - | |", "a cell is empty");
  contains("| GET | plain | nothing | - | - |", "a row without expectation");
  contains("| GET | plain | the rest | x | - |", "the request is complete");
  contains("| GET | plain | nothing | x | - |\n| GET | plain | nothing | x | - |",
           "states.md:4: the same row again");
}

TEST(StateCases, EveryRowIsTrue) {
  std::ifstream file(testing::source_path("tests/cases/server/states.md"));
  const std::vector<StateRow> rows = testing::read_states(file);
  EXPECT_GE(rows.size(), 60U);
  for (const std::string& complaint : complaints(rows)) ADD_FAILURE() << complaint;
}

}  // namespace
}  // namespace skua
