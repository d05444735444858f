// SPDX-License-Identifier: Apache-2.0
// Edits and applies: patches that start from an object that was read.
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/errors.hpp>

#include "client/call/edit_plan.hpp"
#include "client/request/requests.hpp"

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

/// Returns the object as read; for an edit of a subresource only that, because the rest cannot differ.
Json raw_of(Json whole, std::string_view subresource) {
  if (subresource.empty() || !whole.is_object()) return whole;
  Json part = Json::object();
  if (Json* value = whole.find(subresource)) part[subresource] = std::move(*value);
  return part;
}

/// Returns the subresource whose plain members must all be sent; empty if the server's state is unknown.
std::string member_to_complete(std::string_view raw, const std::string& subresource) {
  return raw.empty() ? std::string() : subresource;
}

/// A patch that starts from an object that was read, and that the server must not apply to another object of
/// the same name. A server compares the uid in a patch with that of the object, except in patches of the
/// status of custom resources, where it ignores the metadata; but it always compares the resourceVersion. So
/// a patch of a subresource has that of the object, and after a conflict it is repeated with that of the
/// object as it is then, if that has the same uid.
/// Source: apiextensions-apiserver pkg/registry/customresource/status_strategy.go.
class GuardedPatch : public CallCore {
 public:
  std::optional<RestRequest> next_request() override {
    if (!patch_) return get_request(resource_, key_);
    if (patch_->body.is_null()) return std::nullopt;
    sent_ = true;
    RestRequest request = patch_request(resource_, key_, {type_, patch_->body.dump()}, options_);
    request.may_be_partial = partial_;
    return request;
  }
  void on_response(http::Response response) override {
    if (!sent_) {
      on_read(Json::parse(response.body, what_));
    } else {
      patch_.emplace();
    }
    if (patch_->body.is_null()) response_ = std::move(response);
  }
  bool on_error(const std::exception_ptr& error) override {
    if (conflict_ && !sent_ && is_forbidden(error)) std::rethrow_exception(conflict_);
    if (!sent_ || options_.subresource.empty() || patch_->touches_list || ++tries_ == most_tries ||
        !is_conflict(error))
      return false;
    conflict_ = error;
    patch_.reset();
    sent_ = false;
    return true;
  }
  CallAnswer take_answer() override { return {.response = std::move(response_), .what = what_}; }

 protected:
  GuardedPatch(ResourceId resource, const Json& metadata, PatchType type, PatchOptions options,
               AnswerForm answer)
      : resource_(std::move(resource)),
        key_{metadata["namespace"].string_or(""), metadata["name"].string_or("")},
        uid_(metadata["uid"].string_or("")),
        type_(type),
        options_(std::move(options)),
        partial_(answer == AnswerForm::may_be_partial),
        what_(object_path({.resource = resource_, .namespace_ = key_.namespace_, .name = key_.name})),
        version_(metadata["resourceVersion"].string_or("")) {}

  /// Returns the patch for the object as it is on the server; its body is null if there is nothing to send.
  virtual EditPatch patch_onto(Json object) const = 0;

  /// Sets the patch that is sent next; nullopt: the object must be read first.
  void set_patch(std::optional<EditPatch> patch) {
    patch_ = std::move(patch);
    const bool guarded = patch_ && !patch_->body.is_null() && !uid_.empty() && !version_.empty();
    if (guarded && !options_.subresource.empty() && !patch_->touches_list)
      patch_->body["metadata"]["resourceVersion"] = version_;
  }

 private:
  static constexpr int most_tries = 5;

  static bool is_conflict(const std::exception_ptr& error) {
    return holds(error, [](const ApiError& refusal) { return refusal.is_conflict(); });
  }
  static bool is_forbidden(const std::exception_ptr& error) {
    return holds(error, [](const ApiError& refusal) { return refusal.is_forbidden(); });
  }
  template <class Test>
  static bool holds(const std::exception_ptr& error, const Test& test) {
    try {
      std::rethrow_exception(error);
    } catch (const ApiError& refusal) {
      return test(refusal);
    } catch (...) {
      return false;
    }
  }

  void on_read(Json object) {
    const std::string uid = object.at({"metadata", "uid"}).string_or("");
    const std::string version = object.at({"metadata", "resourceVersion"}).string_or("");
    if (!uid_.empty() && uid != uid_) refuse(uid);
    if (conflict_ && version == version_) std::rethrow_exception(conflict_);
    version_ = version;
    set_patch(patch_onto(std::move(object)));
  }
  [[noreturn]] void refuse(const std::string& uid) const {
    RestRequest request = object_request(http::Method::patch, resource_, key_, options_.subresource);
    throw ApiError(describe(request), {.code = 409,
                                       .reason = "Conflict",
                                       .message = "the object with uid " + uid_ +
                                                  " was deleted; the server has one with uid " + uid});
  }

