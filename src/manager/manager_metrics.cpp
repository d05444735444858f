// SPDX-License-Identifier: Apache-2.0
// Exports the counters of a manager's parts. docs/metrics.md lists them.
#include <chrono>
#include <string>
#include <string_view>

#include <evenkeel/base/metrics.hpp>
#include <evenkeel/client/request_meter.hpp>
#include <evenkeel/manager/manager.hpp>
#include <evenkeel/metrics/registry.hpp>

#include "manager/cache_divider.hpp"
#include "manager/operations.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

std::string_view form_of(const CollectionHealth& one) {
  if (one.form == WireForm::projected) return "projected";
  return one.form == WireForm::metadata_only ? "metadata" : "";
}

// One series per kind and family; the series of a family are adjacent.
class CollectionFigures {
 public:
  CollectionFigures(const std::vector<CollectionHealth>& all, MetricSink& sink) : all_(all), sink_(sink) {}

  template <class Value>
  void gauge(std::string_view name, std::string_view help, Value value) {
    for (const CollectionHealth& one : all_) {
      labelled(one, [&](MetricLabels labels) {
        sink_.gauge(name, help, labels, static_cast<double>(value(one.informer)));
      });
    }
  }
  template <class Value>
  void counter(std::string_view name, std::string_view help, Value value) {
    for (const CollectionHealth& one : all_) {
      labelled(one, [&](MetricLabels labels) {
        sink_.counter(name, help, labels, static_cast<double>(value(one.informer)));
      });
    }
  }

 private:
  template <class Use>
  static void labelled(const CollectionHealth& one, Use use) {
    use({{"group", one.resource.group},
         {"version", one.resource.version},
         {"resource", one.resource.plural},
         {"namespace", one.namespace_},
         {"selector", one.selector},
         {"form", form_of(one)}});
  }

  const std::vector<CollectionHealth>& all_;
  MetricSink& sink_;
};

void collect_cache(const Cache& cache, TimePoint now, MetricSink& sink) {
  const std::vector<CollectionHealth> health = cache.health();
  CollectionFigures figures(health, sink);
  using Health = InformerHealth;
  figures.gauge("evenkeel_informer_synced", "1 if all objects were read once",
                [](const Health& one) { return one.synced ? 1 : 0; });
  figures.gauge("evenkeel_informer_objects", "Objects held", [](const Health& one) { return one.objects; });
  figures.gauge("evenkeel_informer_bytes", "Bytes of the objects held",
                [](const Health& one) { return one.bytes; });
  figures.counter("evenkeel_informer_lists_total", "Lists in pages begun, pages not counted",
                  [](const Health& one) { return one.counters.lists; });
  figures.counter("evenkeel_informer_streaming_lists_total", "Streaming lists begun",
                  [](const Health& one) { return one.counters.streaming_lists; });
  figures.counter("evenkeel_informer_streaming_fallbacks_total",
                  "Streaming lists that failed and were followed by a list in pages",
                  [](const Health& one) { return one.counters.streaming_fallbacks; });
  figures.counter("evenkeel_informer_restores_total", "Copies on disk that were taken over at the start",
                  [](const Health& one) { return one.counters.restores; });
  figures.counter("evenkeel_informer_watches_total", "Watches begun, streaming lists included",
                  [](const Health& one) { return one.counters.watches; });
  figures.counter("evenkeel_informer_events_total", "Events of watches, bookmarks included",
                  [](const Health& one) { return one.counters.events; });
  figures.counter("evenkeel_informer_expired_total", "Times that a resourceVersion was too old or too new",
                  [](const Health& one) { return one.counters.expired; });
  figures.counter("evenkeel_informer_failures_total", "Lists and watches that failed and were waited for",
                  [](const Health& one) { return one.counters.failures; });
  figures.counter("evenkeel_informer_undecodable_total", "Answers and objects that could not be read",
                  [](const Health& one) { return one.counters.undecodable; });
  figures.counter("evenkeel_informer_index_failures_total", "Calls of functions of indexes that threw",
                  [](const Health& one) { return one.index_failures; });
  figures.gauge("evenkeel_informer_seconds_since_last_event",
                "Time since the last event or list came; -1 before the first", [&](const Health& one) {
                  return one.last_event ? std::chrono::duration<double>(now - *one.last_event).count() : -1.0;
                });
  figures.gauge("evenkeel_informer_failing_seconds",
                "Seconds for which lists or watches have failed; 0 if they do not", [&](const Health& one) {
                  return one.failing_since ? std::chrono::duration<double>(now - *one.failing_since).count()
                                           : 0.0;
                });
  figures.gauge(
      "evenkeel_informer_missing_seconds",
      "Seconds for which objects have been missing: before the first list, or those of slots that this "
      "replica gained; 0 if none is",
      [&](const Health& one) {
        return one.missing_since ? std::chrono::duration<double>(now - *one.missing_since).count() : 0.0;
      });
  for (const CollectionHealth& one : health) {
    if (one.informer.problem == WatchProblem::none) continue;
    sink.gauge("evenkeel_informer_problem", "1 for what lists or watches fail with",
               {{"group", one.resource.group},
                {"version", one.resource.version},
                {"resource", one.resource.plural},
                {"namespace", one.namespace_},
                {"selector", one.selector},
                {"form", form_of(one)},
                {"problem", watch_problem_name(one.informer.problem)}},
               1);
  }
  sink.counter("evenkeel_cache_live_reads_total", "Reads that the cache could not answer and the server did",
               {}, static_cast<double>(cache.live_reads()));
}

// Adds up all clients of one server, as client-go does.
void collect_requests(const Client& client, const Client* election, MetricSink& sink) {
  RequestMetrics requests = client.meter()->metrics();
  if (election != nullptr && election->meter() != client.meter()) {
    const RequestMetrics more = election->meter()->metrics();
    if (more.host == requests.host) {
      requests += more;
    } else {
      collect(more, sink);
    }
  }
  collect(requests, sink);
}

}  // namespace

MetricRegistry& Manager::metrics() noexcept {
  return operations().metrics();
}

void Manager::collect(MetricSink& sink) const {
  for (const Controller* controller : controllers()) controller->collect(sink);
  collect_cache(cache(), clock().now(), sink);
  collect_requests(client(), election_client(), sink);
  if (const std::string lease = election_name(); !lease.empty()) {
    sink.gauge("leader_election_master_status", "1 if this instance leads, 0 if it stands by",
               {{"name", lease}}, is_leader() ? 1 : 0);
  }
  if (shards() != nullptr) shards()->collect(sink);
  if (cache_divider() != nullptr) cache_divider()->collect(sink);
  cluster_set().collect(sink);
  events().collect(sink);
  operations().metrics().collect(sink);
}

}  // namespace v0
}  // namespace evenkeel
