// SPDX-License-Identifier: Apache-2.0
#include "manager/settings.hpp"

#include <charconv>
#include <cstdint>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/quantity.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/serve/server.hpp>
#include <evenkeel/workqueue/fair_store.hpp>
#include <evenkeel/workqueue/fifo_store.hpp>
#include <evenkeel/workqueue/priority_store.hpp>
#include <evenkeel/workqueue/two_lane_store.hpp>

#include "base/in_quotes.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Returns `first`, with unset members from `second`.
ControllerSettings merged(ControllerSettings first, const ControllerSettings& second) {
  const auto fill = [&](auto member) {
    if (!(first.*member)) first.*member = second.*member;
  };
  fill(&ControllerSettings::workers);
  fill(&ControllerSettings::rate_limiter);
  fill(&ControllerSettings::reconcile_timeout);
  fill(&ControllerSettings::event_gate);
  fill(&ControllerSettings::store);
  fill(&ControllerSettings::debounce);
  fill(&ControllerSettings::min_interval);
  fill(&ControllerSettings::requeue_priority);
  fill(&ControllerSettings::stuck_after);
  fill(&ControllerSettings::on_stuck);
  fill(&ControllerSettings::flight_recorder);
  return first;
}

ControllerSettings of(const SettingsSource& source, const std::string& name) {
  const auto found = source.controllers.find(name);
  return found == source.controllers.end() ? ControllerSettings{} : found->second.settings;
}

// Returns the members of `defaults` that the program does not set.
ControllerSettings left_open(ControllerSettings defaults, const ControllerOptions& options) {
  if (options.workers) defaults.workers.reset();
  if (options.limiter) defaults.rate_limiter.reset();
  if (options.reconcile_timeout) defaults.reconcile_timeout.reset();
  if (options.gate) defaults.event_gate.reset();
  if (options.store) defaults.store.reset();
  if (options.debounce.quiet > Duration::zero()) defaults.debounce.reset();
  if (options.min_interval > Duration::zero()) defaults.min_interval.reset();
  if (options.requeue_priority) defaults.requeue_priority.reset();
  if (options.stuck_after) defaults.stuck_after.reset();
  const ControllerOptions untouched;
  if (options.on_stuck != untouched.on_stuck) defaults.on_stuck.reset();
  if (options.flight_recorder_bytes != untouched.flight_recorder_bytes) defaults.flight_recorder.reset();
  return defaults;
}

void put(const ControllerSettings& settings, ControllerOptions& options) {
  if (settings.workers) options.workers = settings.workers;
  if (settings.rate_limiter) {
    options.limiter = [text = *settings.rate_limiter] { return text.limiter<RequestKey>(); };
  }
  if (settings.reconcile_timeout) {
    options.reconcile_timeout = settings.reconcile_timeout;
  }
  if (settings.event_gate) options.gate = settings.event_gate;
  if (settings.store) options.store = [word = *settings.store] { return make_store(word); };
  if (settings.debounce) options.debounce = *settings.debounce;
  if (settings.min_interval) options.min_interval = *settings.min_interval;
  if (settings.requeue_priority) options.requeue_priority = *settings.requeue_priority;
  if (settings.stuck_after) options.stuck_after = settings.stuck_after;
  if (settings.on_stuck) options.on_stuck = *settings.on_stuck;
  if (settings.flight_recorder) options.flight_recorder_bytes = *settings.flight_recorder;
}

}  // namespace

std::string Settings::apply(ControllerOptions& options) {
  {
    MutexLock lock(mutex_);
    known_.insert(options.name);
  }
  const ControllerSettings named = merged(of(flags_, options.name), of(file_, options.name));
  const ControllerSettings all = merged(named, left_open(merged(flags_.defaults, file_.defaults), options));
  const bool own_limiter = static_cast<bool>(options.limiter);
  put(all, options);
  if (all.rate_limiter) return all.rate_limiter->text();
  return own_limiter ? "the program's own" : "default()";
}

