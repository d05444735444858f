// SPDX-License-Identifier: Apache-2.0
// The graph behind Dependents<T>, without the types of the owner and of the dependents.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/controller/dependents_report.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A function of the program, called with (Context&, const Object&) or with (const Object&).
template <class Answer, class Object>
class DependentFunction {
 public:
  DependentFunction() = default;
  template <class F>
  requires(!std::same_as<std::remove_cvref_t<F>, DependentFunction>) DependentFunction(F function) {
    if constexpr (std::invocable<F&, Context&, const Object&>) {
      static_assert(std::convertible_to<std::invoke_result_t<F&, Context&, const Object&>, Answer>,
                    "a function of dependents returns a wrong type");
      call_ = std::move(function);
    } else {
      static_assert(std::invocable<F&, const Object&>,
                    "a function of dependents takes (const T&) or (Context&, const T&), where T is the "
                    "reconciled kind, and for `ready` that of the dependent");
      static_assert(std::convertible_to<std::invoke_result_t<F&, const Object&>, Answer>,
                    "a function of dependents returns a wrong type");
      call_ = [function = std::move(function)](Context&, const Object& object) mutable -> Answer {
        return std::invoke(function, object);
      };
    }
  }
  explicit operator bool() const noexcept { return call_ != nullptr; }
  Answer operator()(Context& context, const Object& object) const { return call_(context, object); }

 private:
  std::function<Answer(Context&, const Object&)> call_;
};

/// An object that is controlled by the owner.
struct OwnedDependent {
  ObjectKey key = {};
  std::string uid = {};
  std::string dependent = {};  // name of its dependent, from the annotation; empty: created by other code
  bool deleting = false;
};

/// A desired object without a C++ type, as a function of the program returns it.
struct DesiredObject {
  DesiredObject(DynamicObject desired) : object(std::move(desired)) {}
  DesiredObject(Json body) : object(std::move(body)) {}
  DynamicObject object;
};
struct DesiredObjects {
  DesiredObjects(std::vector<DynamicObject> desired) : objects(std::move(desired)) {}
  DesiredObjects(std::vector<Json> bodies) {
    for (Json& body : bodies) objects.emplace_back(std::move(body));
  }
  std::vector<DynamicObject> objects;
};

class DependentGraph;
class LateKinds;
struct DependentNode;

/// Collects the results of one dependent's objects in one pass.
class EVENKEEL_API DependentObjects {
 public:
  /// `claimed` has the objects of the pass, each with the name of its dependent. The references are kept.
  DependentObjects(const DependentGraph& graph, const DependentNode& node, const ObjectMeta& owner,
                   std::string annotation, std::map<std::string, std::string>& claimed);

  /// Sets namespace, owner and the annotation of a desired object. Throws std::invalid_argument if it has no
  /// name, a namespace other than the owner's, or was already returned in this pass.
  void claim(ObjectMeta& object);
  /// Sets kind and version, too. Also throws std::invalid_argument for an object of another kind, and
  /// DecodeError.
  void claim(DynamicObject& object);
  /// Runs `work`, which applies one object. Keeps its exception if that is the first; Cancelled propagates.
  void attempt(const std::function<void()>& work);
  /// Returns false if the existing object must be deleted before another one can take its name.
  bool can_apply(const ObjectMeta& existing);
  /// `before` is null if the object did not exist.
  void on_applied(const ObjectMeta* before, const ObjectMeta& after, Readiness readiness);

  const ResourceId& resource() const noexcept { return resource_; }
  const std::string& blocked() const noexcept { return blocked_; }
  Readiness readiness() const;
  std::size_t written() const noexcept { return written_; }
  const std::exception_ptr& error() const noexcept { return error_; }

 private:
  const DependentGraph& graph_;
  const DependentNode& node_;
  const ResourceId& resource_;
  const ObjectMeta& owner_;
  const std::string annotation_;
  std::map<std::string, std::string>& claimed_;
  std::string blocked_;
  std::optional<std::string> unready_;
  std::size_t written_ = 0;
  std::exception_ptr error_;
};

/// Requests about the objects of one kind.
struct DependentKind {
  ResourceId resource = {};
  std::vector<OwnedDependent> (*list)(Context&, const ResourceId&, const ObjectMeta& owner,
                                      const void* object, const std::string& annotation) = nullptr;
  /// Returns the uid; empty if there is no such object.
  std::string (*uid_of)(Context&, const ResourceId&, const ObjectKey&) = nullptr;
  void (*remove)(Context&, const ResourceId&, const ObjectKey&, const DeleteOptions&) = nullptr;
  bool late = false;  // the server may not serve it; its watch begins once it does
};

