// SPDX-License-Identifier: MIT
#include "skua/tracing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "skua/router.hpp"
#include "skua/testing.hpp"

namespace skua {
namespace {

using testing::FakeRequest;

constexpr std::string_view trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

class TracingTest : public ::testing::Test {
 protected:
  Router router(TracingOptions options = {}) {
    options.sink = [this](Span span) { spans_.push_back(std::move(span)); };
    Router made;
    made.use(tracing(std::move(options)));
    made.get("/users/{id}", [this](Request& request) {
      context_ = *trace_context(request);
      trace_attribute(request, "db.rows", "3");
      return "found";
    });
    made.get("/none", [](Request&) { return Status::NotFound; });
    return made;
  }
  static std::string attribute(const Span& span, std::string_view name) {
    const auto found =
        std::ranges::find(span.attributes, name, &std::pair<std::string, std::string>::first);
    return found != span.attributes.end() ? found->second : "-";
  }

  std::vector<Span> spans_;
  std::optional<TraceContext> context_;
};

TEST_F(TracingTest, ContinuesTheTraceOfTheCaller) {
  const Router made = router();
  FakeRequest fake("GET /users/7?secret=1");
  fake.header("traceparent", trace).header("tracestate", "a=b").header("Tracestate", "c=d");
  EXPECT_EQ(made.handle(fake.request()).status(), Status::Ok);
  ASSERT_EQ(spans_.size(), 1U);
  const Span& span = spans_[0];
  EXPECT_EQ(span.name, "GET /users/{id}");
  EXPECT_EQ(span.context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(span.parent_span_id, "b7ad6b7169203331");
  EXPECT_NE(span.context.span_id(), span.parent_span_id);
  EXPECT_EQ(span.context.tracestate(), "a=b,c=d");
  EXPECT_EQ(context_->span_id(), span.context.span_id());
  EXPECT_EQ(attribute(span, "http.route"), "/users/{id}");
  EXPECT_EQ(attribute(span, "url.path"), "/users/7");
  EXPECT_EQ(attribute(span, "db.rows"), "3");
  EXPECT_LE(span.start, span.end);
}

TEST_F(TracingTest, NamesAMethodThatIsNotKnownInAnAttribute) {
  const Router made = router();
  testing::FakeRequest fake("REPORT /nowhere");
  EXPECT_EQ(made.handle(fake.request()).status(), Status::NotImplemented);
  EXPECT_EQ(spans_.back().name, "HTTP");
  EXPECT_EQ(attribute(spans_.back(), "http.request.method"), "_OTHER");
  EXPECT_EQ(attribute(spans_.back(), "http.request.method_original"), "REPORT");
}

TEST_F(TracingTest, StartsATraceIfThereIsNone) {
  const Router made = router();
  for (const std::string_view field : {"", "00-zz"}) {
    FakeRequest fake("GET /none");
    fake.header("traceparent", field);
    EXPECT_EQ(made.handle(fake.request()).status(), Status::NotFound);
    EXPECT_EQ(spans_.back().parent_span_id, "");
    EXPECT_EQ(spans_.back().status, Status::NotFound);
  }
  FakeRequest twice("GET /none");
  twice.header("traceparent", trace).header("traceparent", trace);
  static_cast<void>(made.handle(twice.request()));
  EXPECT_EQ(spans_.back().parent_span_id, "") << "which of the two?";
  EXPECT_EQ(spans_.size(), 3U);
}

TEST_F(TracingTest, SamplesSomeOfItsOwnAndWhatTheCallerSamples) {
  const Router made = router({.sample = 0});
  FakeRequest own("GET /none");
  static_cast<void>(made.handle(own.request()));
  EXPECT_TRUE(spans_.empty());
  FakeRequest sampled("GET /none");
  sampled.header("traceparent", trace);
  static_cast<void>(made.handle(sampled.request()));
  EXPECT_EQ(spans_.size(), 1U);
  FakeRequest unsampled("GET /none");
  unsampled.header("traceparent", std::string(trace.substr(0, 53)) + "00");
  static_cast<void>(made.handle(unsampled.request()));
  EXPECT_EQ(spans_.size(), 1U);

  spans_.clear();
  const Router half = router({.sample = 0.5});
  for (int i = 0; i < 200; ++i) {
    FakeRequest fake("GET /none");
    static_cast<void>(half.handle(fake.request()));
  }
  EXPECT_GT(spans_.size(), 50U);
  EXPECT_LT(spans_.size(), 150U);
}

TEST_F(TracingTest, DoesNotBelieveStrangers) {
  const Router made = router({.trusts_callers = false});
  FakeRequest fake("GET /none");
  fake.header("traceparent", trace);
  static_cast<void>(made.handle(fake.request()));
  EXPECT_NE(spans_.at(0).context.trace_id(), "0af7651916cd43dd8448eb211c80319c");
}

TEST_F(TracingTest, TellsBrowsersHowLongItTook) {
  const Router made = router({.server_timing = true});
  FakeRequest fake("GET /none");
  const Response response = made.handle(fake.request());
  EXPECT_TRUE(response.header("Server-Timing")->starts_with("total;dur=0."));
  FakeRequest other("GET /none");
  EXPECT_FALSE(router().handle(other.request()).header("Server-Timing"));
}

}  // namespace
}  // namespace skua
