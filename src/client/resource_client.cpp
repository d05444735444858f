// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include <evenkeel/client/resource_client.hpp>

#include "client/edit_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using Object = ResourceClient::Object;

Object snapshot(std::string body, const std::string& what) {
  auto kept = std::make_shared<const std::string>(std::move(body));
  DynamicObject object(Json::parse(*kept, what));
  const std::string_view text = *kept;
  return Object(std::move(object), text, std::move(kept));
}

List<DynamicObject> dynamic_list(RawList raw, const ResourceId& resource) {
  List<DynamicObject> list{.resource_version = std::move(raw.resource_version),
                           .continue_token = std::move(raw.continue_token)};
  list.items.reserve(raw.items.size());
  for (std::size_t body = 0; body < raw.bodies.size(); ++body) {
    for (std::size_t i = list.items.size(); i < raw.ends[body]; ++i) {
      DynamicObject object(Json::parse(raw.items[i], resource.plural));
      // The server omits these in the items of built-in kinds.
      if (object.kind().empty()) object["kind"] = resource.kind;
      if (object.api_version().empty()) object["apiVersion"] = resource.api_version();
      list.items.emplace_back(std::move(object), raw.items[i], raw.bodies[body]);
    }
  }
  return list;
}

}  // namespace

ResourceClient::ResourceClient(Client client, ResourceId resource)
    : client_(std::move(client)), resource_(std::move(resource)) {}

Object ResourceClient::decode(const RestRequest& request) const {
  return snapshot(client_.raw(request).body, object_path(request));
}

ResourceClient::CallHandle ResourceClient::start(const RestRequest& request, Completion<Object> done) const {
  return client_.raw(request,
                     [done = std::move(done), what = object_path(request)](Outcome<http::Response> outcome) {
                       done(Client::decoded<Object>(std::move(outcome), [&what](http::Response& response) {
                         return snapshot(std::move(response.body), what);
                       }));
                     });
}

Object ResourceClient::get(const ObjectKey& key) const {
  return decode(client_.object_request(http::Method::get, resource_, key));
}

ResourceClient::CallHandle ResourceClient::get(const ObjectKey& key, Completion<Object> done) const {
  return start(client_.object_request(http::Method::get, resource_, key), std::move(done));
}

Object ResourceClient::find(const ObjectKey& key) const {
  auto response = client_.find_raw(client_.object_request(http::Method::get, resource_, key));
  return response ? snapshot(std::move(response->body), Client::object_name(resource_, key)) : Object();
}

ResourceClient::CallHandle ResourceClient::find(const ObjectKey& key, Completion<Object> done) const {
  return client_.raw(
      client_.object_request(http::Method::get, resource_, key),
      [done = std::move(done), what = Client::object_name(resource_, key)](Outcome<http::Response> outcome) {
        if (Client::is_absent(outcome)) return done(Object());
        done(Client::decoded<Object>(std::move(outcome), [&what](http::Response& response) {
          return snapshot(std::move(response.body), what);
        }));
      });
}

List<DynamicObject> ResourceClient::list(const ListOptions& options) const {
  return dynamic_list(client_.list_raw(resource_, options), resource_);
}

ResourceClient::CallHandle ResourceClient::list(const ListOptions& options,
                                                Completion<List<DynamicObject>> done) const {
  return client_.list_raw(
      resource_, options, [done = std::move(done), resource = resource_](Outcome<RawList> outcome) {
        done(Client::decoded<List<DynamicObject>>(std::move(outcome), [&resource](RawList& list) {
          return dynamic_list(std::move(list), resource);
        }));
      });
}

RestRequest ResourceClient::create_request(const DynamicObject& object) const {
  ObjectMeta metadata;
  metadata.name = object.name();
  metadata.namespace_ = object.namespace_();
  metadata.generate_name = object.body().at({"metadata", "generateName"}).string_or("");
  return client_.create_request(resource_, metadata, object.body().dump());
}

Object ResourceClient::create(const DynamicObject& object) const {
  return decode(create_request(object));
}

ResourceClient::CallHandle ResourceClient::create(const DynamicObject& object,
                                                  Completion<Object> done) const {
  return start(create_request(object), std::move(done));
}

