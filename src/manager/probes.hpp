// SPDX-License-Identifier: Apache-2.0
// Named checks, and the response of a probe: 200 if all of them pass.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/serve/server.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// The checks of one kind of probe.
/// Thread safety: all members may be called concurrently; checks are called under no lock, by several threads
/// at once.
/// Source: controller-runtime pkg/healthz; unlike it, the response to all checks also contains the errors,
/// which the response to each single check contains anyway.
class Probe {
 public:
  /// Returns "" for success, or the problem. An exception is a failure, too.
  using Check = std::function<std::string()>;
  struct Result {
    std::string name = {};
    std::string problem = {};
    bool excluded = false;
  };

  /// `name` is for the log: "healthz".
  Probe(std::string name, Log log) : name_(std::move(name)), log_(std::move(log)) {}

  /// Throws std::invalid_argument if the name is empty, taken, or contains a control character.
  void add(std::string name, Check check) EVENKEEL_EXCLUDES(mutex_);
  /// Answers for one check, or for all if `check` is empty. `target` may exclude checks and request verbose
  /// output.
  http::Response answer(std::string_view check, const http::Target& target) EVENKEEL_EXCLUDES(mutex_);

 private:
  std::string ask(const std::string& name, const Check& check) EVENKEEL_EXCLUDES(mutex_);
  http::Response answer_all(const http::Target& target) EVENKEEL_EXCLUDES(mutex_);

  const std::string name_;
  const Log log_;
  Mutex mutex_;
  std::map<std::string, Check, std::less<>> checks_ EVENKEEL_GUARDED_BY(mutex_);
  // The stable part of each check's last result.
  std::map<std::string, std::string> problems_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Returns the text of a response for all checks. Pure.
std::string probe_text(std::string_view probe, const std::vector<Probe::Result>& results,
                       const std::set<std::string>& unknown_excludes, bool verbose);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
