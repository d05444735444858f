// SPDX-License-Identifier: Apache-2.0
// Types that `evenkeel types` made of the definitions in this folder, while this program was built.
#include <algorithm>
#include <chrono>
#include <concepts>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include <evenkeel/api/codec.hpp>
#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server_core.hpp>

#include "base/files.hpp"
#include "client/config/yaml_text.hpp"
#include "fleet.hpp"
#include "pipeline.hpp"

namespace round_trip_test {

ek::Json yaml(const std::string& text) {
  return ek::detail::yaml_to_json(ek::detail::load_yaml(text), ek::detail::yaml_allowance(text.size()));
}

/// The definition in pipeline.yaml, with the version that is stored alone.
ek::Json definition() {
  ek::Json crd = yaml(ek::detail::read_file(EVENKEEL_TYPES_FOLDER "/pipeline.yaml"));
  crd["spec"]["versions"] = ek::Json::array({ek::Json(crd["spec"]["versions"][1])});
  return crd;
}

/// Sorts the lists named `required`, whose order says nothing.
void sort_required(ek::Json& value) {
  if (value.is_array()) {
    for (ek::Json& item : value.as_array()) sort_required(item);
  }
  if (!value.is_object()) return;
  for (auto& [name, member] : value.as_object()) {
    if (name == "required" && member.is_array()) {
      std::sort(member.as_array().begin(), member.as_array().end(),
                [](const ek::Json& a, const ek::Json& b) { return a.dump() < b.dump(); });
    }
    sort_required(member);
  }
}

TEST(Types, MakeTheDefinitionThatTheyWereMadeOf) {
  ek::Json expected = definition();
  ek::Json made = ek::crd_for<::Pipeline>();
  sort_required(expected);
  sort_required(made);
  EXPECT_EQ(made.dump(1), expected.dump(1));
}

/// Returns the status with which a new API server answers to a definition.
int status_of(const ek::Json& crd) {
  ek::apiserver::ApiServerCore server;
  ek::http::Request request{.method = ek::http::Method::post,
                            .target = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
                            .headers = {{"Content-Type", "application/json"}},
                            .body = crd.dump()};
  return server.handle(request, ek::WallTime(std::chrono::seconds(1'770'000'000))).response.status;
}

// Regression: the definition of Fleet lacked the type of `payload`.
TEST(Types, MakeDefinitionsThatServersTake) {
  EXPECT_EQ(status_of(ek::crd_for<::Fleet>()), 201);
  EXPECT_EQ(status_of(ek::crd_for<::FleetSpec>()), 201);
  EXPECT_EQ(status_of(ek::crd_for<::Pipeline>()), 201);
}

TEST(Types, HoldAnObjectWithoutLoss) {
  const ek::Json object = yaml(R"(
apiVersion: build.example.com/v1
kind: Pipeline
metadata: {name: web}
spec:
  5xx: true
  class: fast.lane
  rules: [a, b]
  fooBar: false
  foo_bar: true
  hostIP: 10.0.0.1
  podIPs: [10.0.0.2]
  policy: delete
  fallback: ""
  long: a-word-that-is-longer-than-the-63-characters-that-an-enumerator-can-have-here
  workers: 3
  budget: 1.5
  seed: 9007199254740993
  limit: 1536Mi
  surge: 25%
  notBefore: "2026-01-02T03:04:05Z"
  seal: aGVsbG8=
  anything: {list: [1, two, {three: null}]}
  matrix: [[1, 2], [3]]
  labels: {team: blue}
  groups: {ops: [ann, bob]}
  open: {level: 2}
  empty: {}
  source: {secretRef: {name: git, key: ssh}}
  stages:
  - {name: build, port: 80, tokenSecretRef: {name: t}, tls: {mode: Never}}
status:
  running: 2
  conditions:
  - {type: Ready, status: "True", observedGeneration: 4, lastTransitionTime: "2026-01-02T03:04:05Z", reason: Up, message: ""}
)");
  const auto pipeline = ek::from_tree<::Pipeline>(object);
  EXPECT_EQ(pipeline.spec.policy, PipelinePolicy::delete_);
  EXPECT_EQ(pipeline.spec.stages->at(0).token_secret_ref->name, "t");
  EXPECT_EQ(ek::to_tree(pipeline).dump(1), object.dump(1));
}

TEST(Types, AddNothingToAnObjectThatHasLittle) {
  const ek::Json object = yaml(R"(
apiVersion: build.example.com/v1
kind: Pipeline
metadata: {name: web}
spec: {class: a, policy: Always, stages: []}
)");
  EXPECT_EQ(ek::to_tree(ek::from_tree<::Pipeline>(object)).dump(1), object.dump(1));
}

TEST(Types, HoldBuiltinTypes) {
  const ek::Json object = yaml(R"(
apiVersion: example.com/v1
kind: Fleet
metadata: {name: north, namespace: default}
spec:
  owners: []
  replicas: 2
  selector: {}
  token: {key: token, name: fleet}
  settingsConfigMap: {key: settings}
  resources: {limits: {cpu: 500m}}
  template:
    metadata: {labels: {app: fleet}}
    spec: {containers: [{name: main, image: "fleet:1"}]}
  payload: {apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: b}}
  lookalike: {matchExpressions: none}
)");
  const auto fleet = ek::from_tree<::Fleet>(object);
  static_assert(std::same_as<decltype(fleet.spec.selector), std::optional<ek::LabelSelector>>);
  static_assert(std::same_as<decltype(fleet.spec.token), std::optional<ek::core_v1::SecretKeySelector>>);
  static_assert(std::same_as<decltype(fleet.spec.settings_config_map),
                             std::optional<ek::core_v1::ConfigMapKeySelector>>);
  static_assert(
      std::same_as<decltype(fleet.spec.resources), std::optional<ek::core_v1::ResourceRequirements>>);
  EXPECT_EQ(fleet.spec.template_->spec.containers.at(0).name, "main");
  EXPECT_EQ(fleet.spec.lookalike->match_expressions, "none");
  EXPECT_EQ(ek::to_tree(fleet).dump(1), object.dump(1));
}

TEST(Types, HoldListsOfBooleans) {
  const ek::Json object = yaml(R"(
apiVersion: example.com/v1
kind: Fleet
metadata: {name: north}
spec:
  owners: []
  replicas: 2
  selector: {}
  token: {key: token}
  flags: [true, false, true]
  weeks: [[true], [false, true], []]
  flagsByName: {a: [false], b: [true, true]}
  optionalFlags: [true]
)");
  const auto fleet = ek::from_tree<::Fleet>(object);
  EXPECT_EQ(fleet.spec.flags, (std::vector<bool>{true, false, true}));
  EXPECT_EQ(fleet.spec.weeks.at(1), (std::vector<bool>{false, true}));
  EXPECT_EQ(ek::to_tree(fleet).dump(1), object.dump(1));
}

// Regression: the second property of such a pair became the member `default`, and the header did not compile.
TEST(Types, HoldPropertiesThatAreOneReservedWord) {
  const ek::Json object = yaml(R"(
apiVersion: example.com/v1
kind: Fleet
metadata: {name: north}
spec:
  owners: []
  replicas: 2
  selector: {}
  token: {key: token}
  words: {Default: a, default: b, class: c, _class: d}
)");
  const auto fleet = ek::from_tree<::Fleet>(object);
  EXPECT_EQ(fleet.spec.words->default_, "a");
  EXPECT_EQ(fleet.spec.words->default_2, "b");
  EXPECT_EQ(fleet.spec.words->class_, "d");
  EXPECT_EQ(fleet.spec.words->class_2, "c");
  EXPECT_EQ(ek::to_tree(fleet).dump(1), object.dump(1));
}

}  // namespace round_trip_test
