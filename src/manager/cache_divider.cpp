// SPDX-License-Identifier: Apache-2.0
#include "manager/cache_divider.hpp"

#include <chrono>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/metrics.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration answer_timeout = std::chrono::seconds{5};
constexpr Duration pause_between_questions = std::chrono::seconds{2};

}  // namespace

bool selects_shards(const Client& client, const std::string& namespace_) {
  const std::string any = HashRanges({{0, 1}}).shard_selector("object.metadata.namespace");
  const http::Response answer =
      client.raw({.query = {{"limit", "1"}, {"shardSelector", any}},
                  .path = "/apis/coordination.k8s.io/v1/namespaces/" + namespace_ + "/leases"});
  return Json::parse(answer.body).at({"metadata", "shardInfo"}).is_object();
}

CacheDivider::CacheDivider(Cache& cache, Client client, const ShardOptions& ring, Shards& shards, Log log)
    : cache_(cache),
      client_(std::move(client)),
      ring_(ring.name),
      label_(ring.label),
      namespace_(ring.namespace_.empty() ? client_.config().namespace_ : ring.namespace_),
      log_(std::move(log)) {
  shards.on_needed([this](const HashRanges& needed) {
    if (selects_.load()) cache_.select(needed);
  });
}

std::optional<bool> CacheDivider::ask(const std::stop_token& stop) {
  const Client client = client_.with({.stop = stop, .timeout = answer_timeout});
  try {
    return selects_shards(client, namespace_);
  } catch (const Cancelled&) {
    return std::nullopt;
  } catch (const Error& error) {
    log_.warn("cannot find out if the server selects shards; retrying", {{"error", error.what()}});
  }
  return std::nullopt;
}

bool CacheDivider::start_cache(const std::stop_token& stop) {
  if (!label_.empty()) {
    log_.info("the caches hold the share of this replica: the server selects it by a label",
              {{"label", label_}});
    begin(true);
    return true;
  }
  const StopWaker on_stop(stop, mutex_, changed_);
  std::optional<bool> selects = ask(stop);
  while (!selects) {
    const Clock& clock = *client_.clock();
    const TimePoint due = deadline_after(clock.now(), pause_between_questions);
    {
      MutexLock lock(mutex_);
      while (!stop.stop_requested() && clock.now() < due) clock.wait_until(changed_, lock, due);
    }
    if (stop.stop_requested()) return false;
    selects = ask(stop);
  }
  log_.info(*selects ? "the caches hold the share of this replica: the server selects it"
                     : "the caches hold all objects: the server does not select shards");
  begin(*selects);
  return true;
}

void CacheDivider::begin(bool selects) {
  if (selects) cache_.select(HashRanges());
  selects_.store(selects);
  cache_.start();
}

void CacheDivider::collect(MetricSink& sink) const {
  sink.gauge("evenkeel_shards_cache_selects",
             "1 if the server selects the share that the caches hold, 0 if they hold everything",
             {{"ring", ring_}}, selects_.load() ? 1 : 0);
  if (label_.empty()) return;
  const CellLabelCounts counts = cache_.cell_labels();
  sink.counter("evenkeel_shards_labelled_total", "Objects that were given the label of their cell",
               {{"ring", ring_}}, static_cast<double>(counts.labelled));
  sink.counter("evenkeel_shards_label_failures_total", "Patches of that label that failed; they are retried",
               {{"ring", ring_}}, static_cast<double>(counts.failures));
  sink.gauge("evenkeel_shards_label_waiting", "Objects that are to be given the label of their cell",
             {{"ring", ring_}}, static_cast<double>(counts.waiting));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
