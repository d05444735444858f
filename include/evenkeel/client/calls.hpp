// SPDX-License-Identifier: Apache-2.0
// The calls of Client and ResourceClient as descriptions: each function has the parameters of the member of
// the same name, and takes the resource first where there is no C++ type.
//
//   client.start(ek::calls::get<Pod>(key), [](ek::Outcome<ek::Snapshot<Pod>> pod) { ... });
//
// They throw std::invalid_argument as those members do: a key without a name, or without a namespace for a
// namespaced kind.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/patch.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/call.hpp>
#include <evenkeel/client/detail/edit_check.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>

namespace evenkeel {
inline namespace v0 {

/// A kind whose C++ type declares every field, so that replacing a whole object loses nothing; the type
/// states this by `static constexpr bool complete = true`.
template <class T>
concept CompleteType = ObjectType<T> && requires {
  requires T::complete;
};

namespace detail {

EVENKEEL_API RestRequest get_request(const ResourceId& resource, const ObjectKey& key);
EVENKEEL_API RestRequest create_request(const ResourceId& resource, const ObjectMeta& metadata,
                                        std::string body);
EVENKEEL_API RestRequest update_request(const ResourceId& resource, const ObjectKey& key, std::string body,
                                        std::string subresource = {});
EVENKEEL_API RestRequest patch_request(const ResourceId& resource, const ObjectKey& key, Patch patch,
                                       const PatchOptions& options);
/// Form of the object in the answer: CallOptions::metadata_only applies only to calls without a C++ type.
enum class AnswerForm : std::uint8_t { whole, may_be_partial };
/// Returns the core of a server-side apply. If the document has a uid, it is applied to that object only.
EVENKEEL_API std::unique_ptr<CallCore> apply_core(const ResourceId& resource, Json document,
                                                  std::string subresource, const ApplyOptions& options,
                                                  AnswerForm answer = AnswerForm::whole);
EVENKEEL_API std::unique_ptr<CallCore> list_core(const ResourceId& resource, const ListOptions& options);

/// A typed object before and after an edit.
struct Edited {
  const TypeInfo& type;
  const void* before;
  const void* after;
  std::string_view raw;  // the document `before` was decoded from, or empty
  std::string subresource;
};
/// Returns the core of a call that sends the difference; it is complete without a response if there is none.
EVENKEEL_API std::unique_ptr<CallCore> edit_core(const Edited& edited);
EVENKEEL_API std::unique_ptr<CallCore> edit_core(const ResourceId& resource, const DynamicObject& before,
                                                 const DynamicObject& after, const std::string& subresource);
[[noreturn]] EVENKEEL_API void refuse_empty_snapshot();

template <ObjectType T>
Snapshot<T> decode_object(CallAnswer& answer) {
  if (!answer.response) return Snapshot<T>();
  auto kept = std::make_shared<const std::string>(std::move(answer.response->body));
  T value = from_json<T>(*kept, answer.what);
  const std::string_view text = *kept;
  return Snapshot<T>(std::move(value), text, std::move(kept));
}

template <ObjectType T>
List<T> decode_list(CallAnswer& answer) {
  RawList& raw = answer.list;
  List<T> list{.resource_version = std::move(raw.resource_version),
               .continue_token = std::move(raw.continue_token)};
  list.items.reserve(raw.items.size());
  for (std::size_t body = 0; body < raw.bodies.size(); ++body) {
    for (std::size_t i = list.items.size(); i < raw.ends[body]; ++i) {
      list.items.emplace_back(from_json<T>(raw.items[i], T::resource.plural), raw.items[i], raw.bodies[body]);
    }
  }
  return list;
}

template <ObjectType T>
ApiCall<Snapshot<T>> object_call(RestRequest request) {
  return {one_request(std::move(request)), &decode_object<T>};
}

template <ObjectType T>
ApiCall<Snapshot<T>> edit_call(const Snapshot<T>& object, const T& after, std::string subresource) {
  return {edit_core({type_info<T>(), object.get(), &after, object.raw(), std::move(subresource)}),
          [object](CallAnswer& answer) { return answer.response ? decode_object<T>(answer) : object; }};
}

template <class T>
const T& require(const Snapshot<T>& object) {
  if (!object) refuse_empty_snapshot();
  return *object;
}

template <class T, class Edit>
void edit_status(T& object, Edit& edit) {
  if constexpr (std::invocable<Edit&, decltype(object.status)&>) {
    edit(object.status);
  } else {  // an optional status, and an edit that takes its value
    if (!object.status) object.status.emplace();
    edit(*object.status);
  }
}

}  // namespace detail

namespace calls {

// ---- Typed ----

template <ObjectType T>
ApiCall<Snapshot<T>> get(const ObjectKey& key) {
  return detail::object_call<T>(detail::get_request(T::resource, key));
}

template <ObjectType T>
ApiCall<Snapshot<T>> find(const ObjectKey& key) {
  return {detail::one_request_or_absent(detail::get_request(T::resource, key)), &detail::decode_object<T>};
}

template <ObjectType T>
ApiCall<List<T>> list(const ListOptions& options = {}) {
  return {detail::list_core(T::resource, options), &detail::decode_list<T>};
}

template <ObjectType T>
ApiCall<Snapshot<T>> create(const T& object) {
  return detail::object_call<T>(detail::create_request(T::resource, object.metadata, to_json(object)));
}

template <ObjectType T>
ApiCall<Snapshot<T>> update(const T& object) {
  static_assert(CompleteType<T>,
                "update() replaces whole objects, and this type does not declare every field: use patch(), "
                "which sends what changed; a type that does declare them says `static constexpr bool "
                "complete = true`");
  return detail::object_call<T>(detail::update_request(T::resource, key_of(object), to_json(object)));
}

template <ObjectType T, class Edit>
requires(!std::same_as<Edit, Patch>) ApiCall<Snapshot<T>> patch(const Snapshot<T>& object, Edit edit) {
  static_assert(detail::CheckedEdit<Edit, T>::passed);
  T after = detail::require(object);
  edit(after);
  return detail::edit_call(object, after, "");
}

template <ObjectType T>
ApiCall<Snapshot<T>> patch(const ObjectKey& key, Patch patch, const PatchOptions& options = {}) {
  return detail::object_call<T>(detail::patch_request(T::resource, key, std::move(patch), options));
}

template <ObjectType T, class Edit>
ApiCall<Snapshot<T>> patch_status(const Snapshot<T>& object, Edit edit) {
  static_assert(detail::CheckedStatusEdit<Edit, T>::passed);
  T after = detail::require(object);
  detail::edit_status(after, edit);
  return detail::edit_call(object, after, "status");
}

template <ObjectType T>
ApiCall<Snapshot<T>> apply(const T& object, const ApplyOptions& options = {}) {
  return {detail::apply_core(T::resource, to_tree(type_info<T>(), &object), "", options),
          &detail::decode_object<T>};
}

template <ObjectType T>
ApiCall<Snapshot<T>> apply_status(const T& object, const ApplyOptions& options = {}) {
  return {detail::apply_core(T::resource, to_tree(type_info<T>(), &object), "status", options),
          &detail::decode_object<T>};
}

// ---- By resource: those without an object return or take DynamicObject ----

EVENKEEL_API ApiCall<Snapshot<DynamicObject>> get(const ResourceId& resource, const ObjectKey& key);
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> find(const ResourceId& resource, const ObjectKey& key);
EVENKEEL_API ApiCall<List<DynamicObject>> list(const ResourceId& resource, const ListOptions& options = {});
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> create(const ResourceId& resource, const DynamicObject& object);
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> update(const ResourceId& resource, const DynamicObject& object,
                                                     std::string subresource = {});
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> patch(const ResourceId& resource,
                                                    const Snapshot<DynamicObject>& object,
                                                    const std::function<void(DynamicObject&)>& edit,
                                                    std::string subresource = {});
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> patch(const ResourceId& resource, const ObjectKey& key,
                                                    Patch patch, const PatchOptions& options = {});
EVENKEEL_API ApiCall<Snapshot<DynamicObject>> apply(const ResourceId& resource, const DynamicObject& object,
                                                    const ApplyOptions& options = {},
                                                    std::string subresource = {});
EVENKEEL_API ApiCall<std::monostate> remove(const ResourceId& resource, const ObjectKey& key,
                                            const DeleteOptions& options = {});
EVENKEEL_API ApiCall<std::monostate> remove_all(const ResourceId& resource, const ListOptions& which,
                                                const DeleteOptions& options = {});
/// Only reads if `replicas` is not set. With a `uid`, fails with a conflict if the object has another one.
EVENKEEL_API ApiCall<Scale> scale(const ResourceId& resource, const ObjectKey& key,
                                  std::optional<std::int64_t> replicas = {}, const std::string& uid = {});

template <ObjectType T>
ApiCall<std::monostate> remove(const ObjectKey& key, const DeleteOptions& options = {}) {
  return remove(T::resource, key, options);
}
template <ObjectType T>
ApiCall<std::monostate> remove_all(const ListOptions& which, const DeleteOptions& options = {}) {
  return remove_all(T::resource, which, options);
}
// The first parameter excludes remove<T>({namespace, name}), whose braces could be an object, too.
template <int = 0, ObjectType T>
ApiCall<std::monostate> remove(const T& object, DeleteOptions options = {}) {
  if (options.uid.empty()) options.uid = object.metadata.uid;
  return remove(T::resource, key_of(object), options);
}
template <ObjectType T>
ApiCall<Scale> scale(const ObjectKey& key, std::optional<std::int64_t> replicas = {},
                     const std::string& uid = {}) {
  return scale(T::resource, key, replicas, uid);
}
template <int = 0, ObjectType T>
ApiCall<Scale> scale(const T& object, std::int64_t replicas) {
  return scale(T::resource, key_of(object), replicas, object.metadata.uid);
}

// ---- Untyped ----

EVENKEEL_API ApiCall<http::Response> raw(RestRequest request);
EVENKEEL_API ApiCall<RawList> list_raw(const ResourceId& resource, const ListOptions& options = {});

}  // namespace calls
}  // namespace v0
}  // namespace evenkeel
