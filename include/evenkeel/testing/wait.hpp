// SPDX-License-Identifier: Apache-2.0
/// @file
/// Waits for effects of a running program on a server, for tests with sockets and threads: the embedded
/// server, a real control plane, or any other. Tests in virtual time (testing/harness.hpp) do not need them.
///
/// The functions do not poll: a watch triggers each check. They read from the server, not from a cache, and
/// throw WaitTimeout, which contains the expected and the found state, after `timeout` of real time. Failed
/// requests are retried until then.
/// Thread safety: may be called concurrently.
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Thrown if the condition was not met in time. what() is "waited 30s for Demo default/web to be ready: " and
/// the state that was seen last.
class EVENKEEL_API WaitTimeout : public Error {
 public:
  WaitTimeout(Duration waited, const std::string& what, const std::string& seen);
};

struct WaitOptions {
  Duration timeout = std::chrono::seconds{30};
};

/// Selects Events. Empty members match everything.
struct EventMatch {
  std::string namespace_ = {};
  std::string reason = {};
  std::string type = {};     ///< "Normal" or "Warning".
  std::string kind = {};     ///< Kind of the object that it is about.
  std::string name = {};     ///< Name of the object that it is about.
  std::string message = {};  ///< A substring of the message.
};

namespace detail {

/// Calls `look` whenever something changes in the watched resource, until it returns "" for success;
/// otherwise it returns a description of the current state. `watch` selects a resource or a single object.
EVENKEEL_API void wait_for(const Client& client, const RestRequest& watch, const std::string& what,
                           const WaitOptions& options,
                           const std::function<std::string(const Client& client)>& look);

/// Returns "Demo default/web to be ready".
EVENKEEL_API std::string expectation(const ResourceId& resource, const ObjectKey& key, std::string_view what);
/// Formats a document for people, without managedFields.
EVENKEEL_API std::string pretty(std::string_view raw);
EVENKEEL_API std::string pretty(const std::vector<std::string_view>& raws);
/// Returns the members of `part` that a document lacks, followed by the document; "" if none.
EVENKEEL_API std::string missing_parts(const Json& part, std::string_view raw);

}  // namespace detail

/// Waits until the object exists and `condition(const T&)` holds: wait_for<Demo>(client, {"default", "web"},
/// "to be ready", [](const Demo& demo) { return demo.status.phase == "Ready"; }).
template <ObjectType T, std::predicate<const T&> Condition>
Snapshot<T> wait_for(const Client& client, const ObjectKey& key, std::string_view what, Condition condition,
                     const WaitOptions& options = {}) {
  Snapshot<T> found;
  detail::wait_for(client, {.resource = T::resource, .namespace_ = key.namespace_, .name = key.name},
                   detail::expectation(T::resource, key, what), options,
                   [&](const Client& bound) -> std::string {
                     found = bound.find<T>(key);
                     if (!found) return "it does not exist";
                     return condition(*found) ? "" : "it is\n" + detail::pretty(found.raw());
                   });
  return found;
}

/// Waits until the object exists and contains `part`, see missing(); the exception lists the differences.
template <ObjectType T>
Snapshot<T> wait_for(const Client& client, const ObjectKey& key, const Json& part,
                     const WaitOptions& options = {}) {
  Snapshot<T> found;
  detail::wait_for(client, {.resource = T::resource, .namespace_ = key.namespace_, .name = key.name},
                   detail::expectation(T::resource, key, "to have " + part.dump()), options,
                   [&](const Client& bound) -> std::string {
                     found = bound.find<T>(key);
                     return found ? detail::missing_parts(part, found.raw()) : "it does not exist";
                   });
  return found;
}

template <ObjectType T>
void wait_until_gone(const Client& client, const ObjectKey& key, const WaitOptions& options = {}) {
  detail::wait_for(client, {.resource = T::resource, .namespace_ = key.namespace_, .name = key.name},
                   detail::expectation(T::resource, key, "to be gone"), options,
                   [&](const Client& bound) -> std::string {
                     const Snapshot<T> found = bound.find<T>(key);
                     return found ? "it is there still:\n" + detail::pretty(found.raw()) : "";
                   });
}

/// Waits until `condition(const std::vector<Snapshot<T>>&)` holds for the objects that `which` selects.
template <ObjectType T, std::predicate<const std::vector<Snapshot<T>>&> Condition>
std::vector<Snapshot<T>> wait_for_list(const Client& client, const ListOptions& which, std::string_view what,
                                       Condition condition, const WaitOptions& options = {}) {
  std::vector<Snapshot<T>> found;
  detail::wait_for(client, {.resource = T::resource, .namespace_ = which.namespace_},
                   "the list of " + std::string(T::resource.plural) + " " + std::string(what), options,
                   [&](const Client& bound) -> std::string {
                     found = bound.list<T>(which).items;
                     if (condition(found)) return "";
                     std::vector<std::string_view> raws;
                     for (const Snapshot<T>& object : found) raws.push_back(object.raw());
                     return detail::pretty(raws);
                   });
  return found;
}

/// Returns the existing Events that match, in the order of their names.
EVENKEEL_API std::vector<Snapshot<core_v1::Event>> events(const Client& client, const EventMatch& match);
/// Waits for an Event; the exception lists the existing ones.
EVENKEEL_API Snapshot<core_v1::Event> wait_for_event(const Client& client, const EventMatch& match,
                                                     const WaitOptions& options = {});

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
