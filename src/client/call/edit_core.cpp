// SPDX-License-Identifier: Apache-2.0
// Edits: patches that apply a typed change to the object on the server.
#include <evenkeel/api/codec.hpp>
#include <evenkeel/client/calls.hpp>

#include "client/call/edit_plan.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

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

/// An edit: one patch, none if nothing changed, or a read before it if the list to change is not fully known.
class EditCore final : public CallCore {
 public:
  explicit EditCore(const Edited& edited)
      : resource_(*edited.type.resource),
        subresource_(edited.subresource),
        plan_{&edited.type, document_of(edited.type, edited.before, edited.subresource),
              document_of(edited.type, edited.after, edited.subresource),
              member_to_complete(edited.raw, edited.subresource)},
        key_{plan_.before.at({"metadata", "namespace"}).string_or(""),
             plan_.before.at({"metadata", "name"}).string_or("")},
        what_(object_path({.resource = resource_, .namespace_ = key_.namespace_, .name = key_.name})) {
    if (plan_.before == plan_.after && plan_.complete_member.empty()) {
      patch_.emplace();
    } else if (!edited.raw.empty()) {
      patch_ = plan_.patch_onto(raw_of(edited.raw, subresource_, what_));
    } else {
      patch_ = plan_.patch_alone();
    }
  }

  std::optional<RestRequest> next_request() override {
    if (!patch_) return get_request(resource_, key_);
    if (patch_->is_null()) return std::nullopt;
    const Json body = std::exchange(*patch_, Json());
    sent_ = true;
    return patch_request(resource_, key_, Patch::merge(body), {.subresource = subresource_});
  }
  void on_response(http::Response response) override {
    if (sent_) {
      response_ = std::move(response);
    } else {
      patch_ = plan_.patch_onto(raw_of(response.body, subresource_, what_));
    }
  }
  bool on_error(const std::exception_ptr& /*error*/) override { return false; }
  CallAnswer take_answer() override { return {.response = std::move(response_), .what = what_}; }

 private:
  const ResourceId resource_;
  const std::string subresource_;
  const EditPlan plan_;
  const ObjectKey key_;
  const std::string what_;
  std::optional<Json> patch_;  // nothing: the object must be read first; null: nothing more to send
  bool sent_ = false;
  std::optional<http::Response> response_;
};

}  // namespace

std::unique_ptr<CallCore> edit_core(const Edited& edited) {
  return std::make_unique<EditCore>(edited);
}

void refuse_empty_snapshot() {
  throw std::invalid_argument("Client: the snapshot to change is empty");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
