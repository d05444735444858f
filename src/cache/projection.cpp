// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>

#include <evenkeel/base/mutex.hpp>
#include <evenkeel/cache/projection.hpp>

#include "cache/projected_parts.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

using Types = std::set<const TypeInfo*>;

/// Returns the type of a value that is there: of an optional, that of its value.
const TypeInfo& present(const TypeInfo& type) {
  const TypeInfo* inner = &type;
  while (inner->kind == TypeKind::optional) inner = &inner->item();
  return *inner;
}

bool is_before(const ProjectedParts& member, std::string_view name) {
  return member.name < name;
}

/// Adds what a struct has to the parts of a value. Structs cannot contain themselves but in lists and maps,
/// which are whole, so the recursion ends.
void add(const TypeInfo& type, ProjectedParts& parts) {
  if (parts.whole) return;
  if (type.kind != TypeKind::record) {
    parts.whole = true;
    parts.members.clear();
    return;
  }
  for (const Field& field : type.fields) {
    auto at = std::lower_bound(parts.members.begin(), parts.members.end(), field.wire, is_before);
    if (at == parts.members.end() || at->name != field.wire)
      at = parts.members.insert(at, {.name = field.wire});
    add(present(field.type()), *at);
  }
}

ProjectedParts parts_of(const Types& types) {
  ProjectedParts parts;
  for (const char* always : {"apiVersion", "kind", "metadata"})
    parts.members.push_back({.name = always, .whole = true});
  for (const TypeInfo* type : types) add(*type, parts);
  return parts;
}

/// The parts of each set of structs that was asked for; as many as the program has such sets.
class PartsTable {
 public:
  const ProjectedParts* of(Types types) EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    auto found = parts_.find(types);
    if (found == parts_.end()) {
      ProjectedParts parts = parts_of(types);
      found = parts_.emplace(std::move(types), std::move(parts)).first;
    }
    return &found->second;
  }
  Types types_of(const ProjectedParts* parts) const EVENKEEL_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    for (const auto& [types, known] : parts_) {
      if (&known == parts) return types;
    }
    return {};
  }

 private:
  mutable Mutex mutex_;
  std::map<Types, ProjectedParts> parts_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Never destroyed: objects that refer to it may be released by destructors of other static objects.
PartsTable& table() {
  static auto* const table = new PartsTable();
  return *table;
}

}  // namespace

const ProjectedParts* ProjectedParts::find(std::string_view wanted) const noexcept {
  const auto at = std::lower_bound(members.begin(), members.end(), wanted, is_before);
  return at == members.end() || at->name != wanted ? nullptr : &*at;
}

bool ProjectedParts::covers(const ProjectedParts& other) const noexcept {
  if (whole) return true;
  if (other.whole) return false;
  return std::all_of(other.members.begin(), other.members.end(), [this](const ProjectedParts& member) {
    const ProjectedParts* mine = find(member.name);
    return mine != nullptr && mine->covers(member);
  });
}

}  // namespace detail

Projection::Projection() : parts_(detail::table().of({})) {}
Projection::Projection(const TypeInfo& type) : parts_(detail::table().of({&type})) {}

Projection Projection::with(const Projection& other) const {
  detail::Types types = detail::table().types_of(parts_);
  types.merge(detail::table().types_of(other.parts_));
  return Projection(detail::table().of(std::move(types)));
}

bool Projection::covers(const Projection& other) const noexcept {
  return parts_ == other.parts_ || parts_->covers(*other.parts_);
}

}  // namespace v0
}  // namespace evenkeel
