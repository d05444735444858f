// SPDX-License-Identifier: Apache-2.0
// The objects that a reconciled object owns, declared as a graph with conditions: created, updated, deleted
// and reported by the runtime. See docs/dependents.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/context.hpp>
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
concept HasConditions = requires(T& object) {
  { object.status.conditions } -> std::same_as<std::vector<Condition>&>;
};

}  // namespace detail

/// Conditions and options of a dependent. T is the reconciled kind, U that of the dependent, or
/// DynamicObject. Functions take the object, or (Context&, object); they are called in each pass, by several
/// workers concurrently. If one looks at other objects, the controller has to watch those.
template <ObjectType T, class U>
struct DependentOptions {
  /// Dependents that must be ready before this one is applied, and that are deleted after it. They are
  /// declared before it, so that there are no cycles.
  std::vector<std::string> after = {};
  /// (const T&) -> bool. False: neither this dependent nor those that depend on it should exist; their
  /// objects are deleted in reverse order. Default: always true. To delay a dependent, put the condition into
  /// `ready` of a dependent in `after`.
  detail::DependentFunction<bool, T> when = {};
  /// (const U&) -> bool or Readiness: true if dependents after it may be applied. Called for each object
  /// after it has been applied. Default: always true. See controller/readiness.hpp.
  detail::DependentFunction<Readiness, U> ready = {};
  /// (const T&) -> bool or Readiness: an additional deletion check, called once no object is left; until it
  /// returns true, the dependents in `after` are kept. Default: always true.
  detail::DependentFunction<Readiness, T> gone = {};
  /// Deletes an object and applies it again if the server refuses to change an immutable field; see
  /// ContextApplyOptions::recreate_immutable.
  bool recreate_immutable = false;
  /// Treatment of an object that exists and that no owner controls.
  Unowned unowned = Unowned::refuse;
  /// Propagation of deletions. With foreground, an object disappears only after the objects it owns, such as
  /// a Deployment after its Pods. Default: background.
  std::optional<Propagation> propagation = {};
  /// While the server does not serve the kind, skips this dependent, does not watch the kind, and deletes the
  /// dependents after it; passes check again periodically. Ignored unless all dependents of the same C++ type
  /// set it.
  bool only_if_served = false;
};

/// The objects that each T owns, declared as a graph of dependencies.
///
///     auto graph = ek::dependents<Website>()
///                      .add<ek::ConfigMap>("config", make_config)
///                      .add<ek::Deployment>("workload", make_deployment,
///                                           {.after = {"config"}, .ready = ek::rolled_out});
///     manager.add(ek::controller_for(graph));
///
/// Each pass computes the desired objects from the owner, applies the objects whose dependencies are ready,
/// deletes those that should not exist, and returns a report. An object is recognized by its controller and
/// an annotation with the name of its dependent; other objects of the same kinds are left alone. Deletions
/// carry the uid of the object.
/// Thread safety: const members may be called concurrently if the program's functions may.
/// Source: the workflows of the Java Operator SDK; unlike there, a deletion counts as complete only when the
/// object is gone, and an object whose name is taken waits for the old one to disappear.
template <ObjectType T>
class Dependents {
 public:
  /// `name` distinguishes graphs of one program for the same kind of owner; see docs/dependents.md.
  explicit Dependents(std::string name = {}) : graph_(T::resource, std::move(name)) {}

