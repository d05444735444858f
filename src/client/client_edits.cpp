// SPDX-License-Identifier: Apache-2.0
// Edits: patches that apply a typed change to the object on the server.
#include <evenkeel/api/codec.hpp>
#include <evenkeel/client/client.hpp>

#include "client/chained_call.hpp"
#include "client/edit_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using MaybeResponse = std::optional<http::Response>;

ObjectKey key_in(const Json& document) {
  return {document.at({"metadata", "namespace"}).string_or(""),
          document.at({"metadata", "name"}).string_or("")};
}

/// Returns the object as a document; for an edit of a subresource only that and the metadata, because nothing
/// else can differ.
Json document_of(const TypeInfo& type, const void* object, std::string_view subresource) {
  if (subresource.empty()) return to_tree(type, object);
  std::vector<Field> fields;
  for (const Field& field : type.fields) {
    if (field.wire == "metadata" || field.wire == subresource) fields.push_back(field);
  }
  TypeInfo part = type;
  part.fields = fields;
  return to_tree(part, object);
}

/// Parses the object as read; for an edit of a subresource only that, because the rest cannot differ.
Json raw_of(std::string_view text, std::string_view subresource, const std::string& what) {
  Json whole = Json::parse(text, what);
  if (subresource.empty() || !whole.is_object()) return whole;
  Json part = Json::object();
  if (Json* value = whole.find(subresource)) part[subresource] = std::move(*value);
  return part;
}

/// Returns the subresource whose plain members must all be sent; empty if the server's state is unknown.
std::string member_to_complete(std::string_view raw, const std::string& subresource) {
  return raw.empty() ? std::string() : subresource;
}

}  // namespace

std::optional<http::Response> Client::send_edit(const Edited& edited) const {
  const ResourceId resource = *edited.type.resource;
  const detail::EditPlan plan{&edited.type, document_of(edited.type, edited.before, edited.subresource),
                              document_of(edited.type, edited.after, edited.subresource),
                              member_to_complete(edited.raw, edited.subresource)};
  if (plan.before == plan.after && plan.complete_member.empty()) return std::nullopt;
  const ObjectKey key = key_in(plan.before);
  const std::string what = object_name(resource, key);
  std::optional<Json> patch;
  if (!edited.raw.empty()) {
    patch = plan.patch_onto(raw_of(edited.raw, edited.subresource, what));
  } else if (!(patch = plan.patch_alone())) {
    const http::Response read = raw(object_request(http::Method::get, resource, key));
    patch = plan.patch_onto(raw_of(read.body, edited.subresource, what));
  }
  if (patch->is_null()) return std::nullopt;
  return raw(patch_request(resource, key, Patch::merge(*patch), {.subresource = edited.subresource}));
}

std::shared_ptr<http::Call> Client::send_edit(const Edited& edited, Completion<MaybeResponse> done) const {
  const ResourceId resource = *edited.type.resource;
  detail::EditPlan plan{&edited.type, document_of(edited.type, edited.before, edited.subresource),
                        document_of(edited.type, edited.after, edited.subresource),
                        member_to_complete(edited.raw, edited.subresource)};
  const ObjectKey key = key_in(plan.before);
  const std::string what = object_name(resource, key);
  std::optional<Json> patch;
  if (plan.before == plan.after && plan.complete_member.empty()) {
    patch.emplace();
  } else if (!edited.raw.empty()) {
    patch = plan.patch_onto(raw_of(edited.raw, edited.subresource, what));
  } else {
    patch = plan.patch_alone();
  }
  const auto send = [client = *this, resource, key, subresource = edited.subresource](
                        const Json& body, const Completion<MaybeResponse>& then) {
    return client.raw(client.patch_request(resource, key, Patch::merge(body), {.subresource = subresource}),
                      [then](Outcome<http::Response> outcome) {
                        then(decoded<MaybeResponse>(std::move(outcome), [](http::Response& response) {
                          return MaybeResponse(std::move(response));
                        }));
                      });
  };
  if (patch && patch->is_null()) {
    done(MaybeResponse());
    return nothing_to_cancel();
  }
  if (patch) return send(*patch, done);

  // The list to change is not fully known: read it first.
  auto handle = std::make_shared<detail::ChainedCall>();
  auto shared = std::make_shared<const detail::EditPlan>(std::move(plan));
  handle->step([&] {
    return raw(object_request(http::Method::get, resource, key),
               [=, subresource = edited.subresource](Outcome<http::Response> outcome) {
                 if (!outcome.ok()) return done(outcome.error());
                 try {
                   const Json body = shared->patch_onto(raw_of(outcome.value().body, subresource, what));
                   if (body.is_null()) return done(MaybeResponse());
                   handle->step([&] { return send(body, done); });
                 } catch (...) {
                   done(std::current_exception());
                 }
               });
  });
  return handle;
}

}  // namespace v0
}  // namespace evenkeel