/// A dependent, without the types of its object and its owner.
struct DependentNode {
  std::string name = {};
  std::vector<std::size_t> after = {};
  std::size_t kind = 0;
  bool optional = false;  // skipped while its kind is not served
  std::optional<Propagation> propagation = {};
  std::function<bool(Context&, const void* owner)> when = {};       // empty: always
  std::function<Readiness(Context&, const void* owner)> gone = {};  // empty: when no object is left
  std::function<void(Context&, const void* owner, DependentObjects&)> apply = {};
};

/// The declared dependents of a kind.
class EVENKEEL_API DependentGraph {
 public:
  /// Throws std::invalid_argument for a name that add() would refuse; it may be empty.
  DependentGraph(const ResourceInfo& owner, std::string name);

  /// Adds a dependent with these names in `after`. Its kind is late only if every dependent of the kind adds
  /// it as late. Returns the position of the kind. Throws std::invalid_argument.
  std::size_t add(DependentNode node, const std::vector<std::string>& after, DependentKind kind);
  /// Returns the watch of a late kind.
  WatchSpec late_watch(const ResourceId& resource) const;

  DependentsReport reconcile(Context& context, const void* owner, const ObjectMeta& metadata) const;
  Result clean_up(Context& context, const void* owner, const ObjectMeta& metadata) const;
  std::vector<PolicyRule> rules() const;

  const ResourceInfo& owner() const noexcept { return owner_; }
  const std::string& name() const noexcept { return name_; }
  const std::vector<DependentKind>& kinds() const noexcept { return kinds_; }
  const std::vector<DependentNode>& nodes() const noexcept { return nodes_; }
  LateKinds& late_kinds() const noexcept { return *late_; }

 private:
  void require_sound(const DependentNode& node, const ResourceId& kind) const;
  std::size_t position_of(const std::string& name, const std::string& of) const;

  ResourceInfo owner_;
  std::string name_;
  std::vector<DependentKind> kinds_;
  std::vector<DependentNode> nodes_;
  std::shared_ptr<LateKinds> late_;  // shared by copies
};

/// Returns the requests about a kind without a C++ type.
EVENKEEL_API DependentKind dependent_kind(ResourceId resource);

template <ObjectType U, ObjectType T>
DependentKind dependent_kind() {
  return {.resource = U::resource,
          .list =
              [](Context& context, const ResourceId&, const ObjectMeta&, const void* owner,
                 const std::string& annotation) {
                const T& object = *static_cast<const T*>(owner);
                std::vector<OwnedDependent> found;
                for (const Snapshot<U>& one : context.owned_by<U>(object)) {
                  const OwnerReference* const controller = controller_of(one->metadata);
                  if (controller == nullptr || controller->uid != object.metadata.uid) continue;
                  const auto dependent = one->metadata.annotations.find(annotation);
                  const bool named = dependent != one->metadata.annotations.end();
                  found.push_back({key_of(*one), one->metadata.uid, named ? dependent->second : std::string(),
                                   is_deleting(one->metadata)});
                }
                return found;
              },
          .uid_of =
              [](Context& context, const ResourceId&, const ObjectKey& key) {
                const Snapshot<U> found = context.find<U>(key);
                return found ? found->metadata.uid : std::string();
              },
          .remove = [](Context& context, const ResourceId&, const ObjectKey& key,
                       const DeleteOptions& options) { context.remove<U>(key, options); }};
}

template <ObjectType U>
void apply_dependents(Context& context, std::vector<U> wanted, const DependentFunction<Readiness, U>& ready,
                      const ContextApplyOptions& options, DependentObjects& objects) {
  for (U& object : wanted) objects.claim(object.metadata);
  for (U& object : wanted) {
    objects.attempt([&] {
      const ObjectKey key = key_of(object);
      const Snapshot<U> before = context.find<U>(key);
      if (before && !objects.can_apply(before->metadata)) return;
      const Snapshot<U> after = context.apply(std::move(object), options);
      objects.on_applied(before ? &before->metadata : nullptr, after->metadata,
                         ready ? ready(context, *after) : Readiness(true));
    });
  }
}

EVENKEEL_API void apply_dependents(Context& context, std::vector<DynamicObject> wanted,
                                   const DependentFunction<Readiness, DynamicObject>& ready,
                                   const ContextApplyOptions& options, DependentObjects& objects);

template <class T>
using StatusOf = std::remove_cvref_t<decltype(*status_of(std::declval<const T&>()))>;

template <class T>
concept HasConditions = requires(StatusOf<T>& status) {
  { status.conditions } -> std::same_as<std::vector<Condition>&>;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
