// SPDX-License-Identifier: Apache-2.0
// Unit tests of reconcilers: objects in; results, writes, log and objects out.
#pragma once

#include <chrono>
#include <type_traits>
#include <utility>

#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

struct RunOptions {
  /// The object that run_once() reconciles. Default: the first of `objects` that is of the kind.
  std::optional<ObjectKey> key = {};
  Duration limit = std::chrono::minutes{10};  ///< Limit of virtual time; run() returns when it is over.
  HarnessOptions harness = {};
};

namespace detail {

// The T of a callable (Context&, const T&) that is not a template.
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

/// A reconciler whose signature determines the kind that it reconciles: (Context&, const Demo&).
template <class F>
concept TellingReconciler = requires {
  typename detail::Reconciled<F>;
}
&&ObjectType<detail::Reconciled<F>>;

/// Creates `objects` and runs a controller, described by controller_for(), until no work is left in virtual
/// time, including requeues, delays, back-offs and events of its own writes. Returns the harness with the
/// results. Throws what Harness::create() and Harness::settle() throw, in particular UnexpectedFailure if the
/// reconciler throws and `options.harness.expect_failures` is not set; the exceptions of the reconciler are
/// in the runs.
inline Harness run(ControllerSpec spec, const Objects& objects, const RunOptions& options = {}) {
  return detail::run(std::move(spec), objects, options);
}
/// Like run(ControllerSpec), for a plain function: it is watched and called as by
/// controller_for<T>(reconcile).
template <TellingReconciler F>
Harness run(F reconcile, const Objects& objects, const RunOptions& options = {}) {
  return detail::run(controller_for<detail::Reconciled<F>>(std::move(reconcile)), objects, options);
}
/// For functions whose signature does not determine the type: run<Demo>([](Context& context, const Request&)
/// { ... }, objects).
template <ObjectType T, class F>
requires ObjectReconciler<F, T> || RequestReconciler<F> Harness run(F reconcile, const Objects& objects,
                                                                    const RunOptions& options = {}) {
  return detail::run(controller_for<T>(std::move(reconcile)), objects, options);
}

/// Like run(), but runs one key once; harness.last() is that run. Throws std::invalid_argument if `options`
/// has no key and no object is of the kind, and what run() throws.
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
