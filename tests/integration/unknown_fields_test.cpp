// SPDX-License-Identifier: Apache-2.0
// Against the API server: fields that other writers put into an object, at any depth, survive every write of
// our typed client; and an apply claims nothing that the program did not set.
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>

namespace {

namespace ek = evenkeel;
using ek::Json;

// The part of the kind that our program declares; the server's schema preserves everything else.
struct PartOfBox {
  std::string name = {};
  std::optional<int> count = {};
};
EVENKEEL_FIELDS(PartOfBox, name, count)

struct BoxSpec {
  std::optional<int> size = {};
  std::optional<std::string> color = {};
  std::vector<PartOfBox> parts = {};
  std::map<std::string, std::string> settings = {};
};
EVENKEEL_FIELDS(BoxSpec, size, color, (parts, ek::list_map("name")), settings)

struct BoxStatus {
  std::optional<int> ready = {};
  std::vector<PartOfBox> placed = {};
};
EVENKEEL_FIELDS(BoxStatus, ready, (placed, ek::list_map("name")))

struct Box {
  static constexpr ek::ResourceInfo resource{
      .group = "unknown.example.com", .version = "v1", .kind = "Box", .plural = "boxes"};
  ek::ObjectMeta metadata = {};
  BoxSpec spec = {};
  BoxStatus status = {};
};
EVENKEEL_FIELDS(Box, metadata, spec, status)

constexpr const char* crd = R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "boxes.unknown.example.com"},
  "spec": {"group": "unknown.example.com", "scope": "Namespaced",
    "names": {"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"},
    "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
      "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true,
        "properties": {
          "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "parts": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
              "items": {"type": "object", "required": ["name"], "x-kubernetes-preserve-unknown-fields": true,
                        "properties": {"name": {"type": "string"}}}}}},
          "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {
            "placed": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
              "items": {"type": "object", "required": ["name"], "x-kubernetes-preserve-unknown-fields": true,
                        "properties": {"name": {"type": "string"}}}}}}}}}}]}})";

class UnknownFields : public ::testing::Test {
 protected:
  UnknownFields()
      : server_(std::make_shared<ek::apiserver::SharedCore>()),
        client_(ek::Config{.server = "http://in-process"},
                {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server_)}),
        boxes_(client_.resource(Box::resource)) {
    server_->install(crd);
  }

  std::shared_ptr<ek::apiserver::SharedCore> server_;
  ek::Client client_;
  ek::ResourceClient boxes_;
  const ek::ObjectKey key_{"default", "box"};
};

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::size_t below(std::size_t bound) { return static_cast<std::size_t>(engine_() % bound); }

  Json value(int depth) {
    switch (below(depth > 0 ? 6 : 4)) {
      case 0:
        return Json(static_cast<std::int64_t>(below(1000)));
      case 1:
        return Json("text" + std::to_string(below(1000)));
      case 2:
        return Json(below(2) == 0);
      case 3:
        return Json(0.5 + static_cast<double>(below(100)));
      case 4: {
        Json list = Json::array();
        for (std::size_t i = below(4); i > 0; --i) list.push_back(value(depth - 1));
        return list;
      }
      default: {
        Json object = Json::object();
        for (std::size_t i = below(4); i > 0; --i) object["k" + std::to_string(below(9))] = value(depth - 1);
        return object;
      }
    }
  }

  // Puts undeclared members ("x...") into `object`.
  void scatter(Json& object) {
    for (std::size_t i = 1 + below(3); i > 0; --i) object["x" + std::to_string(below(9))] = value(2);
  }

 private:
  std::mt19937_64 engine_;
};

// Collects the undeclared part of a document: members whose name starts with x, by the path of their parent;
// items of lists of parts are identified by name, not by index.
void collect_unknown(const Json& node, const std::string& path, std::map<std::string, Json>& out) {
  if (node.is_object()) {
    for (const auto& [name, value] : node.as_object()) {
      if (name.starts_with('x')) {
        out[path + "/" + name] = value;
      } else if (name != "managedFields") {
        collect_unknown(value, path + "/" + name, out);
      }
    }
  } else if (node.is_array()) {
    for (const Json& item : node.as_array())
      collect_unknown(item, path + "[" + item["name"].string_or("") + "]", out);
  }
}

std::map<std::string, Json> unknown_in(const Json& document) {
  std::map<std::string, Json> found;
  collect_unknown(document, "", found);
  return found;
}

Json part(Dice& dice, const std::string& name) {
  Json item = Json::object({{"name", name}, {"count", static_cast<std::int64_t>(dice.below(10))}});
  dice.scatter(item);
  return item;
}

// Changes the object as another writer, including undeclared fields.
void write_as_stranger(const ek::ResourceClient& boxes, const ek::ObjectKey& key, Dice& dice) {
  Json body = boxes.get(key)->body();
  dice.scatter(body["spec"]);
  body["metadata"]["annotations"]["stranger/" + std::to_string(dice.below(5))] = "kept";
  for (Json& item : body["spec"]["parts"].as_array()) dice.scatter(item);
  const auto stored = boxes.update(ek::DynamicObject(body));
  Json with_status = stored->body();
  dice.scatter(with_status["status"]);
  for (Json& item : with_status["status"]["placed"].as_array()) dice.scatter(item);
  boxes.update(ek::DynamicObject(with_status), "status");
}

