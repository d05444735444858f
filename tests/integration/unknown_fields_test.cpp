// SPDX-License-Identifier: Apache-2.0
// Against the embedded API server, and with EVENKEEL_REAL_SERVER a real one: fields that other writers put
// into an object, at any depth, survive every write of our typed client, of a Context and of untyped clients;
// and an apply claims nothing that the program did not set.
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#ifndef EVENKEEL_REAL_SERVER
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#endif
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/controller/context.hpp>
#include <evenkeel/controller/helpers.hpp>

#ifdef EVENKEEL_REAL_SERVER
#include "../real/real_environment.hpp"
#endif

namespace unknown_fields_tests {
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

// A type of the same kind that declares every field: what the schema does not have is in a member of any
// form.
struct WholeBox {
  static constexpr ek::ResourceInfo resource = Box::resource;
  static constexpr bool complete = true;
  ek::ObjectMeta metadata = {};
  Json spec = {};
  Json status = {};
};
EVENKEEL_FIELDS(WholeBox, metadata, spec, status)

constexpr const char* crd = R"({
  "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "boxes.unknown.example.com"},
  "spec": {"group": "unknown.example.com", "scope": "Namespaced",
    "names": {"plural": "boxes", "singular": "box", "kind": "Box", "listKind": "BoxList"},
    "versions": [{"name": "v1", "served": true, "storage": true, "subresources": {"status": {},
        "scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.ready"}},
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

#ifdef EVENKEEL_REAL_SERVER
constexpr int boxes_written = 3;

ek::Client client_of_server() {
  ek::tests::environment().install(crd);
  return ek::Client(ek::tests::environment().config());
}
std::string namespace_on(const ek::Client& client) {
  return ek::tests::fresh_namespace(client);
}
#else
constexpr int boxes_written = 12;

ek::Client client_of_server() {
  const auto server = std::make_shared<ek::apiserver::SharedCore>();
  server->install(crd);
  return ek::Client(ek::Config{.server = "http://in-process"},
                    {.transport = std::make_shared<ek::apiserver::InProcessTransport>(server)});
}
std::string namespace_on(const ek::Client& /*client*/) {
  return "default";
}
#endif

class UnknownFields : public ::testing::Test {
 protected:
  const ek::Client client_ = client_of_server();
  const ek::ResourceClient boxes_ = client_.resource(Box::resource);
  const ek::ObjectKey key_{namespace_on(client_), "box"};
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

/// The parameters of a write: the server, a cache that may be behind, the object, and a number to write.
struct Pen {
  const ek::Client& client;
  ek::Cache& cache;
  const ek::ObjectKey& key;
  Dice& dice;
  int number;

  ek::ResourceClient raw() const { return client.resource(Box::resource); }
  Box named() const { return {.metadata = {.name = key.name, .namespace_ = key.namespace_}}; }
  // Parts are changed and appended, never removed, because a removed item takes its contents with it.
  void edit_parts(std::vector<PartOfBox>& parts) const {
    if (dice.below(2) == 0) parts.push_back({"new" + std::to_string(dice.below(1000000)), 1});
    parts.at(dice.below(parts.size())).count = static_cast<int>(dice.below(100));
  }
  /// Calls `write` as a reconciler is called.
  void reconcile(const std::function<void(ek::Context&)>& write) const {
    ek::Context context({.client = client, .cache = &cache});
    write(context);
  }
};

struct Write {
  const char* name;
  void (*make)(const Pen& pen);
};

Box applied_by(const Pen& pen) {
  Box box = pen.named();
  box.spec.color = "c" + std::to_string(pen.number);
  box.spec.parts = {{"a", pen.number}};
  return box;
}

void set_status(const Pen& pen, BoxStatus& status) {
  status.ready = pen.number;
  pen.edit_parts(status.placed);
}

constexpr Write writes[] = {
    {"patch of a scalar",
     [](const Pen& pen) {
       pen.client.patch(pen.client.get<Box>(pen.key), [&](Box& box) { box.spec.size = pen.number; });
     }},
    {"patch of a list",
     [](const Pen& pen) {
       pen.client.patch(pen.client.get<Box>(pen.key), [&](Box& box) { pen.edit_parts(box.spec.parts); });
     }},
    {"patch of metadata",
     [](const Pen& pen) {
       pen.client.patch(pen.client.get<Box>(pen.key), [&](Box& box) {
         box.metadata.labels["n" + std::to_string(pen.number)] = "1";
         if (box.metadata.finalizers.empty()) box.metadata.finalizers.push_back("unknown.example.com/hold");
       });
     }},
    {"patch_status",
     [](const Pen& pen) {
       pen.client.patch_status(pen.client.get<Box>(pen.key),
                               [&](BoxStatus& status) { set_status(pen, status); });
     }},
    {"apply", [](const Pen& pen) { pen.client.apply(applied_by(pen)); }},
    {"apply_status",
     [](const Pen& pen) {
       Box box = pen.named();
       box.status.ready = pen.number;
       pen.client.apply_status(box);
     }},
    {"a patch as it stands",
     [](const Pen& pen) {
       pen.client.patch<Box>(
           pen.key, ek::Patch::merge(Json::object({{"spec", Json::object({{"size", pen.number}})}})));
     }},
    {"scale", [](const Pen& pen) { pen.client.scale<Box>(pen.key, pen.number); }},
    {"update of a complete type",
     [](const Pen& pen) {
       WholeBox box = *pen.client.get<WholeBox>(pen.key);
       box.spec["size"] = pen.number;
       box.metadata.labels["whole"] = std::to_string(pen.number);
       pen.client.update(box);
     }},
    {"update of a complete type by a Context",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         WholeBox box = *context.client().get<WholeBox>(pen.key);
         box.spec["size"] = pen.number;
         context.update(box);
       });
     }},
    {"create_or_update",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         const auto written = ek::create_or_update<Box>(context, pen.key, [&](Box& box) {
           box.spec.settings["mode"] = "m" + std::to_string(pen.number);
           box.spec.parts.at(0).count = pen.number;
         });
         EXPECT_NE(written.operation, ek::OperationResult::created);
       });
     }},
    {"patch by a Context",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         context.patch(context.find<Box>(pen.key),
                       [&](Box& box) { box.spec.color = std::to_string(pen.number); });
       });
     }},
    {"patch_status by a Context",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         context.patch_status(context.find<Box>(pen.key),
                              [&](BoxStatus& status) { set_status(pen, status); });
       });
     }},
    {"apply by a Context, if something changed",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         for (int turn = 0; turn < 2; ++turn)
           context.apply(applied_by(pen), {.own = false, .skip_unchanged = true});
       });
     }},
    {"apply_status by a Context",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) {
         Box box = pen.named();
         box.status.ready = pen.number;
         context.apply_status(box);
       });
     }},
    {"scale by a Context",
     [](const Pen& pen) {
       pen.reconcile([&](ek::Context& context) { context.scale<Box>(pen.key, pen.number); });
     }},
    {"patch of a dynamic object",
     [](const Pen& pen) {
       pen.raw().patch(pen.raw().get(pen.key),
                       [&](ek::DynamicObject& box) { box["spec"]["size"] = pen.number; });
     }},
    {"patch of metadata alone",
     [](const Pen& pen) {
       const ek::ResourceClient metadata = pen.raw().metadata_only();
       metadata.patch(metadata.get(pen.key), [&](ek::DynamicObject& box) {
         box["metadata"]["annotations"]["ours"] = std::to_string(pen.number);
       });
     }},
    {"apply of a dynamic object",
     [](const Pen& pen) {
       ek::DynamicObject box(Box::resource, pen.key.namespace_, pen.key.name);
       box["spec"]["settings"]["dynamic"] = std::to_string(pen.number);
       pen.client.with({.field_owner = "dynamic"}).resource(Box::resource).apply(box);
     }},
    {"update of a dynamic object",
     [](const Pen& pen) {
       Json box = pen.raw().get(pen.key)->body();
       box["spec"]["size"] = pen.number;
       pen.raw().update(ek::DynamicObject(box));
     }},
    {"update of a dynamic status",
     [](const Pen& pen) {
       Json box = pen.raw().get(pen.key)->body();
       box["status"]["ready"] = pen.number;
       pen.raw().update(ek::DynamicObject(box), "status");
     }},
};

