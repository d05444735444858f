// SPDX-License-Identifier: Apache-2.0
// Unit tests of reconcilers: objects in; results, writes, log and objects out.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include <evenkeel/controller/builder.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

struct RunOptions {
  /// The object whose key is reconciled by run_once(). Default: the first of `objects` that is of the kind.
  std::optional<ObjectKey> key = {};
  Duration limit = std::chrono::minutes{10};  ///< Of virtual time; run() returns when it is over.
  HarnessOptions harness = {};
};

namespace detail {

// The T of a callable (Context&, const T&) that is no template.
template <class F>
struct ReconciledOf;
template <class R, class T>
struct ReconciledOf<R (*)(Context&, const T&)> {
  using type = T;
};
template <class R, class C, class T>
struct ReconciledOf<R (C::*)(Context&, const T&)> {
  using type = T;
};
template <class R, class C, class T>
struct ReconciledOf<R (C::*)(Context&, const T&) const> {
  using type = T;
};
template <class F>
struct CallOf {
  using type = F;
};
template <class F>
requires requires {
  &F::operator();
}
struct CallOf<F> {
  using type = decltype(&F::operator());
};
template <class F>
using Reconciled = typename ReconciledOf<typename CallOf<std::decay_t<F>>::type>::type;

EVENKEEL_API Harness run(ControllerSpec spec, const Objects& objects, const RunOptions& options);
EVENKEEL_API Harness run_once(ControllerSpec spec, const Objects& objects, const RunOptions& options);

}  // namespace detail

/// A reconciler that tells by its signature what it reconciles: (Context&, const Demo&).
template <class F>
concept TellingReconciler = requires {
  typename detail::Reconciled<F>;
}
&&ObjectType<detail::Reconciled<F>>;

/// Creates `objects` and runs a controller, as controller_for() describes it, until nothing is due in virtual
/// time: requeues, delays, back-offs and what its own writes cause included. What happened is in the Harness.
/// Throws what Harness::create() and Harness::settle() throw: also UnexpectedFailure, if the reconciler
/// throws and `options.harness.expect_failures` is not set; what it throws is in the runs.
inline Harness run(ControllerSpec spec, const Objects& objects, const RunOptions& options = {}) {
  return detail::run(std::move(spec), objects, options);
}
/// The same for a plain function. It is watched and called as controller_for<T>(reconcile) would.
template <TellingReconciler F>
Harness run(F reconcile, const Objects& objects, const RunOptions& options = {}) {
  return detail::run(controller_for<detail::Reconciled<F>>(std::move(reconcile)), objects, options);
}
/// For functions that do not tell the type: run<Demo>([](Context& context, const Request&) { ... }, objects).
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> Harness run(F reconcile, const Objects& objects,
                                                                    const RunOptions& options = {}) {
  return detail::run(controller_for<T>(std::move(reconcile)), objects, options);
}

/// As run(), but for one single run of one key; harness.last() is that run.
/// Throws std::invalid_argument if `options` has no key and no object is of the kind, and as run() does.
inline Harness run_once(ControllerSpec spec, const Objects& objects, const RunOptions& options = {}) {
  return detail::run_once(std::move(spec), objects, options);
}
template <TellingReconciler F>
Harness run_once(F reconcile, const Objects& objects, const RunOptions& options = {}) {
  return detail::run_once(controller_for<detail::Reconciled<F>>(std::move(reconcile)), objects, options);
}
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> Harness run_once(F reconcile, const Objects& objects,
                                                                         const RunOptions& options = {}) {
  return detail::run_once(controller_for<T>(std::move(reconcile)), objects, options);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
