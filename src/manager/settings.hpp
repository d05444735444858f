// SPDX-License-Identifier: Apache-2.0
// Settings of an operator by flags and a file, and their precedence. docs/flags.md is the description for
// users.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/ratelimit/parse.hpp>
#include <evenkeel/workqueue/debounce.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Settings of one controller, or of all. Unset members are not specified.
struct ControllerSettings {
  std::optional<std::size_t> workers = {};
  std::optional<LimiterText> rate_limiter = {};
  std::optional<Duration> reconcile_timeout = {};
  std::optional<EventGate> event_gate = {};
  std::optional<std::string> store = {};  ///< A word that parse_store() accepts.
  std::optional<Debounce> debounce = {};
  std::optional<Duration> min_interval = {};
  std::optional<Lane> requeue_priority = {};
  std::optional<Duration> stuck_after = {};
  std::optional<OnStuck> on_stuck = {};
  std::optional<std::size_t> flight_recorder = {};  ///< Bytes.
};

/// Settings of the manager's endpoint; see EndpointOptions.
struct EndpointSettings {
  std::optional<std::string> metrics_address = {};
  std::optional<std::string> metrics_cert_file = {};
  std::optional<std::string> metrics_key_file = {};
  std::optional<std::string> metrics_token_file = {};
  std::optional<std::string> probe_address = {};
  std::optional<Explanations> explanations = {};
  std::optional<AccessReviews> access_reviews = {};
  std::optional<Console> console = {};
};

/// Merges settings; `flags` take precedence over `file`, and `file` over `program`.
EndpointOptions endpoint_options(const EndpointSettings& flags, const EndpointSettings& file,
                                 EndpointOptions program);

/// The settings of one source: the command line, or a file.
struct SettingsSource {
  struct Named {
    ControllerSettings settings = {};
    std::string where = {};  ///< For messages: "--workers" or "operator.yaml:7: controllers.demo".
  };
  ControllerSettings defaults = {};
  std::map<std::string, Named> controllers = {};
  EndpointSettings endpoint = {};
};

/// Order of precedence: a flag that names the controller, its section in the file, the program, a flag
/// without a name, the defaults of the file.
/// Thread safety: all members may be called concurrently.
class Settings {
 public:
  Settings(SettingsSource flags, SettingsSource file) : flags_(std::move(flags)), file_(std::move(file)) {}

  /// Sets the members of `options` that users specify and that take precedence, and records the controller's
  /// name as known. Returns the text of the effective limiter.
  std::string apply(ControllerOptions& options) EVENKEEL_EXCLUDES(mutex_);
  /// Returns an error message for a name of which apply() has seen no controller; std::nullopt if there is
  /// none.
  std::optional<std::string> unknown_name() const EVENKEEL_EXCLUDES(mutex_);

 private:
  const SettingsSource flags_;
  const SettingsSource file_;
  mutable Mutex mutex_;
  std::set<std::string> known_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Parsers of values. Each throws std::invalid_argument with the value found and what is expected.
std::size_t parse_workers(std::string_view text);
Duration parse_timeout(std::string_view text);              ///< "500ms", "1h30m", "0"; not negative.
Duration parse_limit(std::string_view text);                ///< Like parse_timeout(), but not 0.
EventGate parse_event_gate(std::string_view text);          ///< "on" or "off".
std::string parse_store(std::string_view text);             ///< "priority", "fifo", "two-lane" or "fair".
Lane parse_lane(std::string_view text);                     ///< "fast" or "slow".
OnStuck parse_on_stuck(std::string_view text);              ///< "failLiveness" or "report".
std::size_t parse_size(std::string_view text);              ///< Bytes: "0", "65536", "512Ki", "1Mi".
Explanations parse_explanations(std::string_view text);     ///< "on" or "off".
AccessReviews parse_access_reviews(std::string_view text);  ///< "on" or "off".
Console parse_console(std::string_view text);               ///< "on" or "off".
std::string parse_bind_address(std::string_view text);      ///< "host:port", ":port", or "0".

/// Returns the backing store with this name.
AnyStore<RequestKey> make_store(std::string_view word);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
