// SPDX-License-Identifier: Apache-2.0
// Server-side apply. Source: structured-merge-diff merge/update.go and apimachinery pkg/util/managedfields.
#include <algorithm>
#include <iterator>
#include <map>
#include <stdexcept>
#include <utility>

#include "apiserver/merge/managed_update.hpp"
#include "apiserver/merge/typed_check.hpp"
#include "apiserver/text/go_json.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {

namespace {

constexpr std::string_view last_applied_annotation = "kubectl.kubernetes.io/last-applied-configuration";

constexpr const char* prune_failure = "failed to prune fields: ";

/// Conflicting fields with their owners.
using Conflicts = std::vector<std::pair<ManagerId, FieldPath>>;

std::string group_kind_text(const Json& object) {
  const std::string api_version = object["apiVersion"].string_or("");
  return (api_version.find('/') == std::string::npos ? "/" : "") + api_version +
         ", Kind=" + object["kind"].string_or("");
}

void check_applied(const Json& applied, const KindSchema& kind) {
  if (applied["apiVersion"].string_or("") != kind.api_version() || applied["kind"].string_or("") != kind.kind)
    throw ApplyError("invalid object type: " + group_kind_text(applied));
  if (applied["metadata"].contains("managedFields") && !applied["metadata"]["managedFields"].is_null())
    throw ApplyError("metadata.managedFields must be nil");
  const std::vector<std::string> problems = typed_problems(applied, kind.root());
  if (problems.empty()) return;
  std::string text = "failed to create typed patch object (" +
                     applied["metadata"]["namespace"].string_or("") + "/" +
                     applied["metadata"]["name"].string_or("") + "; " + group_kind_text(applied) + "): ";
  if (problems.size() > 1) text += "errors:";
  for (const std::string& problem : problems) text += (problems.size() > 1 ? "\n  " : "") + problem;
  throw ApplyError(text, 500);
}

/// One apply to one object.
class Application {
 public:
  Application(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context)
      : live_(live), applied_(applied), kind_(kind), root_(kind.root()), context_(context) {
    id_ = {.manager = context.manager, .applies = true, .subresource = context.subresource};
  }

  /// Without conflicts, the results are in `object` and `managers`.
  Conflicts run(Managers managers_before, Force force) {
    managers = std::move(managers_before);
    check_versions();
    const ManagedSet last = managers[id_];
    const FieldSet reset = reset_fields(kind_, context_.subresource);
    object = merge_by_schema(live_, applied_, root_);
    managers[id_] = {fields_of(applied_, root_).without_below(reset), kind_.api_version(), last.time};
    prune(last);
    VersionedChanges changes(live_, object, without_reset_fields(compare(live_, object, root_), reset), kind_,
                             context_);
    Conflicts conflicts = conflicts_with(changes);
    if (!conflicts.empty() && force == Force::no) return conflicts;
    changes.take_from(managers, id_);
    FieldSet& mine = managers[id_].fields;
    mine = mine.without(server_owned_fields());
    if (object != live_) managers[id_].time = context_.now;
    if (mine.empty()) managers.erase(id_);
    return {};
  }

  Json object;
  Managers managers;

 private:
  /// Converts the live object for each manager, as a real server does at first. Throws StatusError.
  void check_versions() const {
    for (const auto& [id, set] : managers) {
      if (set.api_version != kind_.api_version()) in_version_of(live_, set.api_version, context_, "");
    }
  }

  /// Removes the fields that this manager applied last time, does not apply now, and no other manager owns:
  /// in the version of that time.
  void prune(const ManagedSet& last) {
    if (last.fields.empty() || is_applied_again(last)) return;
    const std::string failure = prune_failure;
    const Json merged = in_version_of(object, last.api_version, context_,
                                      failure + "failed to convert merged object to last applied version: ");
    const KindSchema& kind = schema_of(last.api_version, kind_, context_);
    const Schema& root = kind.root();
    const FieldSet last_named = last.fields.with_named_parents(&root);
    Json pruned = remove_fields(merged, last_named, root);
    std::map<std::string, FieldSet> owned;
    for (const auto& [id, set] : managers) {
      FieldSet& fields = owned[context_.others ? set.api_version : kind.api_version()];
      fields = fields.united(set.fields);
    }
    // The fields of this version first: another one may need them for its conversion.
    if (const auto own = owned.extract(kind.api_version()); !own.empty())
      pruned = with_owned(merged, pruned, own.key(), own.mapped());
    for (const auto& [version, fields] : owned) pruned = with_owned(merged, pruned, version, fields);
    pruned = in_version_of(
        pruned, kind.api_version(), context_,
        failure +
            "failed add back dangling items: failed to convert pruned object to last applied version: ");
    // Remove only fields that this manager owned before; fields below them have no owner.
    const FieldSet left = fields_of(pruned, root).with_named_parents(&root);
    const FieldSet gone =
        fields_of(merged, root).with_named_parents(&root).without(left).intersected(last_named);
    object = in_version_of(remove_fields(merged, gone, root), kind_.api_version(), context_, failure);
  }

  /// Returns true if this manager still applies all of `last` and every manager uses the version of the
  /// request: then pruning removes nothing and converts nothing.
  bool is_applied_again(const ManagedSet& last) const {
    const auto is_other = [this](const auto& one) { return one.second.api_version != kind_.api_version(); };
    return last.api_version == kind_.api_version() && std::ranges::none_of(managers, is_other) &&
           last.fields.without(managers.at(id_).fields).empty();
  }

