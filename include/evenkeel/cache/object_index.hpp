// SPDX-License-Identifier: Apache-2.0
// Indexes of cached objects: the values that a function returns for an object, by which it is found.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel {
inline namespace v0 {

namespace detail {

/// The type-erased function of an index.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API IndexFunction {
 public:
  virtual ~IndexFunction() = default;
  /// Appends the values of `object`. May throw anything that a program's function throws.
  virtual void add_values(const WireObject& object, std::vector<std::string>& values) const = 0;
  /// Returns true if both are known to be the same function.
  virtual bool is_same(const IndexFunction& other) const = 0;
};

template <class Values>
concept IndexText = std::convertible_to<const Values&, std::string_view>;
template <class Values>
concept IndexOptional = !IndexText<Values> && requires(const Values& values) {
  requires IndexText<std::remove_cvref_t<decltype(*values)>>;
  { values.has_value() } -> std::convertible_to<bool>;
};
template <class Values>
concept IndexRange = !IndexText<Values> && !IndexOptional<Values> && requires(const Values& values) {
  requires IndexText<std::remove_cvref_t<decltype(*std::begin(values))>> ||
      IndexOptional<std::remove_cvref_t<decltype(*std::begin(values))>>;
};
template <class Values>
concept IndexResult = IndexText<Values> || IndexOptional<Values> || IndexRange<Values>;

template <IndexResult Values>
void add_index_values(const Values& found, std::vector<std::string>& values) {
  if constexpr (IndexText<Values>) {
    values.emplace_back(std::string_view(found));
  } else if constexpr (IndexOptional<Values>) {
    if (found.has_value()) values.emplace_back(std::string_view(*found));
  } else {
    for (const auto& one : found) add_index_values(one, values);
  }
}

// True if F takes the wire form of an object, so that nothing is decoded.
template <class F>
constexpr bool indexes_wire_form = std::invocable<const F&, const WireObject&>;

template <class F, class T>
struct IndexReturn : std::invoke_result<const F&, const T&> {};
template <class F, class T>
requires indexes_wire_form<F>
struct IndexReturn<F, T> : std::invoke_result<const F&, const WireObject&> {
};

template <class T, class F>
struct CheckedIndex {
  static_assert(
      indexes_wire_form<F> || std::invocable<const F&, const T&>,
      "the function of an index takes the object, (const T&), or its wire form, (const WireObject&); "
      "it must not be mutable");
  static_assert(IndexResult<std::remove_cvref_t<typename IndexReturn<F, T>::type>>,
                "the function of an index returns a string, an optional string or a range of strings");
  static constexpr bool passed = true;
};

template <class T, class F>
class IndexFunctionOf final : public IndexFunction {
  static_assert(CheckedIndex<T, F>::passed);

 public:
  explicit IndexFunctionOf(F function) : function_(std::move(function)) {}
  void add_values(const WireObject& object, std::vector<std::string>& values) const override {
    if constexpr (indexes_wire_form<F>)
      add_index_values(std::invoke(function_, object), values);
    else
      add_index_values(std::invoke(function_, *object.template decode<T>()), values);
  }
  bool is_same(const IndexFunction& other) const override {
    const auto* same_type = dynamic_cast<const IndexFunctionOf*>(&other);
    if (same_type == nullptr) return false;
    if constexpr (std::is_empty_v<F>)
      return true;
    else if constexpr (std::equality_comparable<F>)
      return function_ == same_type->function_;
    else
      return this == same_type;
  }

 private:
  const F function_;
};

/// Returns the form of which the function of an index needs no more.
template <class T, class F>
constexpr WireForm index_form() {
  if (indexes_wire_form<F>) return WireForm::metadata_only;
  return ObjectType<T> ? WireForm::projected : WireForm::whole;
}

template <class T>
Projection index_projection() {
  if constexpr (ObjectType<T>)
    return Projection::of<T>();
  else
    return {};
}

[[noreturn]] EVENKEEL_API void refuse_nameless_index();

}  // namespace detail

/// An index of the objects of one kind; made by index_by().
struct IndexDefinition {
  std::string name = {};
  std::shared_ptr<const detail::IndexFunction> function = {};
  /// Form that objects must be kept in for the function. Informers of metadata have no index by a function of
  /// typed objects.
  WireForm form = WireForm::whole;
  /// The members that the type of the function has, for WireForm::projected.
  Projection projection = {};
};

/// Returns the definition of an index of objects of kind T. `function` takes a `const T&`, or a
/// `const WireObject&`, and returns the values by which the object is found: a string, an optional string, or
/// a range of them. Empty values are ignored.
///
/// The function is called once for each new state of an object, on the thread that stores it, under no lock;
/// and for the program's own writes by the threads that read them. It must therefore be callable
/// concurrently, and it must depend on the object alone. A function of a `const T&` decodes the object each
/// time, which takes as long as a typed read. An object for which it throws is in no entry of the index; that
/// is logged and counted (InformerHealth::index_failures).
/// Throws std::invalid_argument for an empty name.
template <class T, class F>
IndexDefinition index_by(std::string name, F function) {
  if (name.empty()) detail::refuse_nameless_index();
  return {.name = std::move(name),
          .function = std::make_shared<const detail::IndexFunctionOf<T, F>>(std::move(function)),
          .form = detail::index_form<T, F>(),
          .projection = detail::index_projection<T>()};
}

/// The function of an index by the value of one label; made by label_index().
struct LabelIndex {
  std::string label = {};
  std::optional<std::string_view> operator()(const WireObject& object) const { return object.label(label); }
  bool operator==(const LabelIndex&) const = default;
};

/// Returns the function of an index by the value of a label: cache.index<Pod>("app", label_index("app")).
/// Objects without the label, or with an empty value of it, are in no entry.
inline LabelIndex label_index(std::string label) {
  return {std::move(label)};
}

/// Value of an index; made by by().
struct IndexQuery {
  explicit IndexQuery(std::string index_, std::string value_)
      : index(std::move(index_)), value(std::move(value_)) {}
  std::string index;
  std::string value;
};

/// Selects the objects that have this value in an index: context.list<Website>(by("secret", "tls")). Nothing
/// has an empty value.
inline IndexQuery by(std::string index, std::string value) {
  return IndexQuery(std::move(index), std::move(value));
}

/// Options of a list by index.
struct IndexListOptions {
  std::string namespace_ = {};          ///< Empty: all namespaces.
  std::size_t limit = 0;                ///< Maximum number of objects; 0: unlimited.
  std::optional<ObjectKey> after = {};  ///< Only objects after this key, such as the last one of a page.
};

}  // namespace v0
}  // namespace evenkeel
