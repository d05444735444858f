// SPDX-License-Identifier: Apache-2.0
// Client for objects of one kind without a C++ type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// Like Client, for DynamicObject: `client.resource({"apps", "v1", "Deployment", "deployments"}).get(key)`.
/// Errors and retries are those of Client; the asynchronous form is
/// `client.start(calls::get(resource, key), done)`.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API ResourceClient {
 public:
  using Object = Snapshot<DynamicObject>;
  using Edit = std::function<void(DynamicObject&)>;

  ResourceClient(Client client, ResourceId resource);
  const ResourceId& resource() const noexcept { return resource_; }
  const Client& client() const noexcept { return client_; }

  /// Returns a client that reads metadata only; see CallOptions::metadata_only.
  ResourceClient metadata_only() const;

  Object get(const ObjectKey& key) const;
  Object find(const ObjectKey& key) const;
  List<DynamicObject> list(const ListOptions& options = {}) const;

  Object create(const DynamicObject& object) const;
  /// Replaces the object, or one subresource: "status". If it has a resourceVersion, fails with a conflict if
  /// it was written since.
  Object update(const DynamicObject& object, std::string subresource = {}) const;
  /// Sends the changes made by `edit`; a change that touches a list fails with a conflict if the object was
  /// written since it was read, and every change does if another object has its name now.
  Object patch(const Object& object, const Edit& edit, std::string subresource = {}) const;
  Object patch(const ObjectKey& key, Patch patch, const PatchOptions& options = {}) const;
  /// Server-side apply of the object, or of one subresource, of which `object` has nothing else.
  Object apply(const DynamicObject& object, const ApplyOptions& options = {},
               std::string subresource = {}) const;

  /// Those of an object, here and below, fail with a conflict if another one has its name now.
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) const;
  void remove(const DynamicObject& object, DeleteOptions options = {}) const;
  void remove_all(const ListOptions& which, const DeleteOptions& options = {}) const;
  Scale scale(const ObjectKey& key) const;
  Scale scale(const ObjectKey& key, std::int64_t replicas) const;
  Scale scale(const DynamicObject& object, std::int64_t replicas) const;

 private:
  Client client_;
  ResourceId resource_;
};

}  // namespace v0
}  // namespace evenkeel
