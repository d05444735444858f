// SPDX-License-Identifier: Apache-2.0
// `--print-crds` of whole programs: the definitions printed, and the kinds reported as left out.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/apps.hpp>
#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/evenkeel.hpp>

namespace print_crds_types {

namespace ek = evenkeel;

struct Own {
  static constexpr ek::ResourceInfo resource{
      .group = "own.example.com", .kind = "Own", .plural = "owns", .installs_crd = true};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Own, metadata)

struct Settings {  // of the same program, but only watched
  static constexpr ek::ResourceInfo resource{
      .group = "own.example.com", .kind = "Settings", .plural = "settings", .installs_crd = true};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Settings, metadata)

struct Gateway {  // of a project whose group has the same suffix as those of Kubernetes
  static constexpr ek::ResourceInfo resource{
      .group = "gateway.networking.k8s.io", .kind = "Gateway", .plural = "gateways"};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Gateway, metadata)

struct OwnGateway {
  static constexpr ek::ResourceInfo resource{.group = "gateway.networking.k8s.io",
                                             .kind = "OwnGateway",
                                             .plural = "owngateways",
                                             .installs_crd = true};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(OwnGateway, metadata)

struct Dotless {
  static constexpr ek::ResourceInfo resource{.group = "dotless", .kind = "Dotless", .plural = "dotlesses"};
  ek::ObjectMeta metadata;
};
EVENKEEL_FIELDS(Dotless, metadata)

}  // namespace print_crds_types

namespace evenkeel {
namespace {

using namespace print_crds_types;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

struct Printed {
  int code = -1;
  std::string out = {};
  std::string err = {};
};

Printed print_crds(const std::function<void(Manager&)>& setup) {
  const char* argv[] = {"tester", "--print-crds"};
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = run(2, argv, {.name = "tester"}, setup);
  return {code, ::testing::internal::GetCapturedStdout(), ::testing::internal::GetCapturedStderr()};
}

template <class T>
ControllerBuilder<T> controller() {
  return controller_for<T>([](Context&, const T&) {});
}
std::vector<ObjectKey> no_keys(const WireObject&) {
  return {};
}

TEST(PrintCrds, PrintsOwnKindsAndSaysNothingOfThoseOfKubernetes) {
  const Printed printed = print_crds([](Manager& manager) {
    manager.add(controller<Own>().owns<ConfigMap>().owns<Deployment>().watches<Settings>(no_keys));
  });
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, AllOf(StartsWith("apiVersion: apiextensions.k8s.io/v1\n"),
                                 HasSubstr("name: owns.own.example.com\n"), HasSubstr("---\n"),
                                 HasSubstr("name: settings.own.example.com\n")));
  EXPECT_EQ(printed.err, "");
}

TEST(PrintCrds, NamesTheKindsOfOthersThatItLeavesOut) {
  const Printed printed = print_crds([](Manager& manager) {
    manager.add(controller<Own>().owns<ConfigMap>().watches<Gateway>(no_keys));
    manager.add(controller<Dotless>());
  });
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out,
              AllOf(HasSubstr("kind: Own\n"), Not(HasSubstr("gateway")), Not(HasSubstr("Dotless"))));
  EXPECT_EQ(printed.err,
            "tester: --print-crds: left out, as they do not set installs_crd: "
            "Gateway (gateway.networking.k8s.io/v1), Dotless (dotless/v1)\n");
}

TEST(PrintCrds, WithNothingToPrintEndsWithTwoAndNamesAllKinds) {
  const Printed printed = print_crds([](Manager& manager) {
    manager.add(controller<Gateway>().owns<Pod>());
    manager.add(controller<Dotless>());
  });
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.out, "");
  EXPECT_EQ(printed.err,
            "tester: --print-crds: no kind of this program sets installs_crd; left out: "
            "Gateway (gateway.networking.k8s.io/v1), Pod (v1), Dotless (dotless/v1)\n");
}

TEST(PrintCrds, OfAProgramWithoutKindsEndsWithTwo) {
  const Printed printed = print_crds([](Manager&) {});
  EXPECT_EQ(printed.code, 2);
  EXPECT_EQ(printed.err, "tester: --print-crds: no kind of this program sets installs_crd\n");
}

TEST(PrintCrds, PrintsAKindWhoseGroupEndsAsThoseOfKubernetesDo) {
  const Printed printed = print_crds([](Manager& manager) { manager.add(controller<OwnGateway>()); });
  EXPECT_EQ(printed.code, 0);
  EXPECT_THAT(printed.out, AllOf(HasSubstr("name: owngateways.gateway.networking.k8s.io\n"),
                                 HasSubstr("api-approved.kubernetes.io: unapproved\n")));
}

}  // namespace
}  // namespace evenkeel
