// SPDX-License-Identifier: Apache-2.0
#include "apiserver/store/table.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "apiserver/text/json_path.hpp"
#include "schema_fixture.hpp"

namespace evenkeel::apiserver {
namespace {

using std::chrono::seconds;

/// 2025-01-01T00:10:00Z.
constexpr WallTime now{std::chrono::seconds(1735690200)};

class Tables : public ::testing::Test {
 protected:
  Json table(const TableShape& shape, const Json& object, IncludeObject include = IncludeObject::none) {
    const std::vector<const Json*> objects{&object};
    return make_table(shape, objects, parse(R"({"resourceVersion": "7"})"), include, now);
  }
  /// Returns the cells of the only row, as text.
  std::string cells(std::string_view api_version, std::string_view resource, std::string_view object) {
    const Json made = table(*builtin_table(shapes.catalog.data(), api_version, resource), parse(object));
    EXPECT_EQ(made["rows"][std::size_t{0}]["cells"].size(), made["columnDefinitions"].size());
    return made["rows"][std::size_t{0}]["cells"].dump();
  }
  Shapes shapes;
};

TEST_F(Tables, OfCustomKindsFollowTheirColumns) {  // scenario list-table
  CustomKind kind = widget_kind();
  kind.columns = parse(R"([{"name": "Size", "type": "integer", "jsonPath": ".spec.size"},
    {"name": "Color", "type": "string", "jsonPath": ".spec.color", "description": "what color"},
    {"name": "Phase", "type": "string", "jsonPath": ".status.phase", "priority": 1},
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}])");
  Json object = widget(R"({"size": 3, "color": "red"})");
  object["metadata"]["creationTimestamp"] = "2025-01-01T00:00:00Z";
  const Json made = table(*custom_table(kind), object, IncludeObject::metadata);
  EXPECT_EQ(made["rows"],
            Json::array({Json::object({{"cells", parse(R"(["w", 3, "red", null, "10m"])")},
                                       {"object", Json::object({{"kind", "PartialObjectMetadata"},
                                                                {"apiVersion", "meta.k8s.io/v1"},
                                                                {"metadata", object["metadata"]}})}})}));
  EXPECT_EQ(made["metadata"], parse(R"({"resourceVersion": "7"})"));
  EXPECT_EQ(made["columnDefinitions"][3],
            parse(R"({"name": "Phase", "type": "string", "format": "", "priority": 1,
    "description": "Custom resource definition column (in JSONPath format): .status.phase"})"));
  EXPECT_EQ(made["columnDefinitions"][2]["description"], Json("what color"));
  EXPECT_TRUE(made["columnDefinitions"][std::size_t{0}]["description"].string_or("").starts_with(
      "Name must be unique within a namespace."));
}

TEST_F(Tables, OfCustomKindsWithoutColumnsHaveNameAndAge) {
  const Json made = table(*custom_table(widget_kind()), widget("{}"), IncludeObject::object);
  EXPECT_EQ(made["columnDefinitions"].size(), 2U);
  EXPECT_EQ(made["rows"][std::size_t{0}]["cells"].dump(), R"(["w",null])");
  EXPECT_EQ(made["rows"][std::size_t{0}]["object"], widget("{}"));
}

TEST_F(Tables, DescribeEveryColumn) {
  const auto expect_described = [](const auto& table, const std::string& name) {
    for (const TableColumn& column : table->columns)
      EXPECT_NE(column.description, "") << name << " " << column.name;
  };
  for (const BuiltinGroupVersion& known : shapes.catalog.data().group_versions()) {
    const std::string version = known.group.empty() ? known.version : known.group + "/" + known.version;
    for (const BuiltinResource& resource : known.resources)
      expect_described(builtin_table(shapes.catalog.data(), version, resource.name), resource.name);
  }
  expect_described(custom_table(widget_kind()), "widgets");
}

TEST_F(Tables, WithoutColumnsAreForLaterEventsOfWatches) {
  const Json object = widget("{}");
  const std::vector<const Json*> objects{&object};
  const Json made = make_table(*custom_table(widget_kind()), objects, Json::object(), IncludeObject::none,
                               now, TableHeader::without_columns, "meta.k8s.io/v1beta1");
  EXPECT_TRUE(made["columnDefinitions"].is_null());
  EXPECT_EQ(made["apiVersion"], Json("meta.k8s.io/v1beta1"));
}

