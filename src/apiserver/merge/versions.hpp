// SPDX-License-Identifier: Apache-2.0
// Changes of an object as the other versions of its kind see them: each manager owns fields of the version in
// which it wrote. Source: structured-merge-diff merge/update.go.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <evenkeel/api/json.hpp>

#include "apiserver/merge/field_set.hpp"
#include "apiserver/merge/managed_fields.hpp"
#include "apiserver/merge/managers.hpp"
#include "apiserver/schema/defaults.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

/// Interface of the versions of a kind whose documents differ.
class OtherVersions {
 public:
  virtual ~OtherVersions() = default;
  /// Returns the schema of a version ("example.com/v1"). Throws StatusError if the kind has it no more.
  virtual const KindSchema& schema(const std::string& api_version) = 0;
  /// Returns the object in a version. Throws StatusError, also if the kind has the version no more.
  virtual Json convert(const Json& object, const std::string& api_version) = 0;
};

/// Returns the schema of a version as a write in `kind` knows it: `kind` itself if the versions do not
/// differ. Throws StatusError.
const KindSchema& schema_of(const std::string& api_version, const KindSchema& kind,
                            const WriteContext& context);

/// Returns `object` in a version, as it is if the versions do not differ. Throws StatusError, its text after
/// `failure`.
Json in_version_of(const Json& object, const std::string& api_version, const WriteContext& context,
                   const std::string& failure);

/// The change of an object by one write.
/// Lifetime: keeps references to all arguments but `changes`.
class VersionedChanges {
 public:
  /// `changes` are those in the version of the write.
  VersionedChanges(const Json& before, const Json& after, Comparison changes, const KindSchema& kind,
                   const WriteContext& context)
      : before_(before), after_(after), changes_(std::move(changes)), kind_(kind), context_(context) {}

  const Comparison& own() const { return changes_; }
  /// Returns the changes that a manager of a version sees. Throws StatusError; like a real server, also for a
  /// version that was removed: its managers have to be removed first.
  const Comparison& seen_in(const std::string& api_version);
  /// Takes the changed and removed fields from all managers but `except`, and drops those that have none
  /// left.
  void take_from(Managers& managers, const std::optional<ManagerId>& except);

 private:
  const Json& before_;
  const Json& after_;
  const Comparison changes_;
  const KindSchema& kind_;
  const WriteContext& context_;
  std::map<std::string, Comparison> others_ = {};
};

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
