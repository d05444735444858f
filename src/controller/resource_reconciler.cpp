// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/controller/resource_reconciler.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

bool has_finalizer(const DynamicObject& object, const std::string& name) {
  const std::vector<std::string> present = object.finalizers();
  return std::find(present.begin(), present.end(), name) != present.end();
}

Snapshot<DynamicObject> find_whole(Context& context, const ResourceId& resource) {
  try {
    return context.resource(resource).find(context.key());
  } catch (const std::invalid_argument&) {  // the cache keeps only parts of the object
    return context.client().resource(resource).find(context.key());
  }
}

/// Writes the finalizers of an object; returns an empty snapshot if it does not exist.
Snapshot<DynamicObject> write_finalizers(ResourceContext& objects, const Snapshot<DynamicObject>& object,
                                         const std::vector<std::string>& names) {
  try {
    return objects.patch(object, [&](DynamicObject& changed) {
      Json::Array list;
      for (const std::string& name : names) list.emplace_back(name);
      changed["metadata"]["finalizers"] = std::move(list);
    });
  } catch (const ApiError& error) {
    if (error.is_not_found() && !error.is_no_such_resource()) return {};
    throw;
  }
}

}  // namespace

Snapshot<DynamicObject> detail::with_finalizers(ResourceContext objects, Snapshot<DynamicObject> object,
                                                const std::vector<Finalizer<DynamicObject>>& finalizers) {
  std::vector<std::string> names = object->finalizers();
  const std::size_t before = names.size();
  for (const Finalizer<DynamicObject>& finalizer : finalizers) {
    if (!has_finalizer(*object, finalizer.name)) names.push_back(finalizer.name);
  }
  return names.size() == before ? object : write_finalizers(objects, object, names);
}

Result detail::run_finalizers(Context& context, const ResourceId& resource, Snapshot<DynamicObject> object,
                              const std::vector<Finalizer<DynamicObject>>& finalizers) {
  ResourceContext objects = context.resource(resource);
  for (const Finalizer<DynamicObject>& finalizer : finalizers) {
    if (!object || !has_finalizer(*object, finalizer.name)) continue;
    auto primary = std::make_unique<DynamicPrimary>(resource, object);
    const DynamicPrimary& reconciled = *primary;
    context.set_primary(std::move(primary));
    Result result = run_finalizer(finalizer, context, *object);
    if (result.kind() != Result::Kind::done) return result;
    // The clean-up may have written to the object: base the change on its latest state.
    std::vector<std::string> names = reconciled.latest->finalizers();
    std::erase(names, finalizer.name);
    object = write_finalizers(objects, reconciled.latest, names);
  }
  return done();
}

Result detail::reconcile_undecodable(Context& context, const ResourceId& resource,
                                     std::vector<Finalizer<DynamicObject>> finalizers,
                                     const DecodeError& error) {
  const Snapshot<DynamicObject> object = find_whole(context, resource);
  if (!object) return done();
  const auto give_up = [&error](Context& run, const DynamicObject& undecodable) -> Result {
    run.event(undecodable, EventSeverity::warning, "CannotDecode", error.what());
    throw TerminalError(error.what());
  };
  if (!object->is_deleting()) return give_up(context, *object);
  for (Finalizer<DynamicObject>& finalizer : finalizers) {
    if (!finalizer.of_metadata) finalizer.clean_up = give_up;
  }
  return run_finalizers(context, resource, object, finalizers);
}

}  // namespace v0
}  // namespace evenkeel
