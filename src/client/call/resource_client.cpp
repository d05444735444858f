// SPDX-License-Identifier: Apache-2.0
#include <evenkeel/client/resource_client.hpp>

namespace evenkeel {
inline namespace v0 {

using Object = ResourceClient::Object;

ResourceClient::ResourceClient(Client client, ResourceId resource)
    : client_(std::move(client)), resource_(std::move(resource)) {}

ResourceClient ResourceClient::metadata_only() const {
  return ResourceClient(client_.with({.metadata_only = true}), resource_);
}
Object ResourceClient::get(const ObjectKey& key) const {
  return client_.run(calls::get(resource_, key));
}
Object ResourceClient::find(const ObjectKey& key) const {
  return client_.run(calls::find(resource_, key));
}
List<DynamicObject> ResourceClient::list(const ListOptions& options) const {
  return client_.run(calls::list(resource_, options));
}
Object ResourceClient::create(const DynamicObject& object) const {
  return client_.run(calls::create(resource_, object));
}
Object ResourceClient::update(const DynamicObject& object, std::string subresource) const {
  return client_.run(calls::update(resource_, object, std::move(subresource)));
}
Object ResourceClient::patch(const Object& object, const Edit& edit, std::string subresource) const {
  return client_.run(calls::patch(resource_, object, edit, std::move(subresource)));
}
Object ResourceClient::patch(const ObjectKey& key, Patch patch, const PatchOptions& options) const {
  return client_.run(calls::patch(resource_, key, std::move(patch), options));
}
Object ResourceClient::apply(const DynamicObject& object, const ApplyOptions& options,
                             std::string subresource) const {
  return client_.run(calls::apply(resource_, object, options, std::move(subresource)));
}
void ResourceClient::remove(const ObjectKey& key, const DeleteOptions& options) const {
  client_.run(calls::remove(resource_, key, options));
}
void ResourceClient::remove(const DynamicObject& object, DeleteOptions options) const {
  if (options.uid.empty()) options.uid = object.uid();
  remove(object.key(), options);
}
void ResourceClient::remove_all(const ListOptions& which, const DeleteOptions& options) const {
  client_.run(calls::remove_all(resource_, which, options));
}
Scale ResourceClient::scale(const ObjectKey& key) const {
  return client_.run(calls::scale(resource_, key));
}
Scale ResourceClient::scale(const ObjectKey& key, std::int64_t replicas) const {
  return client_.run(calls::scale(resource_, key, replicas));
}
Scale ResourceClient::scale(const DynamicObject& object, std::int64_t replicas) const {
  return client_.run(calls::scale(resource_, object.key(), replicas, std::string(object.uid())));
}

}  // namespace v0
}  // namespace evenkeel