  /// Declares a dependent with one object, which `make` returns. `make` is called with (const T&) or
  /// (Context&, const T&) and must set a name; the namespace is that of the owner.
  /// Throws std::invalid_argument if `name` has other characters than lower-case letters, digits and '-', or
  /// is already declared, or if a name in `after` is not declared yet.
  template <ObjectType U, class Make>
  Dependents& add(std::string name, Make make, DependentOptions<T, U> options = {}) {
    static_assert(is_maker<Make>, "a dependent is made by a function of (const T&) or (Context&, const T&)");
    const detail::DependentFunction<U, T> one(std::move(make));
    add_typed<U>(
        std::move(name),
        [one](Context& context, const T& owner) {
          std::vector<U> objects;
          objects.push_back(one(context, owner));
          return objects;
        },
        std::move(options));
    return *this;
  }
  /// Like add(), for any number of objects: `make` returns a std::vector<U>. Objects that it no longer
  /// returns are deleted after the returned ones have been applied.
  template <ObjectType U, class Make>
  Dependents& add_each(std::string name, Make make, DependentOptions<T, U> options = {}) {
    static_assert(is_maker<Make>, "dependents are made by a function of (const T&) or (Context&, const T&)");
    add_typed<U>(std::move(name), detail::DependentFunction<std::vector<U>, T>(std::move(make)),
                 std::move(options));
    return *this;
  }
  /// Like add(), for a kind without a C++ type: `make` returns a DynamicObject or Json; kind and version are
  /// filled in. While the server does not serve the kind, the dependent fails.
  template <class Make>
  Dependents& add(ResourceId kind, std::string name, Make make,
                  DependentOptions<T, DynamicObject> options = {}) {
    static_assert(is_maker<Make>, "a dependent is made by a function of (const T&) or (Context&, const T&)");
    const detail::DependentFunction<detail::DesiredObject, T> one(std::move(make));
    add_dynamic(
        std::move(kind), std::move(name),
        [one](Context& context, const T& owner) {
          return std::vector<DynamicObject>{one(context, owner).object};
        },
        std::move(options));
    return *this;
  }
  /// Like add_each(), for a kind without a C++ type: `make` returns a vector of DynamicObject or Json.
  template <class Make>
  Dependents& add_each(ResourceId kind, std::string name, Make make,
                       DependentOptions<T, DynamicObject> options = {}) {
    static_assert(is_maker<Make>, "dependents are made by a function of (const T&) or (Context&, const T&)");
    const detail::DependentFunction<detail::DesiredObjects, T> all(std::move(make));
    add_dynamic(
        std::move(kind), std::move(name),
        [all](Context& context, const T& owner) { return all(context, owner).objects; }, std::move(options));
    return *this;
  }

  /// Selects the conditions that controller_for(graph) writes, if the status of T has `std::vector<Condition>
  /// conditions`. Default: "Ready".
  Dependents& conditions(DependentConditions which) {
    conditions_ = which;
    return *this;
  }
  /// Deletes the dependents in reverse order when the owner is deleted, and keeps the owner until they are
  /// gone by a finalizer of this name: "demo.example.com/dependents". Without it, the garbage collector
  /// deletes them in any order.
  Dependents& delete_in_order(std::string finalizer) {
    finalizer_ = std::move(finalizer);
    return *this;
  }

  /// Does one pass. `owner` is the object being reconciled; if it is being deleted, nothing is applied or
  /// deleted. Throws Cancelled; failures of dependents are in the report.
  DependentsReport reconcile(Context& context, const T& owner) const {
    return graph_.reconcile(context, &owner, owner.metadata);
  }
  /// Deletes all dependents in reverse order; a function for ControllerBuilder::finalize(). Returns done()
  /// when they are gone. Throws as DependentsReport::result() does.
  Result clean_up(Context& context, const T& owner) const {
    return graph_.clean_up(context, &owner, owner.metadata);
  }
  /// Does one pass, writes the conditions, and throws if a dependent failed: a complete reconciler.
  Result operator()(Context& context, const T& owner) const {
    const DependentsReport report = reconcile(context, owner);
    if constexpr (detail::HasConditions<T>) {
      if (conditions_ != DependentConditions::none)
        context.patch_status(owner, [&](auto& status) {
          report.write_conditions(status.conditions, owner.metadata.generation, context.clock().wall_now(),
                                  conditions_);
        });
    }
    return report.result();
  }

