// SPDX-License-Identifier: MIT
#include "skua/otlp.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "skua/async.hpp"
#include "skua/server.hpp"
#include "telemetry/otlp_json.hpp"

namespace skua {
namespace {

using Json = nlohmann::json;

Span span(std::string name, Status status = Status::Ok) {
  return {.context = *TraceContext::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                          "a=b"),
          .parent_span_id = "00f067aa0ba902b7",
          .name = std::move(name),
          .start = std::chrono::system_clock::time_point(1'700'000'000s),
          .end = std::chrono::system_clock::time_point(1'700'000'000s + 1500us),
          .status = status,
          .attributes = {{"http.route", "/a\"\n\xFF"}}};
}

TEST(OtlpJson, HasASpan) {
  const std::vector<Span> spans{span("GET /a"), span("GET /b", Status::BadGateway)};
  const Json all =
      Json::parse(telemetry::otlp_json({.service = "shop", .resource = {{"a", "b"}}}, spans));
  const Json& resource = all["resourceSpans"][0];
  EXPECT_EQ(resource["resource"]["attributes"][0]["key"], "service.name");
  EXPECT_EQ(resource["resource"]["attributes"][0]["value"]["stringValue"], "shop");
  EXPECT_EQ(resource["resource"]["attributes"].back()["key"], "a");
  const Json& list = resource["scopeSpans"][0]["spans"];
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list[0]["traceId"], "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(list[0]["spanId"], "b7ad6b7169203331");
  EXPECT_EQ(list[0]["parentSpanId"], "00f067aa0ba902b7");
  EXPECT_EQ(list[0]["traceState"], "a=b");
  EXPECT_EQ(list[0]["name"], "GET /a");
  EXPECT_EQ(list[0]["kind"], 2);
  EXPECT_EQ(list[0]["startTimeUnixNano"], "1700000000000000000");
  EXPECT_EQ(list[0]["endTimeUnixNano"], "1700000000001500000");
  EXPECT_EQ(list[0]["attributes"][0]["value"]["intValue"], "200");
  EXPECT_EQ(list[0]["attributes"][1]["value"]["stringValue"], "/a\"\n\xEF\xBF\xBD");
  EXPECT_FALSE(list[0].contains("status"));
  EXPECT_EQ(list[1]["status"]["code"], 2);
}

/// A collector that keeps what it is sent.
class Collector {
 public:
  Collector() {
    router_.post("/v1/traces", [this](const Request& request) {
      const std::lock_guard lock(mutex_);
      types_.emplace_back(request.content_type());
      contents_.emplace_back(request.body());
      return Response::json("{}");
    });
    EXPECT_TRUE(server_.start());
  }
  [[nodiscard]] std::string url() const { return server_.url() + "/v1/traces"; }
  std::vector<std::string> contents() {
    const std::lock_guard lock(mutex_);
    return contents_;
  }
  std::vector<std::string> types() {
    const std::lock_guard lock(mutex_);
    return types_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> types_;
  std::vector<std::string> contents_;
  Router router_;
  Server server_{router_, {.host = "127.0.0.1", .port = 0, .threads = 1}};
};

TEST(OtlpExporter, SendsBatches) {
  Collector collector;
  {
    OtlpExporter exporter({.url = collector.url(), .interval = 1h, .batch_spans = 3});
    for (int i = 0; i < 3; ++i) exporter.add(span("first"));
    while (collector.contents().empty()) std::this_thread::yield();
    exporter.add(span("last"));
    EXPECT_EQ(exporter.lost_count(), 0U);
  }
  const std::vector<std::string> contents = collector.contents();
  ASSERT_EQ(contents.size(), 2U) << "the end sends what waits";
  const auto count = [](const std::string& content) {
    return Json::parse(content)["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
  };
  EXPECT_EQ(count(contents[0]), 3U);
  EXPECT_EQ(count(contents[1]), 1U);
  EXPECT_EQ(collector.types()[0], "application/json");
}

TEST(OtlpExporter, CountsWhatTheCollectorDoesNotTake) {
  std::vector<std::string> problems;
  Router nothing;
  Server server(nothing, {.host = "127.0.0.1", .port = 0, .threads = 1});
  ASSERT_TRUE(server.start());
  {
    OtlpExporter exporter(
        {.url = server.url() + "/v1/traces",
         .interval = 1h,
         .batch_spans = 2,
         .queue_spans = 2,
         .on_problem = [&problems](std::string_view text) { problems.emplace_back(text); }});
    for (int i = 0; i < 2; ++i) exporter.add(span("a"));
    while (exporter.lost_count() < 2) std::this_thread::yield();
    for (int i = 0; i < 2; ++i) exporter.add(span("b"));
    while (exporter.lost_count() < 4) std::this_thread::yield();
  }
  ASSERT_EQ(problems.size(), 1U) << "said once";
  EXPECT_NE(problems[0].find("/v1/traces"), std::string::npos) << problems[0];
}

TEST(OtlpExporter, DoesNotWaitForACollectorThatNeverAnswers) {
  Router router;
  std::atomic<bool> is_asked{false};
  router.post("/v1/traces", [&]() -> Task<std::string> {
    is_asked = true;
    co_await sleep(1h);
    co_return "";
  });
  Server server(router, {.host = "127.0.0.1", .port = 0, .threads = 1});
  ASSERT_TRUE(server.start());
  const auto began = std::chrono::steady_clock::now();
  {
    OtlpExporter exporter({.url = server.url() + "/v1/traces", .interval = 1h, .batch_spans = 1});
    exporter.add(span("a"));
    while (!is_asked) std::this_thread::yield();
    exporter.add(span("b"));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, 20s) << "the client's own limit is 30 s";
  server.shutdown(Duration(0));
}

TEST(OtlpExporter, RefusesAMalformedUrl) {
  EXPECT_THROW(OtlpExporter({.url = "http://[nowhere/"}), std::invalid_argument);
}

}  // namespace
}  // namespace skua
