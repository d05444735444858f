// SPDX-License-Identifier: Apache-2.0
// Conversion between the versions of a kind, through one of them, the hub.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

/// The path of conversions, one for all kinds of a program, as kubebuilder has it.
inline constexpr std::string_view convert_path = "/convert";

/// The versions of one kind and the way from each to the hub and back, without their types. Made by
/// conversion_through().
class EVENKEEL_API Conversion {
 public:
  /// Returns the object in the other version. Metadata, apiVersion and kind of the result are checked and
  /// completed by convert().
  using Step = std::function<Json(const Json& object)>;
  struct Version {
    ResourceId resource = {};
    Step to_hub = {};                ///< Null for the hub.
    Step from_hub = {};              ///< Null for the hub.
    std::function<Json()> crd = {};  ///< Null unless the type sets ResourceInfo::installs_crd.
  };

  explicit Conversion(Version hub) { versions_.push_back(std::move(hub)); }
  /// Throws std::invalid_argument if the version is of another kind than the hub, or is there already.
  void add(Version version);

  const ResourceId& hub() const noexcept { return versions_.front().resource; }
  /// The hub first.
  const std::vector<Version>& versions() const noexcept { return versions_; }

  /// Returns `object` in `api_version` ("demo.example.com/v2"), or as it is if that is its version. Of the
  /// metadata in the results of the functions, only labels and annotations are taken, because the API server
  /// rejects other changes. Throws Error that names the object, both versions and the problem.
  Json convert(const Json& object, std::string_view api_version) const;

 private:
  const Version* find(std::string_view api_version) const noexcept;

  std::vector<Version> versions_;
};

namespace detail {

template <class From, class To, class F>
Conversion::Step conversion_step(F fill) {
  return [fill = std::move(fill)](const Json& object) {
    const From from = from_tree<From>(object);
    To to{};
    to.metadata = from.metadata;
    fill(from, to);
    return to_tree(to);
  };
}

template <ObjectType T>
Conversion::Version conversion_version() {
  Conversion::Version version{.resource = ResourceId(T::resource)};
  if constexpr (T::resource.installs_crd) version.crd = [] { return crd_for<T>(); };
  return version;
}

}  // namespace detail

/// Conversion of a kind through its version Hub, usually the stored one.
///
///     manager.add(ek::conversion_through<v2::Website>().converts<v1::Website>(
///         [](const v1::Website& from, v2::Website& to) { to.spec.size.replicas = from.spec.replicas; },
///         [](const v2::Website& from, v1::Website& to) { to.spec.replicas = from.spec.size.replicas; }));
///
/// Metadata is copied before the functions run, which may change labels and annotations. They must not lose
/// data: a field that one version lacks has to be kept, usually in an annotation.
/// Thread safety: the functions are called concurrently.
template <ObjectType Hub>
class ConversionThrough {
 public:
  ConversionThrough() : conversion_(detail::conversion_version<Hub>()) {}

  template <ObjectType T, std::invocable<const T&, Hub&> ToHub, std::invocable<const Hub&, T&> FromHub>
  ConversionThrough&& converts(ToHub to_hub, FromHub from_hub) && {
    Conversion::Version version = detail::conversion_version<T>();
    version.to_hub = detail::conversion_step<T, Hub>(std::move(to_hub));
    version.from_hub = detail::conversion_step<Hub, T>(std::move(from_hub));
    conversion_.add(std::move(version));
    return std::move(*this);
  }

  operator Conversion() && { return std::move(conversion_); }

 private:
  Conversion conversion_;
};

template <ObjectType Hub>
ConversionThrough<Hub> conversion_through() {
  return ConversionThrough<Hub>();
}

/// Returns the ConversionReview that answers `review`, which must be of apiextensions.k8s.io/v1. If an object
/// cannot be converted, none is, and the result names it. `failure` receives that error. Throws DecodeError
/// for a document that is not a ConversionReview.
EVENKEEL_API Json answer_conversion_review(const std::vector<Conversion>& conversions, const Json& review,
                                           std::string& failure);

/// Returns the answer to a POST to convert_path; see answer_admission().
EVENKEEL_API http::Response answer_conversion(const std::vector<Conversion>& conversions,
                                              const http::Request& request, std::string& failure);

}  // namespace v0
}  // namespace evenkeel
