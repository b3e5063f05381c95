// SPDX-License-Identifier: MIT
// A file of its own: programs whose topics are not measured are linked without metrics.
#include <cstdint>
#include <memory>
#include <string_view>

#include "skua/metrics.hpp"
#include "skua/topics.hpp"
#include "topics/hub.hpp"

namespace skua {

void collect_topics(Metrics& metrics, const Topics& topics) {
  const std::weak_ptr<topics::Hub> measured = topics.hub_;
  metrics.collect([measured](MetricsText& out) {
    const std::shared_ptr<topics::Hub> hub = measured.lock();
    if (hub == nullptr) return;
    const TopicCounters counters = hub->counters();
    const auto write = [&out](std::string_view name, MetricType type, std::string_view help,
                              std::uint64_t value) {
      out.family(name, type, help);
      out.sample(value);
    };
    using enum MetricType;
    write("skua_topics", Gauge, "Topics in memory", counters.topics);
    write("skua_topics_memory_bytes", Gauge, "Bytes of their messages", counters.bytes);
    write("skua_topics_forgotten", Counter, "Topics that were dropped for others",
          counters.forgotten);
    write("skua_topics_subscriptions", Gauge, "Subscriptions at present", counters.subscriptions);
    write("skua_topics_messages_published", Counter, "Messages that were to be published",
          counters.published);
    write("skua_topics_messages_unpublished", Counter, "Those of them that failed",
          counters.unpublished);
    write("skua_topics_messages_delivered", Counter, "Messages to subscribers, each on its own",
          counters.delivered);
    write("skua_topics_gaps", Counter, "Gaps that subscribers were told of", counters.gaps);
    write("skua_topics_bus_losses", Counter, "Times that the bus went away", counters.bus_losses);
  });
}

}  // namespace skua
