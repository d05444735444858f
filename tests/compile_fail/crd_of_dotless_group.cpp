// SPDX-License-Identifier: Apache-2.0
// A kind that says installs_crd needs a group that the API server accepts in a CustomResourceDefinition.
// expect: installs_crd: the API server refuses CustomResourceDefinitions whose group has no dot
#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/metadata.hpp>

struct Widget {
#ifdef REJECTED
  static constexpr evenkeel::ResourceInfo resource{
      .group = "widgets", .kind = "Widget", .plural = "widgets", .installs_crd = true};
#else
  static constexpr evenkeel::ResourceInfo resource{.group = "widgets", .kind = "Widget", .plural = "widgets"};
#endif
  evenkeel::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Widget, metadata)

evenkeel::Json definition() {
  return evenkeel::crd_for<Widget>();
}
