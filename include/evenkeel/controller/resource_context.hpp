// SPDX-License-Identifier: Apache-2.0
// Reads and writes of a reconcile for kinds without a C++ type.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/controller/context.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// A reconciled object without a C++ type.
struct EVENKEEL_API DynamicPrimary final : Primary {
  DynamicPrimary(ResourceId resource, Snapshot<DynamicObject> found);

  const ResourceId id;
  const ResourceInfo info;  // views of `id`
  const Snapshot<DynamicObject> original;
  const ObjectMeta meta;
  Snapshot<DynamicObject> latest;  // after the last write of this run
};

}  // namespace detail

/// Like Context, for DynamicObject: `context.resource({"apps", "v1", "Deployment",
/// "deployments"}).find(key)`. Thread safety: that of Context. Lifetime: that of the Context.
class EVENKEEL_API ResourceContext {
 public:
  using Object = Snapshot<DynamicObject>;
  using Edit = ResourceClient::Edit;

  ResourceContext(Context& context, ResourceId resource);
  const ResourceId& resource() const noexcept { return client_.resource(); }

  // ---- Reads: from the cache if the kind is declared there, else from the server

  Object find(const ObjectKey& key) const;
  std::vector<Object> list(const ListOptions& options = {}) const;
  /// See Cache::list() by index.
  std::vector<Object> list(const IndexQuery& query, const IndexListOptions& options = {}) const;
  /// Returns the objects that `owner` owns; see Context::owned_by().
  std::vector<Object> owned_by(const ObjectMeta& owner) const;

  // ---- Writes

  /// See Context::apply().
  Object apply(DynamicObject object, ContextApplyOptions options = {});
  /// See Context::create().
  Object create(DynamicObject object, ContextCreateOptions options = {});
  /// See Client::update().
  Object update(const DynamicObject& object);
  /// Sends the changes made by `edit`; sends no request if there are none. The first form takes the object
  /// that is being reconciled.
  Object patch(const DynamicObject& object, const Edit& edit);
  Object patch(const Object& object, const Edit& edit);
  Object patch_status(const DynamicObject& object, const Edit& edit);
  Object patch_status(const Object& object, const Edit& edit);
  /// Deletes the object; succeeds if it does not exist. See Context::remove().
  void remove(const ObjectKey& key, DeleteOptions options = {});
  void remove(const DynamicObject& object, const DeleteOptions& options = {});

  // ---- For the library

  /// Returns the cache of the context; null if it has none.
  const Cache* cache() const noexcept;

 private:
  // Applies an object with its namespace and controller. `current` is its present state, empty if it does not
  // exist or no option needs it.
  Object apply_to(Object current, DynamicObject object, const ContextApplyOptions& options);
  void imply(DynamicObject& object, bool own, const char* verb) const;
  const Object& current(const DynamicObject& object) const;
  Object wrote(Object object) const;

  Context& context_;
  ResourceClient client_;
};

}  // namespace v0
}  // namespace evenkeel