TEST_F(Tables, ShowBuiltinKindsAsKubectlDoes) {
  const std::string since = R"("metadata": {"name": "n", "creationTimestamp": "2025-01-01T00:09:15Z"})";
  EXPECT_EQ(cells("v1", "configmaps", "{" + since + R"(, "data": {"a": "", "b": ""}})"), R"(["n",2,"45s"])");
  EXPECT_EQ(cells("v1", "secrets", "{" + since + R"(, "type": "Opaque", "data": {"a": ""}})"),
            R"(["n","Opaque",1,"45s"])");
  EXPECT_EQ(cells("v1", "namespaces", "{" + since + R"(, "status": {"phase": "Active"}})"),
            R"(["n","Active","45s"])");
  EXPECT_EQ(cells("v1", "serviceaccounts", "{" + since + "}"), R"(["n","45s"])");
  EXPECT_EQ(cells("coordination.k8s.io/v1", "leases", "{" + since + R"(, "spec": {"holderIdentity": "me"}})"),
            R"(["n","me","45s"])");
  EXPECT_EQ(cells("v1", "services",
                  "{" + since + R"(, "spec": {"type": "NodePort", "clusterIP": "10.0.0.1", "selector":
    {"a": "b"}, "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}, {"port": 53, "protocol": "UDP"}]}})"),
            R"(["n","NodePort","10.0.0.1","<none>","80:30080/TCP,53/UDP","45s","a=b"])");
  EXPECT_EQ(
      cells("apps/v1", "deployments", "{" + since + R"(, "spec": {"replicas": 3, "selector": {"matchLabels":
    {"a": "b"}}, "template": {"spec": {"containers": [{"name": "c", "image": "x"}, {"name": "d", "image": "y"}]}}},
    "status": {"readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1}})"),
      R"(["n","2/3",3,1,"45s","c,d","x,y","a=b"])");
  EXPECT_EQ(cells("batch/v1", "jobs",
                  "{" + since + R"(, "spec": {"completions": 2, "template": {"spec": {}}}, "status":
    {"succeeded": 2, "startTime": "2025-01-01T00:00:00Z", "completionTime": "2025-01-01T00:01:30Z",
    "conditions": [{"type": "Complete", "status": "True"}]}})"),
            R"(["n","Complete","2/2","90s","45s","","","<none>"])");
  EXPECT_EQ(cells("apiextensions.k8s.io/v1", "customresourcedefinitions", "{" + since + "}"),
            R"(["n","2025-01-01T00:09:15Z"])");
}

TEST_F(Tables, OfBindingsNameTheNamespaceOfAccounts) {
  EXPECT_EQ(cells("rbac.authorization.k8s.io/v1", "rolebindings",
                  R"({"metadata": {"name": "b"}, "roleRef": {"kind": "Role", "name": "r"}, "subjects": [
    {"kind": "ServiceAccount", "name": "a"}, {"kind": "ServiceAccount", "name": "b", "namespace": "n"},
    {"kind": "User", "name": "u"}]})"),
            R"(["b","Role/r","<unknown>","u","","/a, n/b"])");
}

TEST_F(Tables, OfStorageAndAdmission) {
  EXPECT_EQ(
      cells(
          "storage.k8s.io/v1", "csidrivers",
          R"({"metadata": {"name": "d"}, "spec": {"attachRequired": false, "volumeLifecycleModes": ["Persistent",
    "Ephemeral"], "tokenRequests": [{"audience": "a"}, {"audience": "b"}]}})"),
      R"(["d",false,false,false,"a,b",false,"Persistent,Ephemeral","<unknown>"])");
  EXPECT_EQ(cells("storage.k8s.io/v1", "csidrivers", R"({"metadata": {"name": "d"}, "spec": {}})"),
            R"(["d",true,false,false,"<unset>",false,"<none>","<unknown>"])");
  EXPECT_EQ(
      cells(
          "admissionregistration.k8s.io/v1", "validatingadmissionpolicies",
          R"({"metadata": {"name": "p"}, "spec": {"validations": [{}], "paramKind": {"apiVersion": "g/v1", "kind":
    "K"}}})"),
      R"(["p",1,"g/v1/K","<unknown>"])");
  EXPECT_EQ(cells("admissionregistration.k8s.io/v1", "validatingadmissionpolicybindings",
                  R"({"metadata": {"name": "b"}, "spec": {"policyName": "p", "paramRef": {"name": "x"}}})"),
            R"(["b","p","*/x","<unknown>"])");
}

TEST_F(Tables, TellTheStateOfPods) {
  const auto status = [&](std::string_view rest) {
    const Json made = table(
        *builtin_table(shapes.catalog.data(), "v1", "pods"),
        parse(R"({"metadata": {"name": "p"}, "spec": {"containers": [{}, {}], "initContainers": [{}]})" +
              std::string(rest) + "}"));
    const Json& row = made["rows"][std::size_t{0}]["cells"];
    return row[1].string_or("") + " " + row[2].string_or("") + " " + row[3].string_or("");
  };
  EXPECT_EQ(status(R"(, "status": {"phase": "Pending"})"), "0/2 Pending 0");
  EXPECT_EQ(
      status(R"(, "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2,
    "state": {"running": {}}}, {"restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]})"),
      "1/2 CrashLoopBackOff 3");
  EXPECT_EQ(
      status(R"(, "status": {"phase": "Pending", "initContainerStatuses": [{"state": {"running": {}}}]})"),
      "0/2 Init:0/1 0");
  EXPECT_EQ(
      status(
          R"(, "status": {"phase": "Failed", "containerStatuses": [{"state": {"terminated": {"exitCode": 3}}}]})"),
      "0/2 ExitCode:3 0");
}