// Makes one typed write of a random type. Parts are changed and appended, never removed, because a removed
// item takes its contents with it.
std::string write_typed(const ek::Client& client, const ek::ObjectKey& key, Dice& dice) {
  const auto edit_parts = [&dice](std::vector<PartOfBox>& parts) {
    if (dice.below(2) == 0) parts.push_back({"new" + std::to_string(dice.below(1000000)), 1});
    parts.at(dice.below(parts.size())).count = static_cast<int>(dice.below(100));
  };
  const int number = static_cast<int>(dice.below(1000));
  switch (dice.below(7)) {
    case 0:
      client.patch(client.get<Box>(key), [&](Box& box) { box.spec.size = number; });
      return "patch of a scalar";
    case 1:
      client.patch(client.get<Box>(key), [&](Box& box) { edit_parts(box.spec.parts); });
      return "patch of a list";
    case 2:
      client.patch_status(client.get<Box>(key), [&](BoxStatus& status) {
        status.ready = number;
        edit_parts(status.placed);
      });
      return "patch_status";
    case 3: {
      Box box{.metadata = {.name = key.name, .namespace_ = key.namespace_},
              .spec = {.color = "c" + std::to_string(number)}};
      box.spec.parts = {{"a", number}};
      client.apply(box);
      return "apply";
    }
    case 4: {
      Box box{.metadata = {.name = key.name, .namespace_ = key.namespace_}};
      box.status.ready = number;
      client.apply_status(box);
      return "apply_status";
    }
    case 5:
      client.patch(client.get<Box>(key), [&](Box& box) {
        box.metadata.labels["n" + std::to_string(number)] = "1";
        if (box.metadata.finalizers.empty()) box.metadata.finalizers.push_back("unknown.example.com/hold");
      });
      return "patch of metadata";
    default:
      client.patch<Box>(key, ek::Patch::merge(Json::object({{"spec", Json::object({{"size", number}})}})));
      return "a patch as it stands";
  }
}

// A Box with fields that we do not declare in its spec, in its status and in their parts.
void create_box(const ek::ResourceClient& boxes, const ek::ObjectKey& key, Dice& dice) {
  Json body = Json::object({{"apiVersion", "unknown.example.com/v1"},
                            {"kind", "Box"},
                            {"metadata", Json::object({{"name", key.name}, {"namespace", key.namespace_}})}});
  body["spec"]["parts"] = Json::array({part(dice, "a"), part(dice, "b"), part(dice, "c")});
  body["spec"]["settings"] = Json::object({{"mode", "fast"}});
  Json created = boxes.create(ek::DynamicObject(body))->body();
  created["status"]["placed"] = Json::array({part(dice, "a"), part(dice, "b")});
  boxes.update(ek::DynamicObject(created), "status");
}

// Lets a stranger and the typed client write the box in turn; adds the kinds of typed writes to `verbs`.
void write_in_turn(const ek::Client& client, const ek::ResourceClient& boxes, const ek::ObjectKey& key,
                   Dice& dice, int rounds, std::set<std::string>& verbs) {
  for (int round = 0; round < rounds; ++round) {
    write_as_stranger(boxes, key, dice);
    const Json before = boxes.get(key)->body();
    const auto unknown = unknown_in(before);
    ASSERT_GT(unknown.size(), 5u);
    const std::string verb = write_typed(client, key, dice);
    verbs.insert(verb);
    const Json after = boxes.get(key)->body();
    ASSERT_EQ(unknown_in(after), unknown)
        << "round " << round << ": " << verb << "\nbefore " << before.dump() << "\nafter  " << after.dump();
    for (const auto& [name, value] : before["metadata"]["annotations"].as_object()) {
      ASSERT_EQ(after.at({"metadata", "annotations", name}), value) << verb;
    }
  }
}

// 200 typed writes. Every box grows with each of its writes, so there are eight of them.
TEST_F(UnknownFields, SurviveEveryTypedWrite) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  std::set<std::string> verbs;
  for (int box = 0; box < 8; ++box) {
    const ek::ObjectKey key{key_.namespace_, key_.name + std::to_string(box)};
    create_box(boxes_, key, dice);
    ASSERT_NO_FATAL_FAILURE(write_in_turn(client_, boxes_, key, dice, 25, verbs));
  }
  EXPECT_EQ(verbs.size(), 7u);
}

TEST_F(UnknownFields, ApplyClaimsOnlyWhatTheProgramSet) {
  Box box{.metadata = {.name = key_.name, .namespace_ = key_.namespace_}, .spec = {.size = 3}};
  client_.with({.field_owner = "typed"}).apply(box);
  const auto stored = boxes_.get(key_);
  const Json& managers = stored->body().at({"metadata", "managedFields"});
  ASSERT_EQ(managers.size(), 1u) << managers.dump();
  EXPECT_EQ(managers.at({"0", "manager"}).string_or(""), "typed");
  EXPECT_EQ(managers.at({"0", "fieldsV1"}).dump(), R"({"f:spec":{"f:size":{}}})");
}

TEST_F(UnknownFields, ListPatchIsRefusedAfterAConcurrentWrite) {
  Json body =
      Json::object({{"apiVersion", "unknown.example.com/v1"},
                    {"kind", "Box"},
                    {"metadata", Json::object({{"name", key_.name}, {"namespace", key_.namespace_}})}});
  body["spec"]["parts"] = Json::array({Json::object({{"name", "a"}})});
  boxes_.create(ek::DynamicObject(body));
  const auto read = client_.get<Box>(key_);
  Json meanwhile = boxes_.get(key_)->body();
  meanwhile["spec"]["parts"].push_back(Json::object({{"name", "b"}, {"xmine", true}}));
  boxes_.update(ek::DynamicObject(meanwhile));
  try {
    client_.patch(read, [](Box& changed) { changed.spec.parts.at(0).count = 1; });
    FAIL() << "the other writer's part would have been lost";
  } catch (const ek::ApiError& error) {
    EXPECT_TRUE(error.is_conflict()) << error.what();
  }
  EXPECT_EQ(boxes_.get(key_)->body().at({"spec", "parts"}).size(), 2u);
}

}  // namespace
