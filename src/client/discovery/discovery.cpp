// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/discovery.hpp>
#include <evenkeel/client/errors.hpp>

#include "client/call/call_plan.hpp"
#include "client/discovery/discovery_table.hpp"
#include "client/request/bound_limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Source: client-go discovery/discovery_client.go, acceptDiscoveryFormats. v2beta1 has the same members.
constexpr const char* formats =
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,"
    "application/json";

Json read_document(const Client& client, const std::string& path) {
  const http::Response response = client.raw({.accept = formats, .path = path});
  return Json::parse(response.body, path);
}

/// Asks for one of the two documents that begin discovery. A server without it, or that forbids it, serves
/// nothing there, as in client-go.
void add_root(const Client& client, const std::string& path, DiscoveryTable& table) {
  Json document;
  try {
    document = read_document(client, path);
  } catch (const ApiError& error) {
    if (error.code() == 404 || error.code() == 403) return;
    throw;
  }
  DiscoveryTable groups;
  try {
    if (has_kind(document, "APIGroupDiscoveryList")) return table.add_aggregated(document);
    groups.add_groups(document);
  } catch (const DecodeError& error) {
    throw DecodeError(path, error.what());
  }
  // A dead API service answers 503, which is not worth a retry here.
  const Client once = client.with({.max_retries = 0});
  for (ServedGroupVersion& served : groups.versions()) {
    try {
      const Json list =
          read_document(once, (served.group.empty() ? "/api/" : "/apis/") + served.api_version());
      served.resources = read_resource_list(list, served.group, served.version);
    } catch (const ApiError& error) {
      served.problem = error.what();
    } catch (const DecodeError& error) {
      served.problem = error.what();
    }
    table.versions().push_back(std::move(served));
  }
}

}  // namespace

/// The table that the copies of a Discovery share. Thread safety: all members may be called concurrently.
class DiscoveryState {
 public:
  using Table = std::shared_ptr<const DiscoveryTable>;

  explicit DiscoveryState(DiscoveryOptions options) : options_(options) {}
  explicit DiscoveryState(Table table) : table_(std::move(table)) {}

  /// Returns the first finding that is not an error, from the table in memory or a newer one.
  template <class Lookup>
  ApiResource find(const Client* client, Lookup lookup) {
    const auto resolve = [&](const Table& table) -> DiscoveryMatch { return lookup(*table); };
    bool asked = false;
    const Table table = get(client, asked);
    DiscoveryMatch finding = resolve(table);
    if (const auto* error = std::get_if<DiscoveryError>(&finding)) {
      const bool hopeless = client == nullptr || asked || error->code() == DiscoveryErrorCode::ambiguous;
      if (hopeless || !may_refresh(*client)) throw *error;
      finding = resolve(newer_than(table, *client));
    }
    if (const auto* error = std::get_if<DiscoveryError>(&finding)) throw *error;
    return std::get<ApiResource>(std::move(finding));
  }

  /// Returns the table; asks the server if there is none yet.
  Table get(const Client* client, bool& asked) EVENKEEL_EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      if (table_) return table_;
    }
    asked = true;
    return newer_than(nullptr, *client);
  }

  /// Returns a table other than `known`, which it fetches unless another caller does.
  Table newer_than(const Table& known, const Client& unlimited) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  /// Fetches a table that is not older than this call.
  void refresh(const Client& unlimited) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;

 private:
  /// Returns a client whose requests share the deadline of one call.
  static Client within_one_deadline(const Client& client) {
    return Client(client.state_, detail::within_one_deadline(*client.state_, client.call_));
  }
  bool may_refresh(const Client& client) EVENKEEL_EXCLUDES(mutex_);
  /// Blocks until the running fetch has ended. Throws at the limits of `client`.
  void wait_for_other(MutexLock& lock, const Client& client) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void fetch(MutexLock& lock, const Client& client) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;

  const DiscoveryOptions options_ = {};
  Mutex mutex_;
  CondVar changed_;  // notified when a fetch has ended
  Table table_ EVENKEEL_GUARDED_BY(mutex_);
  bool is_fetching_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::uint64_t fetches_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  TimePoint fetched_at_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  std::exception_ptr failure_ EVENKEEL_GUARDED_BY(mutex_);  // of the last fetch, for all callers
};

namespace {

/// Returns false for a failure that only says that the caller had no time or was stopped.
bool is_shared(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Cancelled&) {
    return false;
  } catch (const TransportError& error) {
    return error.code() != TransportErrorCode::timeout;
  } catch (...) {
    return true;
  }
}

}  // namespace

DiscoveryState::Table DiscoveryState::newer_than(const Table& known, const Client& unlimited) {
  const Client client = within_one_deadline(unlimited);
  const StopWaker waker(client.call_options().stop.value_or(std::stop_token()), mutex_, changed_);
  MutexLock lock(mutex_);
  while (table_ == known) {
    if (!is_fetching_) {
      fetch(lock, client);
    } else {
      wait_for_other(lock, client);
      if (failure_) std::rethrow_exception(failure_);
    }
  }
  return table_;
}