  /// Adds to a controller the clauses that the graph needs: owns() for each kind, and the finalizer.
  void add_to(ControllerBuilder<T>& builder) const {
    for (std::size_t at = 0; at < owns_.size(); ++at) {
      const detail::DependentKind& kind = graph_.kinds()[at];
      if (kind.late) {
        builder.watches(graph_.late_watch(kind.resource));
      } else {
        owns_[at](builder);
      }
    }
    if (finalizer_.empty()) return;
    builder.finalize(finalizer_, [graph = graph_](Context& context, const T& owner) {
      return graph.clean_up(context, &owner, owner.metadata);
    });
  }
  /// Returns the permissions that a pass needs besides those of the watches, for ManifestOptions::rules.
  std::vector<PolicyRule> rules() const {
    std::vector<PolicyRule> rules = graph_.rules();
    if (detail::HasConditions<T> && conditions_ != DependentConditions::none)
      rules.push_back(
          {{std::string(T::resource.group)}, {std::string(T::resource.plural) + "/status"}, {"patch"}});
    return rules;
  }

 private:
  template <class Make>
  static constexpr bool is_maker =
      std::invocable<Make&, Context&, const T&> || std::invocable<Make&, const T&>;

  template <ObjectType U, class Make>
  void add_typed(std::string name, Make make, DependentOptions<T, U> options) {
    static_assert(T::resource.scope == Scope::cluster || U::resource.scope == Scope::namespaced,
                  "an owner with a namespace cannot own what is cluster-scoped");
    auto kind = detail::dependent_kind<U, T>();
    kind.late = options.only_if_served;
    const std::size_t at = add_node(std::move(name), std::move(kind), std::move(make), std::move(options));
    owns_[at] = [](ControllerBuilder<T>& builder) { builder.template owns<U>(); };
  }
  template <class Make>
  void add_dynamic(ResourceId resource, std::string name, Make make,
                   DependentOptions<T, DynamicObject> options) {
    add_node(std::move(name), detail::dependent_kind(std::move(resource)), std::move(make),
             std::move(options));
  }
  // Returns the position of the kind.
  template <class U, class Make>
  std::size_t add_node(std::string name, detail::DependentKind kind, Make make,
                       DependentOptions<T, U> options) {
    detail::DependentNode node{
        .name = std::move(name), .optional = options.only_if_served, .propagation = options.propagation};
    if (options.when)
      node.when = [when = std::move(options.when)](Context& context, const void* owner) {
        return when(context, *static_cast<const T*>(owner));
      };
    if (options.gone)
      node.gone = [gone = std::move(options.gone)](Context& context, const void* owner) {
        return gone(context, *static_cast<const T*>(owner));
      };
    const ContextApplyOptions apply{
        .skip_unchanged = true, .recreate_immutable = options.recreate_immutable, .unowned = options.unowned};
    node.apply = [make = std::move(make), ready = std::move(options.ready), apply](
                     Context& context, const void* owner, detail::DependentObjects& objects) {
      detail::apply_dependents(context, make(context, *static_cast<const T*>(owner)), ready, apply, objects);
    };
    const std::size_t at = graph_.add(std::move(node), options.after, std::move(kind));
    if (at == owns_.size()) owns_.push_back(nullptr);
    return at;
  }

  detail::DependentGraph graph_;
  std::vector<void (*)(ControllerBuilder<T>&)> owns_;  // for each kind; null: it is late
  DependentConditions conditions_ = DependentConditions::summary;
  std::string finalizer_;
};

/// Begins the declaration of the dependents of T; see Dependents.
template <ObjectType T>
Dependents<T> dependents(std::string name = {}) {
  return Dependents<T>(std::move(name));
}

/// Returns the description of a controller that reconciles the dependents of a graph and writes the
/// conditions.
template <ObjectType T>
ControllerBuilder<T> controller_for(const Dependents<T>& graph, TriggerOptions options = {}) {
  ControllerBuilder<T> builder(T::resource, graph, std::move(options));
  graph.add_to(builder);
  return builder;
}
/// Like controller_for(graph), with a reconciler of the program, which calls graph.reconcile() itself:
///
///     ek::controller_for(graph, [graph](ek::Context& context, const Website& site) {
///       const ek::DependentsReport report = graph.reconcile(context, site);
///       ...
///       return report.result();
///     })
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> ControllerBuilder<T> controller_for(
    const Dependents<T>& graph, F reconciler, TriggerOptions options = {}) {
  ControllerBuilder<T> builder(T::resource, std::move(reconciler), std::move(options));
  graph.add_to(builder);
  return builder;
}

}  // namespace v0
}  // namespace evenkeel
