// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/errors.hpp>

#include "client/call/list_core.hpp"
#include "client/request/requests.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string_view propagation_word(Propagation propagation) {
  switch (propagation) {
    case Propagation::background:
      return "Background";
    case Propagation::foreground:
      return "Foreground";
    case Propagation::orphan:
      return "Orphan";
  }
  return "Background";
}

constexpr const char* json_content = "application/json";

}  // namespace

Json delete_options(const DeleteOptions& options) {
  Json body = Json::object();
  if (options.propagation) body["propagationPolicy"] = propagation_word(*options.propagation);
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  if (body.empty()) return body;
  body["apiVersion"] = "v1";
  body["kind"] = "DeleteOptions";
  return body;
}

RestRequest object_request(http::Method method, const ResourceId& resource, const ObjectKey& key,
                           std::string subresource) {
  if (key.name.empty()) throw std::invalid_argument(resource.kind + ": the key has no name");
  const bool namespaced = resource.scope == Scope::namespaced;
  if (namespaced && key.namespace_.empty()) {
    throw std::invalid_argument(resource.kind + " " + key.name +
                                ": the kind is namespaced and the key has no namespace");
  }
  return {.method = method,
          .resource = resource,
          .namespace_ = namespaced ? key.namespace_ : std::string(),
          .name = key.name,
          .subresource = std::move(subresource)};
}

RestRequest write_request(RestRequest request, std::string_view content_type, std::string body) {
  request.content_type = content_type;
  request.body = std::move(body);
  request.with_write_options = true;
  return request;
}

namespace {

class OneRequest final : public CallCore {
 public:
  OneRequest(RestRequest request, bool may_be_absent)
      : what_(object_path(request)), request_(std::move(request)), may_be_absent_(may_be_absent) {}

  std::optional<RestRequest> next_request() override { return std::exchange(request_, std::nullopt); }
  void on_response(http::Response response) override { response_ = std::move(response); }
  bool on_error(const std::exception_ptr& error) override {
    if (!may_be_absent_) return false;
    try {
      std::rethrow_exception(error);
    } catch (const ApiError& refusal) {
      return refusal.is_not_found() && !refusal.is_no_such_resource();
    } catch (...) {
      return false;
    }
  }
  CallAnswer take_answer() override { return {.response = std::move(response_), .what = std::move(what_)}; }

 private:
  std::string what_;
  std::optional<RestRequest> request_;
  const bool may_be_absent_;
  std::optional<http::Response> response_;
};

RestRequest delete_request(RestRequest request, const DeleteOptions& options) {
  const Json body = delete_options(options);
  if (body.empty()) return write_request(std::move(request), "", "");
  return write_request(std::move(request), json_content, body.dump());
}

}  // namespace

std::unique_ptr<CallCore> one_request(RestRequest request) {
  return std::make_unique<OneRequest>(std::move(request), false);
}

std::unique_ptr<CallCore> one_request_or_absent(RestRequest request) {
  return std::make_unique<OneRequest>(std::move(request), true);
}

std::unique_ptr<CallCore> list_core(const ResourceId& resource, const ListOptions& options) {
  return std::make_unique<ListCore>(resource, options);
}

RestRequest get_request(const ResourceId& resource, const ObjectKey& key) {
  return object_request(http::Method::get, resource, key);
}

RestRequest create_request(const ResourceId& resource, const ObjectMeta& metadata, std::string body) {
  if (metadata.name.empty() && metadata.generate_name.empty()) {
    throw std::invalid_argument(resource.kind + ": the object has neither a name nor a generate_name");
  }
  const bool namespaced = resource.scope == Scope::namespaced;
  if (namespaced && metadata.namespace_.empty()) {
    throw std::invalid_argument(resource.kind + " " + metadata.name +
                                ": the kind is namespaced and the object has no namespace");
  }
  return write_request({.method = http::Method::post,
                        .resource = resource,
                        .namespace_ = namespaced ? metadata.namespace_ : std::string()},
                       json_content, std::move(body));
}

RestRequest update_request(const ResourceId& resource, const ObjectKey& key, std::string body,
                           std::string subresource) {
  return write_request(object_request(http::Method::put, resource, key, std::move(subresource)), json_content,
                       std::move(body));
}

RestRequest patch_request(const ResourceId& resource, const ObjectKey& key, Patch patch,
                          const PatchOptions& options) {
  RestRequest request = object_request(http::Method::patch, resource, key, options.subresource);
  if (options.force) {
    if (patch.type != PatchType::apply)
      throw std::invalid_argument("PatchOptions.force: only for apply patches");
    request.query.emplace_back("force", "true");
  }
  return write_request(std::move(request), content_type(patch.type), std::move(patch.body));
}

}  // namespace detail