void DiscoveryState::refresh(const Client& unlimited) {
  const Client client = within_one_deadline(unlimited);
  const StopWaker waker(client.call_options().stop.value_or(std::stop_token()), mutex_, changed_);
  MutexLock lock(mutex_);
  while (is_fetching_) wait_for_other(lock, client);
  fetch(lock, client);
}

void DiscoveryState::wait_for_other(MutexLock& lock, const Client& client) {
  const BoundLimits limits(client);
  const std::uint64_t running = fetches_;
  while (fetches_ == running) {
    if (limits.reached(client.clock()->now())) limits.fail("discovery");
    limits.wait(*client.clock(), changed_, lock);
  }
}

void DiscoveryState::fetch(MutexLock& lock, const Client& client) {
  is_fetching_ = true;
  const Table before = table_;
  lock.unlock();
  auto table = std::make_shared<DiscoveryTable>();
  std::exception_ptr failure;
  try {
    add_root(client, "/api", *table);
    add_root(client, "/apis", *table);
    if (before) table->complete_from(*before);
  } catch (...) {
    failure = std::current_exception();
  }
  const TimePoint now = client.clock()->now();
  lock.lock();
  is_fetching_ = false;
  ++fetches_;
  failure_ = failure && is_shared(failure) ? failure : nullptr;
  if (!failure) table_ = std::move(table);
  if (!failure || failure_) fetched_at_ = now;
  changed_.notify_all();
  if (failure) std::rethrow_exception(failure);
}

// A refresh that failed a moment ago is not repeated; its error is the answer.
bool DiscoveryState::may_refresh(const Client& client) {
  const TimePoint now = client.clock()->now();
  MutexLock lock(mutex_);
  if (now >= deadline_after(fetched_at_, options_.refresh_interval)) return true;
  if (failure_) std::rethrow_exception(failure_);
  return false;
}

}  // namespace detail

Discovery::Discovery(const Client& client, DiscoveryOptions options)
    : state_(std::make_shared<detail::DiscoveryState>(options)),
      client_(std::make_shared<const Client>(client)) {
  if (options.refresh_interval <= Duration::zero())
    throw std::invalid_argument("DiscoveryOptions.refresh_interval: must be positive");
}

Discovery::Discovery(const std::vector<ResourceId>& resources) {
  auto table = std::make_shared<detail::DiscoveryTable>();
  for (const ResourceId& id : resources) table->add(id);
  state_ = std::make_shared<detail::DiscoveryState>(std::move(table));
}

Discovery::Discovery(std::shared_ptr<detail::DiscoveryState> state, std::shared_ptr<const Client> client)
    : state_(std::move(state)), client_(std::move(client)) {}

Discovery Discovery::with(CallOptions options) const {
  return Discovery(state_,
                   client_ ? std::make_shared<const Client>(client_->with(std::move(options))) : nullptr);
}

ApiResource Discovery::find_kind(std::string_view group, std::string_view kind,
                                 std::string_view version) const {
  return state_->find(client_.get(), [&](const detail::DiscoveryTable& table) {
    return table.find_kind(group, kind, version);
  });
}

ApiResource Discovery::find_name(std::string_view name) const {
  return state_->find(client_.get(),
                      [&](const detail::DiscoveryTable& table) { return table.find_name(name); });
}

std::string Discovery::preferred_version(std::string_view group) const {
  const ApiResource version = state_->find(client_.get(), [&](const detail::DiscoveryTable& table) {
    const auto preferred = table.preferred_version(group);
    if (preferred) return detail::DiscoveryMatch(ApiResource{.id = {"", *preferred, "", ""}});
    return detail::DiscoveryMatch(
        DiscoveryError(DiscoveryErrorCode::no_match, "no match for group \"" + std::string(group) + "\""));
  });
  return version.id.version;
}

std::vector<ApiResource> Discovery::resources() const {
  bool asked = false;
  const auto table = state_->get(client_.get(), asked);
  std::vector<ApiResource> result;
  for (const auto& served : table->versions())
    result.insert(result.end(), served.resources.begin(), served.resources.end());
  return result;
}

void Discovery::refresh() const {
  if (client_) state_->refresh(*client_);
}

bool is_served(const Client& client, const ResourceId& resource) {
  const std::string path = (resource.group.empty() ? "/api/" : "/apis/") + resource.api_version();
  http::Response response;
  try {
    response = client.raw({.path = path});
  } catch (const ApiError& error) {
    if (error.code() == 404) return false;
    throw;
  }
  try {
    const Json document = Json::parse(response.body, path);
    const auto served = detail::read_resource_list(document, resource.group, resource.version);
    return std::any_of(served.begin(), served.end(), [&](const ApiResource& one) {
      return one.id.plural == resource.plural && one.id.kind == resource.kind;
    });
  } catch (const DecodeError& error) {
    throw DecodeError(path, error.what());
  }
}

}  // namespace v0
}  // namespace evenkeel
