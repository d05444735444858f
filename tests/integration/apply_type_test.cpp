// SPDX-License-Identifier: Apache-2.0
// Fields that an apply claims: plain members count as set, optional ones only with a value. Quoted by
// docs/applying.md.
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/evenkeel.hpp>
#include <evenkeel/testing/run.hpp>

namespace {

namespace ek = evenkeel;

struct AppSpec {
  int replicas = 1;
  std::string image = {};
};
EVENKEEL_FIELDS(AppSpec, replicas, image)

struct App {
  static constexpr ek::ResourceInfo resource{
      .group = "apply.example.com", .version = "v1", .kind = "App", .plural = "apps"};
  ek::ObjectMeta metadata = {};
  AppSpec spec = {};
};
EVENKEEL_FIELDS(App, metadata, spec)

struct AppSpecApply {
  std::optional<int> replicas = {};
  std::optional<std::string> image = {};
};
EVENKEEL_FIELDS(AppSpecApply, replicas, image)

struct AppApply {  // the same kind, for writing
  static constexpr ek::ResourceInfo resource = App::resource;
  ek::ObjectMeta metadata = {};
  AppSpecApply spec = {};
};
EVENKEEL_FIELDS(AppApply, metadata, spec)

struct Parent {
  static constexpr ek::ResourceInfo resource{
      .group = "apply.example.com", .version = "v1", .kind = "Parent", .plural = "parents"};
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Parent, metadata)

const ek::ObjectKey web{"default", "web"};

// Has `reconcile` make web's App, a user change the image, and reconciles once more; returns the image.
template <class Reconcile>
std::string image_after_an_edit(Reconcile reconcile) {
  const Parent parent{.metadata = {.name = "web", .namespace_ = "default"}};
  const App app{.metadata = {.name = "web", .namespace_ = "default"},
                .spec = {.replicas = 1, .image = "old"}};
  ek::testing::Harness harness =
      ek::testing::run(ek::controller_for<Parent>(reconcile).template owns<App>(), {parent, app});
  harness.template edit<App>(web, [](App& edited) { edited.spec.image = "the user's"; });
  harness.enqueue(web);
  harness.settle();
  EXPECT_EQ(harness.template get<App>(web)->spec.replicas, 3) << harness.str();
  return harness.template get<App>(web)->spec.image;
}

TEST(ApplyType, PlainMembersAreClaimedAsTheyStand) {
  const auto reconcile = [](ek::Context& context, const Parent& parent) {
    App app{.metadata = {.name = parent.metadata.name}};
    app.spec.replicas = 3;  // and with it spec.image, which is empty
    context.apply(app);
  };
  EXPECT_EQ(image_after_an_edit(reconcile), "");
}

TEST(ApplyType, OptionalMembersAreClaimedIfTheyHaveAValue) {
  const auto reconcile = [](ek::Context& context, const Parent& parent) {
    AppApply app{.metadata = {.name = parent.metadata.name}};
    app.spec.replicas = 3;
    context.apply(app);
  };
  EXPECT_EQ(image_after_an_edit(reconcile), "the user's");
}

TEST(ApplyType, APatchSendsOnlyWhatWasChanged) {
  const auto reconcile = [](ek::Context& context, const Parent&) {
    if (const auto app = context.find<App>(context.key()))
      context.patch(app, [](App& changed) { changed.spec.replicas = 3; });
  };
  EXPECT_EQ(image_after_an_edit(reconcile), "the user's");
}

}  // namespace
