// SPDX-License-Identifier: Apache-2.0
// HTTP requests and responses as plain values; http/transport.hpp sends them.
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

/// Header lines in order; names are compared case-insensitively.
class EVENKEEL_API Headers {
 public:
  Headers() = default;
  Headers(std::initializer_list<std::pair<std::string, std::string>> lines) : lines_(lines) {}

  /// Returns the first value of `name`, or nullptr.
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

/// A check that can refuse to send a write, for example because leadership was lost (election/elector.hpp).
/// Thread safety: called concurrently, also on a transport's thread; must not block.
class WriteGuard {
 public:
  virtual ~WriteGuard() = default;
  /// Throws an Error to prevent the write.
  virtual void check() const = 0;
  /// Returns the time from which check() will throw, as currently known; it may become later.
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
  /// Checked each time that bytes of the request are about to be sent; an exception from its check() ends the
  /// exchange. A request that still waits for its response at valid_until() ends with
  /// TransportErrorCode::timeout.
  std::shared_ptr<const WriteGuard> guard = {};
};

struct Response {
  int status = 0;
  Headers headers = {};
  std::string body = {};
};

/// Percent-encodes everything except letters, digits and "-._~".
EVENKEEL_API std::string percent_encode(std::string_view text);
/// Reverses percent_encode() ("+" stays "+" unless `plus_is_space`); invalid escapes are kept as they are.
EVENKEEL_API std::string percent_decode(std::string_view text, bool plus_is_space = false);

}  // namespace http
}  // namespace v0
}  // namespace evenkeel
