// SPDX-License-Identifier: Apache-2.0
// Decides which clusters are engaged and which leave, from what providers offer.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/clusters/cluster.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Clusters by name. Of several providers that offer a name, the first one counts until it withdraws it. A
/// cluster whose configuration changes leaves and is engaged again.
///
/// Driver:
///  1. calls on_offered() and on_withdrawn() for what providers report;
///  2. takes each next_step() and does it: `engage` makes client and cache, `leave` ends the watches and
///     begins no further run;
///  3. calls on_drained() when no run of a cluster that leaves is left, on_failed() if it cannot be engaged,
///     and on_overflow() if it is larger than allowed;
///  4. does `retire`, which frees client and cache, and calls on_retired().
/// Thread safety: one thread at a time.
class MembershipCore {
 public:
  enum class StepKind : std::uint8_t { engage, leave, retire };
  struct Step {
    StepKind kind = StepKind::engage;
    std::string name = {};
    ClusterDescription description = {};  // for engage
  };
  enum class Phase : std::uint8_t { absent, engaged, failed, leaving };

  /// Returns false if another provider offers this name; it counts once that one has withdrawn it.
  bool on_offered(std::string_view provider, ClusterDescription description);
  void on_withdrawn(std::string_view provider, std::string_view name);
  void on_failed(std::string_view name);
  /// An engaged cluster has to leave, and counts as failed once it has.
  void on_overflow(std::string_view name);
  void on_drained(std::string_view name);
  void on_retired(std::string_view name);
  /// All clusters leave; further offers are ignored. Final.
  void stop();

  /// Returns the next thing to do; std::nullopt: nothing now. Complexity: logarithmic for each change.
  std::optional<Step> next_step();

  Phase phase(std::string_view name) const;
  /// Returns true once every cluster has left, after stop().
  bool is_empty() const { return clusters_.empty(); }
  bool is_stopping() const { return stopping_; }

 private:
  struct Offer {
    std::string provider;
    ClusterDescription description;
  };
  struct Entry {
    std::vector<Offer> offers = {};  // in their order; the first one counts
    Phase phase = Phase::absent;
    std::string version = {};   // of the configuration that is engaged
    std::string provider = {};  // that offered it
    bool drained = false;
    bool retiring = false;
    bool overflowed = false;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  static bool is_wanted(const Entry& entry) { return !entry.offers.empty(); }
  static bool is_current(const Entry& entry);
  std::optional<Step> step_of(const std::string& name, Entry& entry);
  /// Returns the entry of a cluster of which something changed; null if it is unknown.
  Entry* changed(std::string_view name);

  Entries clusters_;
  std::set<std::string, std::less<>> changed_;  // that may have a next step
  bool stopping_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
