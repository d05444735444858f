// SPDX-License-Identifier: Apache-2.0
// Compile-time checks of the edits passed to patch(), patch_status() and similar functions: an edit that
// takes a copy of the object has no effect.
#pragma once

#include <concepts>
#include <type_traits>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

template <class CallOperator>
struct FirstParameter;
template <class R, class F, class P>
struct FirstParameter<R (F::*)(P)> {
  using type = P;
};
template <class R, class F, class P>
struct FirstParameter<R (F::*)(P) const> {
  using type = P;
};
template <class R, class F, class P>
struct FirstParameter<R (F::*)(P) noexcept> {
  using type = P;
};
template <class R, class F, class P>
struct FirstParameter<R (F::*)(P) const noexcept> {
  using type = P;
};

/// A generic `[](auto&& object)`, which can be called with a temporary but takes a reference.
template <class Edit, class T>
concept Forwards = requires {
  requires std::is_rvalue_reference_v<typename FirstParameter<decltype(&Edit::template operator()<T>)>::type>;
};

/// Takes T by value or by const reference. False for a class with several call operators.
template <class Edit, class T>
concept EditsACopy = std::invocable<Edit&, T> && !Forwards<Edit, T> &&
                     (
                         std::is_pointer_v<Edit> || requires { &Edit::operator(); } ||
                         requires { &Edit::template operator()<T>; });

template <class Edit, class T>
struct CheckedEdit {
  static_assert(std::invocable<Edit&, T&>,
                "an edit takes a reference to the object: [](Kind& object) { object.spec.size = 3; }");
  static_assert(!EditsACopy<Edit, T>,
                "this edit would change nothing, as it gets a copy or a const reference: take a reference, "
                "[](Kind& object) { object.spec.size = 3; }");
  static constexpr bool passed = true;
};

template <class Edit, class Status>
inline constexpr bool takes_status = std::invocable<Edit&, Status&>;
template <class Edit, class Status>
requires requires(Status& status) {
  *status;
  status.emplace();
}
inline constexpr bool takes_status<Edit, Status> =
    std::invocable<Edit&, Status&> || std::invocable<Edit&, decltype(*std::declval<Status&>())>;

template <class Edit, class Status>
inline constexpr bool edits_a_copy_of_status = EditsACopy<Edit, Status>;
template <class Edit, class Status>
requires requires(Status& status) {
  *status;
  status.emplace();
}
inline constexpr bool edits_a_copy_of_status<Edit, Status> =
    std::invocable<Edit&, Status&>
        ? EditsACopy<Edit, Status>
        : EditsACopy<Edit, std::remove_cvref_t<decltype(*std::declval<Status&>())>>;

template <class Edit, class T>
struct CheckedStatusEdit {
  static_assert(
      requires(T & object) { object.status; }, "patch_status() is for types with a member `status`");
  static_assert(takes_status<Edit, decltype(T::status)>,
                "an edit of patch_status() takes a reference to the object's status and not to the object or "
                "another part: [](KindStatus& status) { status.ready = 3; }");
  static_assert(!edits_a_copy_of_status<Edit, decltype(T::status)>,
                "this edit would change nothing, as it gets a copy or a const reference: take a reference, "
                "[](KindStatus& status) { status.ready = 3; }");
  static constexpr bool passed = true;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