  const ResourceId resource_;
  const ObjectKey key_;
  const std::string uid_;
  const PatchType type_;
  const PatchOptions options_;
  const bool partial_;
  const std::string what_;
  std::string version_;  // of the object as it was last read
  std::optional<EditPatch> patch_;
  bool sent_ = false;
  int tries_ = 0;
  std::exception_ptr conflict_;  // the last one
  std::optional<http::Response> response_;
};

/// An edit: one patch, none if nothing changed, or a read before it if the list to change is not fully known.
class EditCore final : public GuardedPatch {
 public:
  /// `raw`: the document that was read; null if it is not available.
  EditCore(ResourceId resource, EditPlan plan, Json raw, const std::string& subresource, AnswerForm answer)
      : GuardedPatch(std::move(resource), std::as_const(plan.before)["metadata"], PatchType::merge,
                     {.subresource = subresource}, answer),
        plan_(std::move(plan)),
        part_(plan_.type != nullptr ? subresource : std::string()) {
    if (plan_.before == plan_.after && plan_.complete_member.empty()) {
      set_patch(EditPatch());
    } else if (!raw.is_null()) {
      set_patch(plan_.patch_onto(raw_of(std::move(raw), part_)));
    } else {
      set_patch(plan_.patch_alone());
    }
  }

 private:
  EditPatch patch_onto(Json object) const override {
    return plan_.patch_onto(raw_of(std::move(object), part_));
  }

  const EditPlan plan_;
  const std::string part_;  // the only member that can differ; empty: any
};

/// A server-side apply of a subresource.
class ApplyCore final : public GuardedPatch {
 public:
  ApplyCore(const ResourceId& resource, Json document, const PatchOptions& options, AnswerForm answer)
      : GuardedPatch(resource, std::as_const(document)["metadata"], PatchType::apply, options, answer),
        document_(std::move(document)) {
    const bool read = !document_.at({"metadata", "resourceVersion"}).string_or("").empty();
    set_patch(read ? std::optional(EditPatch{document_}) : std::nullopt);
  }

 private:
  EditPatch patch_onto(Json /*object*/) const override { return {document_}; }

  const Json document_;
};

}  // namespace

std::unique_ptr<CallCore> edit_core(const Edited& edited) {
  EditPlan plan{&edited.type, document_of(edited.type, edited.before, edited.subresource),
                document_of(edited.type, edited.after, edited.subresource),
                member_to_complete(edited.raw, edited.subresource)};
  const ResourceId resource = *edited.type.resource;
  Json raw;
  if (!edited.raw.empty()) {
    const Json& metadata = std::as_const(plan.before)["metadata"];
    raw = Json::parse(edited.raw, object_path({.resource = resource,
                                               .namespace_ = metadata["namespace"].string_or(""),
                                               .name = metadata["name"].string_or("")}));
  }
  return std::make_unique<EditCore>(resource, std::move(plan), std::move(raw), edited.subresource,
                                    AnswerForm::whole);
}

std::unique_ptr<CallCore> edit_core(const ResourceId& resource, const DynamicObject& before,
                                    const DynamicObject& after, const std::string& subresource) {
  return std::make_unique<EditCore>(resource, EditPlan{nullptr, before.body(), after.body()}, before.body(),
                                    subresource, AnswerForm::may_be_partial);
}

std::unique_ptr<CallCore> apply_core(const ResourceId& resource, Json document, std::string subresource,
                                     const ApplyOptions& options, AnswerForm answer) {
  Json& metadata = document["metadata"];
  metadata.erase("managedFields");  // the server rejects an apply that contains them
  PatchOptions patch{.subresource = std::move(subresource), .force = options.force};
  const ObjectKey key{metadata["namespace"].string_or(""), metadata["name"].string_or("")};
  if (patch.subresource == "status") {
    const Json& whole = document;  // to read a member must not add it, which would move the metadata
    Json part = Json::object({{"apiVersion", whole["apiVersion"]}, {"kind", whole["kind"]}});
    part["metadata"]["name"] = key.name;
    for (const char* name : {"namespace", "uid", "resourceVersion"}) {
      if (Json* value = metadata.find(name)) part["metadata"][name] = std::move(*value);
    }
    if (Json* status = document.find("status")) part["status"] = std::move(*status);
    document = std::move(part);
    const bool was_read = !whole.at({"metadata", "uid"}).string_or("").empty();
    if (was_read) return std::make_unique<ApplyCore>(resource, std::move(document), patch, answer);
    document["metadata"].erase("resourceVersion");
  }
  RestRequest request = patch_request(resource, key, Patch::apply(document), patch);
  request.may_be_partial = answer == AnswerForm::may_be_partial;
  return one_request(std::move(request));
}

void refuse_empty_snapshot() {
  throw std::invalid_argument("Client: the snapshot to change is empty");
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
