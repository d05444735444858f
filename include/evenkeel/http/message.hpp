// SPDX-License-Identifier: Apache-2.0
// Requests and responses as plain values; what moves them is http/transport.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace http {

enum class Method : std::uint8_t { get, post, put, patch, delete_ };
/// "GET", "POST", "PUT", "PATCH" or "DELETE".
EVENKEEL_API std::string_view method_name(Method method) noexcept;

/// Header lines in order; names compare without regard to case.
class EVENKEEL_API Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> lines) : lines_(lines) {}

  /// The first value of `name`, or nullptr.
  const std::string* find(std::string_view name) const noexcept;
  /// Replaces all lines of `name`.
  void set(std::string_view name, std::string value);
  void add(std::string name, std::string value) { lines_.emplace_back(std::move(name), std::move(value)); }
  auto begin() const noexcept { return lines_.begin(); }
  auto end() const noexcept { return lines_.end(); }
  std::size_t size() const noexcept { return lines_.size(); }

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
};

/// A check whether a write may leave, for example of a leader's (election/elector.hpp).
/// Thread safety: called concurrently, also on a transport's thread; must not block.
class WriteGuard {
 public:
  virtual ~WriteGuard() = default;
  /// Throws an Error to hold the write back.
  virtual void check() const = 0;
  /// The moment from which check() throws as things stand; it may move on later.
  virtual TimePoint valid_until() const noexcept { return TimePoint::max(); }
};

struct Request {
  Method method = Method::get;
  std::string target = {};  ///< Path and query, percent-encoded: "/api/v1/pods?limit=500".
  Headers headers = {};
  std::string body = {};
  /// Ends the exchange with a TransportError; unset: the transport's default (requests 60 s, streams none).
  std::optional<TimePoint> deadline = {};
  /// Longest silence of a stream before it counts as dead; unset: the transport's default (150 s).
  std::optional<Duration> idle_timeout = {};
  /// Asked each time that bytes of the request are about to leave: what its check() throws ends the exchange.
  /// A request that waits for its answer at valid_until() ends with TransportErrorCode::timeout.
  std::shared_ptr<const WriteGuard> guard = {};
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// Percent-encodes everything but letters, digits and "-._~".
EVENKEEL_API std::string percent_encode(std::string_view text);
/// Undoes it ("+" stays "+" unless `plus_is_space`); broken escapes are kept as they are.
EVENKEEL_API std::string percent_decode(std::string_view text, bool plus_is_space = false);

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