TEST_F(Tables, OfEventsComeInOldAndNewForm) {
  EXPECT_EQ(
      cells("v1", "events", R"({"metadata": {"name": "e"}, "type": "Normal", "reason": "R", "message": "m",
    "involvedObject": {"kind": "Pod", "name": "p"}, "source": {"component": "c"}, "count": 3,
    "firstTimestamp": "2025-01-01T00:00:00Z", "lastTimestamp": "2025-01-01T00:09:59Z"})"),
      R"(["1s","Normal","R","pod/p","","c","m","10m","3","e"])");
  EXPECT_EQ(
      cells("events.k8s.io/v1", "events", R"({"metadata": {"name": "e"}, "type": "Normal", "reason": "R",
    "note": "m", "regarding": {"kind": "Pod", "name": "p"}, "reportingController": "c",
    "eventTime": "2025-01-01T00:00:00.000000Z"})"),
      R"(["10m","Normal","R","pod/p","","c","m","10m","1","e"])");
}

TEST_F(Tables, HaveACellForEveryColumnOfEveryResource) {
  for (const BuiltinGroupVersion& group_version : shapes.catalog.data().group_versions()) {
    for (const BuiltinResource& resource : group_version.resources) {
      if (resource.name.find('/') != std::string::npos) continue;
      SCOPED_TRACE(group_version.api_version() + " " + resource.name);
      const auto shape = builtin_table(shapes.catalog.data(), group_version.api_version(), resource.name);
      const Json object =
          parse(R"({"metadata": {"name": "n", "creationTimestamp": "2025-01-01T00:00:00Z"}})");
      if (shape->cells != nullptr) {
        EXPECT_EQ(shape->cells(object, now).size(), shape->columns.size());
      }
      EXPECT_NE(table(*shape, object)["rows"].dump().find("\"n\""), std::string::npos);
    }
  }
}

TEST(HumanDuration, HasTwoOrThreeFigures) {
  EXPECT_EQ(human_duration(seconds(-2)), "<invalid>");
  EXPECT_EQ(human_duration(seconds(-1)), "0s");
  EXPECT_EQ(human_duration(seconds(119)), "119s");
  EXPECT_EQ(human_duration(seconds(120)), "2m");
  EXPECT_EQ(human_duration(seconds(192)), "3m12s");
  EXPECT_EQ(human_duration(seconds(10 * 60 + 5)), "10m");
  EXPECT_EQ(human_duration(seconds(3 * 3600)), "3h");
  EXPECT_EQ(human_duration(seconds(3 * 3600 + 240)), "3h4m");
  EXPECT_EQ(human_duration(seconds(47 * 3600)), "47h");
  EXPECT_EQ(human_duration(seconds(49 * 3600)), "2d1h");
  EXPECT_EQ(human_duration(seconds(8 * 86400)), "8d");
  EXPECT_EQ(human_duration(seconds((2 * 365 + 15) * 86400LL)), "2y15d");
  EXPECT_EQ(human_duration(seconds(9 * 365 * 86400LL)), "9y");
  EXPECT_EQ(age(Json(), now), "<unknown>");
}

TEST(JsonPath, FindsMembersItemsAndConditions) {
  const Json document =
      parse(R"({"a": {"b.c": [1, 2, 3], "d": "x"}, "conditions": [{"type": "A", "status": "False"},
    {"type": "Ready", "status": "True", "n": 5}]})");
  const auto found = [&](std::string_view path) {
    std::string text;
    for (const Json* value : find_path(document, path)) text += value->dump() + " ";
    return text;
  };
  EXPECT_EQ(found(".a.d"), "\"x\" ");
  EXPECT_EQ(found(".a['b.c'][1]"), "2 ");
  EXPECT_EQ(found(".a.b\\.c[-1]"), "3 ");
  EXPECT_EQ(found(".a['b.c'][*]"), "1 2 3 ");
  EXPECT_EQ(found(".a['b.c'][1:]"), "2 3 ");
  EXPECT_EQ(found(".conditions[?(@.type==\"Ready\")].status"), "\"True\" ");
  EXPECT_EQ(found(".conditions[?(@.n > 4)].type"), "\"Ready\" ");
  EXPECT_EQ(found(".conditions[?(@.n)].type"), "\"Ready\" ");
  EXPECT_EQ(found(".conditions[*].type"), "\"A\" \"Ready\" ");
  for (const char* path : {".nothing", ".a[7]", ".a[", ".a.d.e", "[?(]", ".conditions[?(@.x==1)]"})
    EXPECT_EQ(found(path), "") << path;
}

}  // namespace
}  // namespace evenkeel::apiserver