RestRequest ResourceClient::update_request(const DynamicObject& object, std::string subresource) const {
  RestRequest request = client_.update_request(resource_, object.key(), object.body().dump());
  request.subresource = std::move(subresource);
  return request;
}

Object ResourceClient::update(const DynamicObject& object) const {
  return decode(update_request(object, ""));
}

ResourceClient::CallHandle ResourceClient::update(const DynamicObject& object,
                                                  Completion<Object> done) const {
  return start(update_request(object, ""), std::move(done));
}

Object ResourceClient::update(const DynamicObject& object, std::string subresource) const {
  return decode(update_request(object, std::move(subresource)));
}

ResourceClient::CallHandle ResourceClient::update(const DynamicObject& object, std::string subresource,
                                                  Completion<Object> done) const {
  return start(update_request(object, std::move(subresource)), std::move(done));
}

namespace {

/// Returns the patch of an edit, or null if it changes nothing.
Json edited(const Object& object, const ResourceClient::Edit& edit) {
  if (!object) throw std::invalid_argument("ResourceClient: the snapshot to change is empty");
  DynamicObject after = *object;
  edit(after);
  if (after == *object) return Json();
  return detail::EditPlan{nullptr, object->body(), after.body()}.patch_onto(object->body());
}

}  // namespace

Object ResourceClient::patch(const Object& object, const Edit& edit, std::string subresource) const {
  const Json body = edited(object, edit);
  if (body.is_null()) return object;
  return patch(object->key(), Patch::merge(body), {.subresource = std::move(subresource)});
}

ResourceClient::CallHandle ResourceClient::patch(const Object& object, const Edit& edit,
                                                 std::string subresource, Completion<Object> done) const {
  const Json body = edited(object, edit);
  if (!body.is_null()) {
    return patch(object->key(), Patch::merge(body), {.subresource = std::move(subresource)}, std::move(done));
  }
  done(object);
  return Client::nothing_to_cancel();
}

Object ResourceClient::patch(const ObjectKey& key, Patch patch, const PatchOptions& options) const {
  return decode(client_.patch_request(resource_, key, std::move(patch), options));
}

ResourceClient::CallHandle ResourceClient::patch(const ObjectKey& key, Patch patch,
                                                 const PatchOptions& options, Completion<Object> done) const {
  return start(client_.patch_request(resource_, key, std::move(patch), options), std::move(done));
}

RestRequest ResourceClient::apply_request(const DynamicObject& object, const ApplyOptions& options) const {
  Json document = object.body();
  document["metadata"].erase("managedFields");  // the server rejects an apply that contains them
  return client_.patch_request(resource_, object.key(), Patch::apply(document), {.force = options.force});
}

Object ResourceClient::apply(const DynamicObject& object, const ApplyOptions& options) const {
  return decode(apply_request(object, options));
}

ResourceClient::CallHandle ResourceClient::apply(const DynamicObject& object, const ApplyOptions& options,
                                                 Completion<Object> done) const {
  return start(apply_request(object, options), std::move(done));
}

void ResourceClient::remove(const ObjectKey& key, const DeleteOptions& options) const {
  client_.remove_object(resource_, key, options);
}

ResourceClient::CallHandle ResourceClient::remove(const ObjectKey& key, const DeleteOptions& options,
                                                  Completion<std::monostate> done) const {
  return client_.remove_object(resource_, key, options, std::move(done));
}

void ResourceClient::remove_all(const ListOptions& which, const DeleteOptions& options) const {
  client_.raw(client_.remove_all_request(resource_, which, options));
}

Scale ResourceClient::scale(const ObjectKey& key) const {
  return Client::read_scale(client_.raw(client_.scale_request(resource_, key, std::nullopt)),
                            Client::object_name(resource_, key));
}

Scale ResourceClient::scale(const ObjectKey& key, std::int64_t replicas) const {
  return Client::read_scale(client_.raw(client_.scale_request(resource_, key, replicas)),
                            Client::object_name(resource_, key));
}

}  // namespace v0
}  // namespace evenkeel