  /// Returns the pruned object with the owned fields that pruning removed, in a version.
  Json with_owned(const Json& merged, const Json& pruned, const std::string& version,
                  const FieldSet& owned) const {
    const auto failure = [&](const char* which) {
      return std::string(prune_failure) + "failed add back owned items: failed to convert " + which +
             " object at version " + version + ": ";
    };
    const Json whole = in_version_of(merged, version, context_, failure("merged"));
    const Json bare = in_version_of(pruned, version, context_, failure("pruned"));
    const Schema& root = schema_of(version, kind_, context_).root();
    const FieldSet kept =
        fields_of(bare, root).with_named_parents(&root).united(owned.with_named_parents(&root));
    return remove_fields(whole, fields_of(whole, root).with_named_parents(&root).without(kept), root);
  }

  Conflicts conflicts_with(VersionedChanges& changes) const {
    Conflicts result;
    for (const auto& [id, set] : managers) {
      if (id == id_) continue;
      const Comparison& seen = changes.seen_in(set.api_version);
      for (const FieldPath& path : set.fields.intersected(seen.modified.united(seen.added)).paths())
        result.emplace_back(id, path);
    }
    return result;
  }

  const Json& live_;
  const Json& applied_;
  const KindSchema& kind_;
  const Schema& root_;
  const WriteContext& context_;
  ManagerId id_;
};

/// Returns the fields that kubectl's client-side apply set and that were not changed since: kubectl may take
/// them over.
FieldSet applied_by_client(const Json& live, const KindSchema& kind) {
  const std::string text = live.at({"metadata", "annotations", last_applied_annotation}).string_or("");
  if (text.empty()) return {};
  try {
    const Json last = Json::parse(text);
    if (last["apiVersion"].string_or("") != kind.api_version()) return {};
    const Comparison changes = compare(last, live, kind.root());
    return fields_of(last, kind.root())
        .without(changes.modified)
        .without(changes.added)
        .without(changes.removed);
  } catch (const DecodeError&) {
    return {};
  } catch (const std::invalid_argument&) {
    return {};
  }
}

std::vector<ApplyConflict> told(const Conflicts& conflicts) {
  std::vector<ApplyConflict> result;
  for (const auto& [id, path] : conflicts)
    result.push_back({"conflict with " + id.describe(), describe(path)});
  return result;
}

/// Updates the annotation of client-side apply, for objects that have it.
void update_last_applied(Json& object, Json applied) {
  if (object.at({"metadata", "annotations", last_applied_annotation}).string_or("").empty()) return;
  if (Json* annotations = applied["metadata"].find("annotations"))
    annotations->erase(last_applied_annotation);
  object["metadata"]["annotations"][last_applied_annotation] = go_json(applied) + "\n";
}

}  // namespace

ApplyResult apply(const Json& live, const Json& applied, const KindSchema& kind, const WriteContext& context,
                  Force force) {
  check_applied(applied, kind);
  const Json start = live.is_null() ? object_before_creation(kind) : live;
  Managers managers = decode_managers(start.at({"metadata", "managedFields"})).value_or(Managers{});
  if (managers.empty() && !live.is_null()) {
    WriteContext before = context;
    before.manager = "before-first-apply";
    const Json unmade = object_before_creation(kind);
    VersionedChanges changes(unmade, live, compare(unmade, live, kind.root()), kind, before);
    own_changes(managers, changes, before, kind);
  }
  Application application(start, applied, kind, context);
  Conflicts conflicts = application.run(managers, force);
  if (!conflicts.empty() && context.manager == "kubectl") {
    const FieldSet allowed = applied_by_client(start, kind);
    std::erase_if(conflicts, [&](const auto& conflict) { return allowed.has(conflict.second); });
    if (conflicts.empty()) application.run(managers, Force::yes);
  }
  if (!conflicts.empty()) return {.conflicts = told(conflicts)};
  Json object = std::move(application.object);
  if (!object["metadata"].is_object()) object["metadata"] = Json::object();
  if (context.manager == "kubectl") update_last_applied(object, applied);
  Json entries = encode_managers(application.managers);
  if (entries.is_null())
    object["metadata"].erase("managedFields");
  else
    object["metadata"]["managedFields"] = std::move(entries);
  return {.object = std::move(object)};
}

std::string describe(const std::vector<ApplyConflict>& conflicts) {
  if (conflicts.size() == 1)
    return "Apply failed with 1 conflict: " + conflicts[0].message + ": " + conflicts[0].field;
  std::map<std::string, std::vector<std::string>> fields;
  for (const ApplyConflict& conflict : conflicts) fields[conflict.message].push_back(conflict.field);
  std::string text = "Apply failed with " + std::to_string(conflicts.size()) + " conflicts: ";
  for (const auto& [message, paths] : fields) {
    if (text.back() != ' ') text += '\n';
    text += "conflicts" + message.substr(std::string_view("conflict").size()) + ":";
    for (const std::string& path : paths) text += "\n- " + path;
  }
  return text;
}

Json causes(const std::vector<ApplyConflict>& conflicts) {
  Json result = Json::array();
  for (const ApplyConflict& conflict : conflicts) {
    result.push_back(Json::object(
        {{"field", conflict.field}, {"message", conflict.message}, {"reason", "FieldManagerConflict"}}));
  }
  return result;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