// A Box with fields that we do not declare in its spec, in its status and in their parts.
void create_box(const ek::ResourceClient& boxes, const ek::ObjectKey& key, Dice& dice) {
  Json body = Json::object({{"apiVersion", "unknown.example.com/v1"},
                            {"kind", "Box"},
                            {"metadata", Json::object({{"name", key.name}, {"namespace", key.namespace_}})}});
  body["spec"]["parts"] = Json::array({part(dice, "a"), part(dice, "b"), part(dice, "c")});
  body["spec"]["settings"] = Json::object({{"mode", "fast"}});
  body["spec"]["size"] = 1;
  Json created = boxes.create(ek::DynamicObject(body))->body();
  created["status"]["placed"] = Json::array({part(dice, "a"), part(dice, "b")});
  boxes.update(ek::DynamicObject(created), "status");
}

// Lets a stranger write the box, then `write`, and compares what neither declares.
void write_in_turn(const Write& write, const Pen& pen) {
  write_as_stranger(pen.raw(), pen.key, pen.dice);
  const Json before = pen.raw().get(pen.key)->body();
  const auto unknown = unknown_in(before);
  ASSERT_GT(unknown.size(), 5u);
  ASSERT_NO_THROW(write.make(pen)) << write.name;
  const Json after = pen.raw().get(pen.key)->body();
  ASSERT_EQ(unknown_in(after), unknown)
      << write.name << "\nbefore " << before.dump() << "\nafter  " << after.dump();
  for (const auto& [name, value] : before["metadata"]["annotations"].as_object()) {
    if (!name.starts_with("stranger/")) continue;
    ASSERT_EQ(after.at({"metadata", "annotations", name}), value) << write.name;
  }
}

// Every box grows with each of its writes, so there are several. The cache is filled before the boxes are
// written, and follows at its own pace.
TEST_F(UnknownFields, SurviveEveryWrite) {
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  Dice dice(seed);
  ek::Cache cache(client_, {.namespace_ = key_.namespace_});
  cache.informer<Box>();
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  for (int box = 0; box < boxes_written; ++box) {
    const ek::ObjectKey key{key_.namespace_, key_.name + std::to_string(box)};
    create_box(boxes_, key, dice);
    for (const Write& write : writes) {
      const int number = static_cast<int>(dice.below(1000));
      ASSERT_NO_FATAL_FAILURE(write_in_turn(
          write, {.client = client_, .cache = cache, .key = key, .dice = dice, .number = number}));
    }
    boxes_.patch(key,
                 ek::Patch::merge(Json::object({{"metadata", Json::object({{"finalizers", nullptr}})}})));
  }
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
}  // namespace unknown_fields_tests
