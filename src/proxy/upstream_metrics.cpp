// SPDX-License-Identifier: MIT
// In: upstreams. Out: their metrics, each time someone asks. All labels are from small sets: the
// names of upstreams and targets, and of outcomes.
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "loop/clock.hpp"
#include "proxy/group.hpp"
#include "skua/metrics.hpp"
#include "skua/upstream.hpp"

namespace skua {
namespace {

using proxy::Group;
using proxy::Member;

/// A group as it is now.
struct SeenGroup {
  const Group* group = nullptr;
  std::vector<Group::Seen> members{};
};

std::string_view text_of(UpstreamTargetStatus::State state) noexcept {
  switch (state) {
    case UpstreamTargetStatus::State::Up: return "up";
    case UpstreamTargetStatus::State::Down: return "down";
    case UpstreamTargetStatus::State::Ejected: return "ejected";
    case UpstreamTargetStatus::State::Draining: return "draining";
  }
  return "";
}

using OfMember = std::uint64_t (*)(const Group::Seen&);
using OfGroup = std::uint64_t (*)(const Group&);

/// A family with a sample for each target.
struct MemberFamily {
  const char* name;
  MetricType type;
  const char* help;
  OfMember value;
};

std::uint64_t count_of(const std::atomic<std::uint64_t>& count) noexcept {
  return count.load(std::memory_order_relaxed);
}

constexpr MemberFamily member_families[] = {
    {"skua_upstream_outstanding", MetricType::Gauge, "Requests whose response is not complete yet",
     [](const Group::Seen& seen) -> std::uint64_t {
       return seen.member->outstanding.load(std::memory_order_relaxed);
     }},
    {"skua_upstream_retries", MetricType::Counter, "Requests that were repeated at another target",
     [](const Group::Seen& seen) { return count_of(seen.member->retries); }},
    {"skua_upstream_ejections", MetricType::Counter, "Times that too many requests failed in a row",
     [](const Group::Seen& seen) { return count_of(seen.member->ejections); }},
};

/// A family with a sample for each upstream.
struct GroupFamily {
  const char* name;
  MetricType type;
  const char* help;
  OfGroup value;
};

constexpr GroupFamily group_families[] = {
    {"skua_upstream_queue_length", MetricType::Gauge, "Requests that wait for a target",
     [](const Group& group) -> std::uint64_t { return group.line().size(); }},
    {"skua_upstream_queued", MetricType::Counter, "Requests that had to wait for a target",
     [](const Group& group) { return count_of(group.told.queued); }},
    {"skua_upstream_retries_refused", MetricType::Counter,
     "Requests that were not repeated for want of a budget",
     [](const Group& group) { return count_of(group.told.retries_refused); }},
    {"skua_upstream_mirrored", MetricType::Counter, "Copies of requests for the mirror",
     [](const Group& group) { return count_of(group.told.mirrored); }},
    {"skua_upstream_mirror_dropped", MetricType::Counter,
     "Copies that were left out, as too many were outstanding",
     [](const Group& group) { return count_of(group.told.mirror_dropped); }},
};

void write_members(MetricsText& out, const std::vector<SeenGroup>& groups) {
  const auto each = [&groups](auto&& call) {
    for (const SeenGroup& seen : groups) {
      for (const Group::Seen& member : seen.members) call(seen.group->options().name, member);
    }
  };
  out.family("skua_upstream_target_state", MetricType::Gauge, "1 for the state of a target");
  each([&out](std::string_view upstream, const Group::Seen& seen) {
    for (int i = 0; i < 4; ++i) {
      const auto state = static_cast<UpstreamTargetStatus::State>(i);
      out.sample({{"upstream", upstream}, {"target", seen.member->name}, {"state", text_of(state)}},
                 state == seen.state ? 1U : 0U);
    }
  });
  out.family("skua_upstream_requests", MetricType::Counter, "Requests by how they ended");
  each([&out](std::string_view upstream, const Group::Seen& seen) {
    for (std::size_t i = 0; i < proxy::outcome_count; ++i) {
      out.sample({{"upstream", upstream},
                  {"target", seen.member->name},
                  {"result", name(static_cast<proxy::Outcome>(i))}},
                 count_of(seen.member->outcomes[i]));
    }
  });
  out.family("skua_upstream_checks", MetricType::Counter, "Checks of targets");
  each([&out](std::string_view upstream, const Group::Seen& seen) {
    out.sample({{"upstream", upstream}, {"target", seen.member->name}, {"result", "passed"}},
               count_of(seen.member->passed_checks));
    out.sample({{"upstream", upstream}, {"target", seen.member->name}, {"result", "failed"}},
               count_of(seen.member->failed_checks));
  });
  for (const MemberFamily& family : member_families) {
    out.family(family.name, family.type, family.help);
    each([&out, &family](std::string_view upstream, const Group::Seen& seen) {
      out.sample({{"upstream", upstream}, {"target", seen.member->name}}, family.value(seen));
    });
  }
}

void write_groups(MetricsText& out, const std::vector<SeenGroup>& groups) {
  out.family("skua_upstream_refused", MetricType::Counter, "Requests that got 503 from the proxy");
  for (const SeenGroup& seen : groups) {
    const std::string_view upstream = seen.group->options().name;
    const Group::Told& told = seen.group->told;
    out.sample({{"upstream", upstream}, {"why", "no_target"}}, count_of(told.no_target));
    out.sample({{"upstream", upstream}, {"why", "queue_full"}}, count_of(told.queue_full));
    out.sample({{"upstream", upstream}, {"why", "queue_timeout"}}, count_of(told.queue_timeout));
  }
  for (const GroupFamily& family : group_families) {
    out.family(family.name, family.type, family.help);
    for (const SeenGroup& seen : groups) {
      out.sample({{"upstream", seen.group->options().name}}, family.value(*seen.group));
    }
  }
}

}  // namespace

void collect_upstreams(Metrics& metrics, std::vector<Upstream> upstreams) {
  metrics.collect([all = std::move(upstreams)](MetricsText& out) {
    std::vector<SeenGroup> groups;
    for (const Upstream& upstream : all) {
      const Group& group = *proxy::UpstreamAccess::group(upstream);
      groups.push_back({.group = &group, .members = group.look(loop::SteadyClock().now())});
    }
    write_members(out, groups);
    write_groups(out, groups);
  });
}

}  // namespace skua
