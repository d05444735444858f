// SPDX-License-Identifier: Apache-2.0
// The webhooks and conversions of a manager.
#pragma once

#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/conversion.hpp>
#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: all members may be called concurrently.
class WebhookTable {
 public:
  /// Throw std::invalid_argument if the kind has some already, or once close() was called.
  void add(Webhook webhook) EVENKEEL_EXCLUDES(mutex_);
  void add(Conversion conversion) EVENKEEL_EXCLUDES(mutex_);
  void close() EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if close() was called, and there are some.
  bool are_served() const EVENKEEL_EXCLUDES(mutex_);

  std::vector<Webhook> webhooks() const EVENKEEL_EXCLUDES(mutex_);
  std::vector<Conversion> conversions() const EVENKEEL_EXCLUDES(mutex_);
  /// Returns the definitions of the versions that conversions name and the program owns.
  std::vector<Json> crds() const EVENKEEL_EXCLUDES(mutex_);
  /// Names of the definitions of kinds with a conversion: "websites.demo.example.com".
  std::vector<std::string> converted_crds() const EVENKEEL_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  bool closed_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::vector<Webhook> webhooks_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<Conversion> conversions_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
