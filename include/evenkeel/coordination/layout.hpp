// SPDX-License-Identifier: Apache-2.0
// Where everything that instances share stands below one root. Every key is of one scope, or of the arbiter,
// and a commit writes keys of one of them only: so that a store which can change one object at a time keeps
// each in an object.
//
//     <root>/<set>/<scope>/<unit>            a member: pendingForRestart/dc1/dc1-log-1
//     <root>/processAddresses/<scope>/<unit> facts about a unit
//     <root>/guard/<set>/<scope>             put again by whatever changes the set
//     <root>/tokens/<scope>                  the last commit of the scope's owner
//     <root>/instances/<scope>               who owns the scope, and whether it lives
//     <root>/arbiter/lock                    the lock
//     <root>/arbiter/denyList/<scope>        who may not act
//     <root>/arbiter/claims/<action>         what is being done
//     <root>/arbiter/targets/<action>/<scope>  to what it was done
//     <root>/arbiter/upgrades/<version>/<unit>
//     <root>/arbiter/migrating/<scope>       what moves to another scope in pieces
//     <root>/arbiter/tokens/<writer>         the last commit of a writer of the arbiter's keys
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The keys of one domain: of the system that the instances share. Elements may be any text but the empty one
/// (see keys.hpp), which throws std::invalid_argument. "_prefix" ends with '/'.
class EVENKEEL_API Layout {
 public:
  /// `root` without a '/' at its end; any bytes.
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
  std::string upgrade(std::string_view version, std::string_view unit) const;
  std::string upgrades_prefix() const;
  std::string upgrades_prefix(std::string_view version) const;
  std::string migrating(std::string_view scope) const;
  std::string migrating_prefix() const;
  std::string arbiter_token(std::string_view writer) const;

  /// "arbiter", or "scope." and the scope: what one commit of any store may write together, because it is
  /// kept in one object. "arbiter" also for what is no key of this layout.
  std::string shard_of(std::string_view key) const;

 private:
  std::string root_;
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
