// SPDX-License-Identifier: Apache-2.0
// The objects that a reconciled object owns, declared as a graph with conditions: created, updated, deleted
// and reported by the runtime. See docs/dependents.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/api/dynamic.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/controller/builder.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/dependents_report.hpp>
#include <evenkeel/controller/detail/dependent_graph.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

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
        context.patch_status(owner, [&](detail::StatusOf<T>& status) {
          report.write_conditions(status.conditions, owner.metadata.generation, context.clock().wall_now(),
                                  conditions_);
        });
    }
    return report.result();
  }

  /// Adds to a controller the clauses that the graph needs: owns() for each kind, to which filters do not
  /// apply, and the finalizer.
  void add_to(ControllerBuilder<T>& builder) const {
    std::vector<WatchSpec>& watches = builder.spec_.watches;
    const std::size_t first = watches.size();
    for (std::size_t at = 0; at < owns_.size(); ++at) {
      const detail::DependentKind& kind = graph_.kinds()[at];
      if (kind.late) {
        builder.watches(graph_.late_watch(kind.resource));
      } else {
        owns_[at](builder);
      }
    }
    for (std::size_t at = first; at < watches.size(); ++at) watches[at].filtered = false;
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
