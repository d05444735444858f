// SPDX-License-Identifier: Apache-2.0
// Client for objects of one kind without a C++ type.
#pragma once

#include <functional>
#include <memory>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// Like Client, for DynamicObject: `client.resource({"apps", "v1", "Deployment", "deployments"}).get(key)`.
/// Errors, retries and completions are those of Client.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API ResourceClient {
 public:
  using Object = Snapshot<DynamicObject>;
  using Edit = std::function<void(DynamicObject&)>;
  using CallHandle = std::shared_ptr<http::Call>;

  ResourceClient(Client client, ResourceId resource);
  const ResourceId& resource() const noexcept { return resource_; }
  const Client& client() const noexcept { return client_; }

  Object get(const ObjectKey& key) const;
  CallHandle get(const ObjectKey& key, Completion<Object> done) const;
  Object find(const ObjectKey& key) const;
  CallHandle find(const ObjectKey& key, Completion<Object> done) const;
  List<DynamicObject> list(const ListOptions& options = {}) const;
  CallHandle list(const ListOptions& options, Completion<List<DynamicObject>> done) const;

  Object create(const DynamicObject& object) const;
  CallHandle create(const DynamicObject& object, Completion<Object> done) const;
  /// Replaces the object; if it has a resourceVersion, fails with a conflict if it was written since.
  Object update(const DynamicObject& object) const;
  CallHandle update(const DynamicObject& object, Completion<Object> done) const;
  /// Replaces one subresource: "status".
  Object update(const DynamicObject& object, std::string subresource) const;
  CallHandle update(const DynamicObject& object, std::string subresource, Completion<Object> done) const;

  /// Sends the changes made by `edit`; a change that touches a list fails with a conflict if the object was
  /// written since it was read.
  Object patch(const Object& object, const Edit& edit, std::string subresource = {}) const;
  CallHandle patch(const Object& object, const Edit& edit, std::string subresource,
                   Completion<Object> done) const;
  Object patch(const ObjectKey& key, Patch patch, const PatchOptions& options = {}) const;
  CallHandle patch(const ObjectKey& key, Patch patch, const PatchOptions& options,
                   Completion<Object> done) const;
  Object apply(const DynamicObject& object, const ApplyOptions& options = {}) const;
  CallHandle apply(const DynamicObject& object, const ApplyOptions& options, Completion<Object> done) const;

  void remove(const ObjectKey& key, const DeleteOptions& options = {}) const;
  CallHandle remove(const ObjectKey& key, const DeleteOptions& options,
                    Completion<std::monostate> done) const;
  void remove_all(const ListOptions& which, const DeleteOptions& options = {}) const;
  Scale scale(const ObjectKey& key) const;
  Scale scale(const ObjectKey& key, std::int64_t replicas) const;

 private:
  Object decode(const RestRequest& request) const;
  CallHandle start(const RestRequest& request, Completion<Object> done) const;
  RestRequest create_request(const DynamicObject& object) const;
  RestRequest update_request(const DynamicObject& object, std::string subresource) const;
  RestRequest apply_request(const DynamicObject& object, const ApplyOptions& options) const;

  Client client_;
  ResourceId resource_;
};

}  // namespace v0
}  // namespace evenkeel
