// SPDX-License-Identifier: Apache-2.0
// The layout of the keys below one root. Every key belongs to one scope or to the arbiter, and a commit
// writes keys of only one of them, so that a store that can replace only one object at a time can keep each
// in its own object.
//
//     <root>/<set>/<scope>/<unit>            a member: pendingForRestart/dc1/dc1-log-1
//     <root>/processAddresses/<scope>/<unit> facts about a unit
//     <root>/guard/<set>/<scope>             written with every change of the set
//     <root>/guard/summaryFor<Action>/<scope>  counts of the scope's members of an action (SummaryRecord)
//     <root>/tokens/<scope>                  the last commit of the scope's owner
//     <root>/instances/<scope>               the registry record of the scope's owner
//     <root>/arbiter/lock                    the lock
//     <root>/arbiter/denyList/<scope>        a denied scope
//     <root>/arbiter/claims/<action>         the newest claim of an action
//     <root>/arbiter/targets/<action>/<scope>  the members that claims took
//     <root>/arbiter/taken/<action>          a summary of these members (TakenRecord)
//     <root>/arbiter/upgrades/<version>/<unit>  a unit that is ready for a version
//     <root>/arbiter/migrating/<scope>       a move to another scope in several commits
//     <root>/arbiter/tokens/<writer>         the last commit of a writer of the arbiter's keys: an instance;
//                                            <instance>/claims; coordctl
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The keys of one domain. Elements may be any non-empty text (see keys.hpp); an empty one throws
/// std::invalid_argument. The results of *_prefix() end with '/'.
class EVENKEEL_API Layout {
 public:
  /// `root` may hold any bytes and must not end with '/'.
  explicit Layout(std::string root) : root_(std::move(root)) {}
  const std::string& root() const noexcept { return root_; }
  std::string all_prefix() const { return root_ + "/"; }

  std::string member(std::string_view set, std::string_view scope, std::string_view unit) const;
  std::string scope_prefix(std::string_view set, std::string_view scope) const;
  std::string set_prefix(std::string_view set) const;
  std::string facts(std::string_view scope, std::string_view unit) const;
  std::string facts_prefix() const;
  std::string facts_prefix(std::string_view scope) const;
  std::string guard(std::string_view set, std::string_view scope) const;
  std::string guard_prefix(std::string_view set) const;
  std::string summary(std::string_view action, std::string_view scope) const;
  std::string summaries_prefix(std::string_view action) const;
  std::string token(std::string_view scope) const;
  std::string instance(std::string_view scope) const;
  std::string instances_prefix() const;

  std::string lock() const;
  std::string denied(std::string_view scope) const;
  std::string denied_prefix() const;
  std::string claim(std::string_view action) const;
  std::string claims_prefix() const;
  std::string targets(std::string_view action, std::string_view scope) const;
  std::string targets_prefix(std::string_view action) const;
  std::string taken(std::string_view action) const;
  std::string upgrade(std::string_view version, std::string_view unit) const;
  std::string upgrades_prefix() const;
  std::string upgrades_prefix(std::string_view version) const;
  std::string migrating(std::string_view scope) const;
  std::string migrating_prefix() const;
  std::string arbiter_token(std::string_view writer) const;

  /// Returns the shard of `key`: "arbiter", or "scope." followed by the scope. Every store can write the keys
  /// of one shard in one commit. Keys outside of this layout belong to "arbiter".
  std::string shard_of(std::string_view key) const;

 private:
  std::string root_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