namespace calls {
namespace {

using Object = Snapshot<DynamicObject>;
using ObjectCall = ApiCall<Object>;

Object decode_object(detail::CallAnswer& answer) {
  if (!answer.response) return Object();
  auto kept = std::make_shared<const std::string>(std::move(answer.response->body));
  DynamicObject object(Json::parse(*kept, answer.what));
  const std::string_view text = *kept;
  return Object(std::move(object), text, std::move(kept));
}

List<DynamicObject> decode_list(RawList raw, const ResourceId& resource) {
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

Scale decode_scale(detail::CallAnswer& answer) {
  const Json document = Json::parse(answer.response->body, answer.what);
  if (document["kind"].string_or("") != "Scale")
    throw DecodeError(answer.what, "the response is not a Scale");
  return {.replicas = document.at({"spec", "replicas"}).integer_or(0),
          .status_replicas = document.at({"status", "replicas"}).integer_or(0),
          .selector = document.at({"status", "selector"}).string_or(""),
          .resource_version = document.at({"metadata", "resourceVersion"}).string_or(""),
          .uid = document.at({"metadata", "uid"}).string_or("")};
}

ObjectCall object_call(RestRequest request) {
  request.may_be_partial = true;
  return {detail::one_request(std::move(request)), &decode_object};
}

}  // namespace

ObjectCall get(const ResourceId& resource, const ObjectKey& key) {
  return object_call(detail::get_request(resource, key));
}

ObjectCall find(const ResourceId& resource, const ObjectKey& key) {
  RestRequest request = detail::get_request(resource, key);
  request.may_be_partial = true;
  return {detail::one_request_or_absent(std::move(request)), &decode_object};
}

ApiCall<List<DynamicObject>> list(const ResourceId& resource, const ListOptions& options) {
  return {std::make_unique<detail::ListCore>(resource, options, detail::ListForm::may_be_partial),
          [resource](detail::CallAnswer& answer) { return decode_list(std::move(answer.list), resource); }};
}

ObjectCall create(const ResourceId& resource, const DynamicObject& object) {
  ObjectMeta metadata;
  metadata.name = object.name();
  metadata.namespace_ = object.namespace_();
  metadata.generate_name = object.body().at({"metadata", "generateName"}).string_or("");
  return object_call(detail::create_request(resource, metadata, object.body().dump()));
}

ObjectCall update(const ResourceId& resource, const DynamicObject& object, std::string subresource) {
  return object_call(
      detail::update_request(resource, object.key(), object.body().dump(), std::move(subresource)));
}

ObjectCall patch(const ResourceId& resource, const Object& object,
                 const std::function<void(DynamicObject&)>& edit, std::string subresource) {
  if (!object) detail::refuse_empty_snapshot();
  DynamicObject after = *object;
  edit(after);
  return {detail::edit_core(resource, *object, after, subresource),
          [object](detail::CallAnswer& answer) { return answer.response ? decode_object(answer) : object; }};
}

ObjectCall patch(const ResourceId& resource, const ObjectKey& key, Patch patch, const PatchOptions& options) {
  return object_call(detail::patch_request(resource, key, std::move(patch), options));
}

ObjectCall apply(const ResourceId& resource, const DynamicObject& object, const ApplyOptions& options,
                 std::string subresource) {
  return {detail::apply_core(resource, object.body(), std::move(subresource), options,
                             detail::AnswerForm::may_be_partial),
          &decode_object};
}

ApiCall<std::monostate> remove(const ResourceId& resource, const ObjectKey& key,
                               const DeleteOptions& options) {
  return {detail::one_request_or_absent(
              detail::delete_request(detail::object_request(http::Method::delete_, resource, key), options)),
          &detail::nothing};
}

ApiCall<std::monostate> remove_all(const ResourceId& resource, const ListOptions& which,
                                   const DeleteOptions& options) {
  if (resource.scope == Scope::namespaced && which.namespace_.empty()) {
    throw std::invalid_argument(resource.kind +
                                ": the kind is namespaced and ListOptions.namespace_ is empty");
  }
  RestRequest request{.method = http::Method::delete_, .resource = resource, .namespace_ = which.namespace_};
  if (!which.label_selector.empty()) request.query.emplace_back("labelSelector", which.label_selector);
  if (!which.field_selector.empty()) request.query.emplace_back("fieldSelector", which.field_selector);
  return {detail::one_request(detail::delete_request(std::move(request), options)), &detail::nothing};
}

ApiCall<Scale> scale(const ResourceId& resource, const ObjectKey& key, std::optional<std::int64_t> replicas,
                     const std::string& uid) {
  if (!replicas)
    return {detail::one_request(detail::object_request(http::Method::get, resource, key, "scale")),
            &decode_scale};
  Json patch = Json::object();
  patch["spec"]["replicas"] = *replicas;
  if (!uid.empty()) patch["metadata"]["uid"] = uid;
  return {detail::one_request(
              detail::patch_request(resource, key, Patch::merge(patch), {.subresource = "scale"})),
          &decode_scale};
}

ApiCall<http::Response> raw(RestRequest request) {
  return {detail::one_request(std::move(request)),
          [](detail::CallAnswer& answer) { return std::move(*answer.response); }};
}

ApiCall<RawList> list_raw(const ResourceId& resource, const ListOptions& options) {
  return {detail::list_core(resource, options),
          [](detail::CallAnswer& answer) { return std::move(answer.list); }};
}

}  // namespace calls
}  // namespace v0
}  // namespace evenkeel
