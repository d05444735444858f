// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <evenkeel/controller/resource_reconciler.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

bool has_finalizer(const DynamicObject& object, const std::string& name) {
  const std::vector<std::string> present = object.finalizers();
  return std::find(present.begin(), present.end(), name) != present.end();
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
    Result result = finalizer.clean_up(context, *object);
    if (result.kind() != Result::Kind::done) return result;
    // The clean-up may have written to the object: base the change on its latest state.
    std::vector<std::string> names = reconciled.latest->finalizers();
    std::erase(names, finalizer.name);
    object = write_finalizers(objects, reconciled.latest, names);
  }
  return done();
}

}  // namespace v0
}  // namespace evenkeel
