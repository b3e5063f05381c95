// SPDX-License-Identifier: MIT
// In: metrics and health. Out: routes for tools, and a page for people that needs no script. Texts
// of the page come from the program (patterns, names of checks), but are escaped all the same.
#include "skua/admin.hpp"

#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/http_date.hpp"
#include "base/text/number_text.hpp"
#include "files/listing/escape.hpp"
#include "skua/answer.hpp"

namespace skua {
namespace {

bool is_ready(const std::vector<Health::Outcome>& outcomes) noexcept {
  for (const Health::Outcome& one : outcomes) {
    if (!one.problem.empty()) return false;
  }
  return true;
}

Response uncached(Response response) {
  response.header("Cache-Control", "no-store");
  return response;
}

// `[+] database: ok`, a line for each check.
std::string outcome_lines(const std::vector<Health::Outcome>& outcomes) {
  std::string lines;
  for (const Health::Outcome& one : outcomes) {
    lines.append(one.problem.empty() ? "[+] " : "[-] ").append(one.name).append(": ");
    for (const char c : one.problem) lines += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    lines.append(one.problem.empty() ? "ok\n" : "\n");
  }
  return lines.append(is_ready(outcomes) ? "ready\n" : "not ready\n");
}

// Answers with what `make` makes of the results, once there are some. No thread of the server waits
// for them, nor any of offload().
template <class Make>
LateAnswer answer_by(const std::shared_ptr<const Health>& health, Make make) {
  LateAnswer late;
  const auto answer = std::make_shared<Answer>(late.answer());  // shared: functions are copyable
  const auto done = [answer, make = std::move(make)](const std::vector<Health::Outcome>& all) {
    answer->send(make(all));
  };
  if (health == nullptr) {
    done({});
  } else {
    health->run(done);
  }
  return late;
}

Response readiness(const std::vector<Health::Outcome>& all) {
  const Status status = is_ready(all) ? Status::Ok : Status::ServiceUnavailable;
  return uncached(Response(status, outcome_lines(all)));
}

// The page ----------------------------------------------------------------------------------------

constexpr std::string_view page_head =
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\"><title>skua</title><style>"
    ":root{color-scheme:light dark;font:15px system-ui,sans-serif}"
    "body{max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;width:100%}"
    "th,td{text-align:right;padding:.2em .6em;border-bottom:1px solid #8884}"
    "th:first-child,td:first-child{text-align:left}"
    ".no{color:#c33;font-weight:bold}</style>";

void add_cells(std::string& out, std::string_view tag,
               std::initializer_list<std::string_view> cells) {
  out.append("<tr>");
  for (const std::string_view cell : cells) {
    out.append("<").append(tag).append(">");
    files::append_html(out, cell);
  }
}

std::string milliseconds(double seconds) { return base::short_text(seconds * 1e3, 3) + " ms"; }

void add_health(std::string& out, const std::vector<Health::Outcome>& outcomes) {
  out.append(is_ready(outcomes) ? "<p>Ready" : "<p class=\"no\">Not ready");
  if (outcomes.empty()) return;
  out.append("<table>");
  add_cells(out, "th", {"Check", ""});
  for (const Health::Outcome& one : outcomes) {
    add_cells(out, "td", {one.name, one.problem.empty() ? "ok" : one.problem});
  }
  out.append("</table>");
}

void add_metrics(std::string& out, const Metrics& metrics) {
  const Counters now = metrics.counters();
  out.append("<h2>Connections</h2><table>");
  add_cells(out, "th", {"", "open", "accepted", "requests", "malformed", "too large", "slow"});
  add_cells(out, "td",
            {"", std::to_string(now.connections_open), std::to_string(now.connections_accepted),
             std::to_string(now.requests), std::to_string(now.refused_malformed),
             std::to_string(now.refused_too_large), std::to_string(now.refused_slow)});
  out.append("</table><h2>Routes, slowest first</h2><table>");
  add_cells(out, "th", {"Route", "requests", "5xx", "mean", "99 % within"});
  for (const Metrics::Route& one : metrics.routes()) {
    const std::string name = one.method + " " + (one.pattern.empty() ? "(none)" : one.pattern);
    add_cells(out, "td",
              {name, std::to_string(one.requests), std::to_string(one.failures),
               milliseconds(one.mean_seconds), milliseconds(one.p99_seconds)});
  }
  out.append("</table><h2>Recent errors</h2><table>");
  add_cells(out, "th", {"Route", "status", "when"});
  for (const Metrics::RecentError& one : metrics.recent_errors()) {
    const std::string name = one.method + " " + (one.pattern.empty() ? "(none)" : one.pattern);
    std::array<char, http_date_bytes> date;
    format_http_date(std::chrono::floor<std::chrono::seconds>(one.time), date);
    add_cells(out, "td",
              {name, std::to_string(std::uint64_t{code(one.status)}),
               std::string_view(date.data(), date.size())});
  }
  out.append("</table>");
}

Response page(const std::vector<Health::Outcome>& outcomes, const Metrics* metrics) {
  std::string out(page_head);
  out.append("<h1>skua ").append(library_version()).append("</h1>");
  add_health(out, outcomes);
  if (metrics != nullptr) add_metrics(out, *metrics);
  Response made = Response::html(std::move(out));
  made.header("Content-Security-Policy",
              "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
  return uncached(std::move(made));
}

}  // namespace

Router admin_routes(const AdminOptions& options) {
  Router router;
  router.get("/livez", [] { return uncached(Response("ok\n")); });
  router.get("/readyz", [health = options.health] { return answer_by(health, readiness); });
  router.get("/", [health = options.health, metrics = options.metrics] {
    return answer_by(health, [metrics](const std::vector<Health::Outcome>& all) {
      return page(all, metrics.get());
    });
  });
  if (options.metrics == nullptr) return router;
  router.get("/metrics", [metrics = options.metrics](const Request& request) {
    return metrics->response(request);
  });
  return router;
}

ServerOptions admin_server_options(std::uint16_t port) {
  ServerOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.threads = 1;
  options.offload_queue = 64;
  options.timeouts.handler = 10s;
  options.timeouts.shutdown = 1s;
  options.limits.connections = 64;
  options.limits.body_bytes = 0;
  return options;
}

}  // namespace skua
