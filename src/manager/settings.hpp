// SPDX-License-Identifier: Apache-2.0
// What an operator's users say of its controllers, by flags and in a file, and which of it counts.
// docs/flags.md is the description for people.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/manager/endpoint.hpp>
#include <evenkeel/ratelimit/parse.hpp>
#include <evenkeel/workqueue/debounce.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Of one controller, or of all. What is unset is not spoken of.
struct ControllerSettings {
  std::optional<std::size_t> workers = {};
  std::optional<LimiterText> rate_limiter = {};
  std::optional<Duration> reconcile_timeout = {};
  std::optional<EventGate> event_gate = {};
  std::optional<std::string> store = {};  ///< One of the words that parse_store() takes.
  std::optional<Debounce> debounce = {};
  std::optional<Duration> min_interval = {};
  std::optional<Duration> stuck_after = {};
  std::optional<OnStuck> on_stuck = {};
  std::optional<std::size_t> flight_recorder = {};  ///< Bytes.
};

/// Of the manager's endpoint; see EndpointOptions.
struct EndpointSettings {
  std::optional<std::string> metrics_address = {};
  std::optional<std::string> metrics_cert_file = {};
  std::optional<std::string> metrics_key_file = {};
  std::optional<std::string> metrics_token_file = {};
  std::optional<std::string> probe_address = {};
  std::optional<Explanations> explanations = {};
};

/// What `flags` say, else what `file` says, else what `program` says.
EndpointOptions endpoint_options(const EndpointSettings& flags, const EndpointSettings& file,
                                 EndpointOptions program);

/// All that one source says: the command line, or a file.
struct SettingsSource {
  struct Named {
    ControllerSettings settings = {};
    std::string where = {};  ///< For messages: "--workers" or "operator.yaml:7: controllers.demo".
  };
  ControllerSettings defaults = {};
  std::map<std::string, Named> controllers = {};
  EndpointSettings endpoint = {};
};

/// Whose word counts: a flag that names the controller, the file's section of it, the program, a flag that
/// names none, the defaults of the file.
/// Thread safety: all members may be called concurrently.
class Settings {
 public:
  Settings(SettingsSource flags, SettingsSource file) : flags_(std::move(flags)), file_(std::move(file)) {}

  /// Puts what users say into `options`, as far as it counts, and remembers the name as a known one. Returns
  /// the text of the limiter that is in force.
  std::string apply(ControllerOptions& options) EVENKEEL_EXCLUDES(mutex_);
  /// The complaint about a name that no controller has that apply() saw; nothing if there is none.
  std::optional<std::string> unknown_name() const EVENKEEL_EXCLUDES(mutex_);

 private:
  const SettingsSource flags_;
  const SettingsSource file_;
  mutable Mutex mutex_;
  std::set<std::string> known_ EVENKEEL_GUARDED_BY(mutex_);
};

/// How values are written. Each throws std::invalid_argument, which says what was found and what is expected.
std::size_t parse_workers(std::string_view text);
Duration parse_timeout(std::string_view text);           ///< "500ms", "1h30m", "0"; not negative.
EventGate parse_event_gate(std::string_view text);       ///< "on" or "off".
std::string parse_store(std::string_view text);          ///< "priority", "fifo", "two-lane" or "fair".
OnStuck parse_on_stuck(std::string_view text);           ///< "failLiveness" or "report".
std::size_t parse_size(std::string_view text);           ///< Bytes: "0", "65536", "512Ki", "1Mi".
Explanations parse_explanations(std::string_view text);  ///< "on" or "off".
std::string parse_bind_address(std::string_view text);   ///< "host:port", ":port", or "0".

/// The backing store that goes by one of these words.
AnyStore<RequestKey> make_store(std::string_view word);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
