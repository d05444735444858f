// SPDX-License-Identifier: Apache-2.0
// Decides which kinds of one server are read as streaming lists, from what the lists so far have shown.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Decides which informers of a server request a streaming list.
/// One informer of each kind tries, the others of that kind wait for its outcome. A kind that turns out not
/// to support streaming lists is listed in pages for `retry_after`: its server may be an aggregated one, or a
/// role may forbid the watch, so that other kinds are unaffected. If kinds of two API groups lack them and
/// none has them, the server does: kinds that were not tried yet are listed in pages as well. Restarts of a
/// server are not visible behind a load balancer; therefore only time ends a memory.
/// Driver:
///  1. calls on_request() before each streaming list, and does what it returns;
///  2. after Advice::stream, reports the outcome: on_complete(), on_unsupported(), or on_failed() for one
///     that says nothing about the server, including a list that was abandoned.
/// Thread safety: one thread at a time.
class StreamingCore {
 public:
  static constexpr Duration retry_after = std::chrono::hours{1};

  enum class Advice : std::uint8_t { stream, list, wait };
  /// Extent of what on_unsupported() has learned, for the log.
  enum class News : std::uint8_t { none, kind, server };

  Advice on_request(const ResourceId& resource, TimePoint now);
  /// Returns true if the kind was known not to support streaming lists.
  bool on_complete(const ResourceId& resource);
  News on_unsupported(const ResourceId& resource, TimePoint now);
  void on_failed(const ResourceId& resource);

 private:
  struct Kind {
    bool trying = false;                       // an informer requests it, and its outcome is not known
    bool works = false;                        // the last outcome
    bool lacks = false;                        // the last outcome, even if it is to be tried again
    TimePoint lacks_until = TimePoint::min();  // the time to try again
  };
  using Key = std::tuple<std::string, std::string, std::string>;  // group, version, plural

  static Key key_of(const ResourceId& resource) {
    return {resource.group, resource.version, resource.plural};
  }
  bool server_lacks(TimePoint now) const;

  std::map<Key, Kind> kinds_;
  TimePoint server_lacks_until_ = TimePoint::min();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