std::optional<std::string> Settings::unknown_name() const {
  MutexLock lock(mutex_);
  std::string there_are;
  for (const std::string& name : known_) there_are += (there_are.empty() ? "" : ", ") + name;
  for (const SettingsSource* source : {&flags_, &file_}) {
    for (const auto& [name, named] : source->controllers) {
      if (known_.count(name) != 0) continue;
      return named.where + ": there is no controller " + in_quotes(name) + "; there " +
             (known_.size() == 1 ? "is " : "are ") + (there_are.empty() ? "none" : there_are);
    }
  }
  return std::nullopt;
}

std::size_t parse_workers(std::string_view text) {
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < 1 || number > 4096) {
    throw std::invalid_argument(in_quotes(text) + " is not a number from 1 to 4096");
  }
  return number;
}

Duration parse_timeout(std::string_view text) {
  const std::optional<Duration> duration = parse_duration(text);
  if (!duration || *duration < Duration::zero()) {
    throw std::invalid_argument(in_quotes(text) + " is not a duration such as 500ms, 30s, 2m or 1h30m");
  }
  return *duration;
}

Duration parse_limit(std::string_view text) {
  const Duration duration = parse_timeout(text);
  if (duration == Duration::zero()) throw std::invalid_argument(in_quotes(text) + " is not more than 0");
  return duration;
}

EventGate parse_event_gate(std::string_view text) {
  if (text == "on") return EventGate::on;
  if (text == "off") return EventGate::off;
  throw std::invalid_argument(in_quotes(text) + " is neither on nor off");
}

Lane parse_lane(std::string_view text) {
  if (text == "fast") return Lane::fast;
  if (text == "slow") return Lane::slow;
  throw std::invalid_argument(in_quotes(text) + " is neither fast nor slow");
}

OnStuck parse_on_stuck(std::string_view text) {
  if (text == "failLiveness") return OnStuck::fail_liveness;
  if (text == "report") return OnStuck::report;
  throw std::invalid_argument(in_quotes(text) + " is neither failLiveness nor report");
}

std::size_t parse_size(std::string_view text) {
  constexpr std::int64_t most = std::int64_t{1} << 30;
  const std::optional<Quantity> size = Quantity::parse(text);
  if (!size || size->value() < 0 || size->value() > most) {
    throw std::invalid_argument(in_quotes(text) + " is not a size from 0 to 1Gi such as 65536, 512Ki or 1Mi");
  }
  return static_cast<std::size_t>(size->value());
}

Explanations parse_explanations(std::string_view text) {
  return parse_event_gate(text) == EventGate::on ? Explanations::on : Explanations::off;
}

AccessReviews parse_access_reviews(std::string_view text) {
  return parse_event_gate(text) == EventGate::on ? AccessReviews::on : AccessReviews::off;
}

Console parse_console(std::string_view text) {
  return parse_event_gate(text) == EventGate::on ? Console::on : Console::off;
}

std::string parse_store(std::string_view text) {
  for (const std::string_view word : {"priority", "fifo", "two-lane", "fair"}) {
    if (text == word) return std::string(text);
  }
  throw std::invalid_argument(in_quotes(text) + " is none of priority, fifo, two-lane, fair");
}

std::string parse_bind_address(std::string_view text) {
  if (text != "0") http::check_address(text);
  return std::string(text);
}

EndpointOptions endpoint_options(const EndpointSettings& flags, const EndpointSettings& file,
                                 EndpointOptions program) {
  const auto choose = [&](auto member, auto& target) {
    if (file.*member) target = *(file.*member);
    if (flags.*member) target = *(flags.*member);
  };
  choose(&EndpointSettings::metrics_address, program.metrics_address);
  choose(&EndpointSettings::metrics_cert_file, program.metrics_tls.certificate);
  choose(&EndpointSettings::metrics_key_file, program.metrics_tls.key);
  choose(&EndpointSettings::metrics_token_file, program.metrics_token_file);
  choose(&EndpointSettings::probe_address, program.probe_address);
  choose(&EndpointSettings::explanations, program.explanations);
  choose(&EndpointSettings::access_reviews, program.access_reviews);
  choose(&EndpointSettings::console, program.console);
  return program;
}

AnyStore<RequestKey> make_store(std::string_view word) {
  if (word == "fifo") return FifoStore();
  if (word == "two-lane") return TwoLaneStore();
  if (word == "fair") return FairStore<RequestKey>();
  return PriorityStore();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
