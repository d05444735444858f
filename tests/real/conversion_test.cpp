// SPDX-License-Identifier: Apache-2.0
// One conversion webhook of the library, called by a real kube-apiserver and by the embedded one: both give
// equal answers.
#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/client/resource_client.hpp>
#include <evenkeel/client/watch.hpp>
#include <evenkeel/webhook/configuration.hpp>
#include <evenkeel/webhook/webhook_server.hpp>

#include "../support/await.hpp"
#include "../webhook/today.hpp"
#include "real_environment.hpp"
#include "webhook/x509.hpp"

namespace evenkeel {
namespace real_conversion {

using namespace std::chrono_literals;
using tests::await;
using tests::today;

struct OldFerrySpec {
  int size = 1;
  std::string image;
};
EVENKEEL_FIELDS(OldFerrySpec, size, image)
struct OldFerry {
  static constexpr ResourceInfo resource{.group = "conversion.evenkeel.dev",
                                         .version = "v1",
                                         .kind = "Ferry",
                                         .plural = "ferries",
                                         .installs_crd = true};
  static constexpr CrdVersion crd_version{.storage = false};
  ObjectMeta metadata;
  OldFerrySpec spec;
};
EVENKEEL_FIELDS(OldFerry, metadata, spec)

struct FerrySpec {
  int replicas = 1;
  std::string image;
  std::string port = "Kiel";
};
EVENKEEL_FIELDS(FerrySpec, replicas, image, port)
struct Ferry {
  static constexpr ResourceInfo resource{.group = "conversion.evenkeel.dev",
                                         .version = "v2",
                                         .kind = "Ferry",
                                         .plural = "ferries",
                                         .installs_crd = true};
  ObjectMeta metadata;
  FerrySpec spec;
};
EVENKEEL_FIELDS(Ferry, metadata, spec)

Conversion ferries() {
  return conversion_through<Ferry>().converts<OldFerry>(
      [](const OldFerry& from, Ferry& to) {
        if (from.spec.image == "broken") throw Error("this image has no v2");
        to.spec.replicas = from.spec.size;
        to.spec.image = from.spec.image;
      },
      [](const Ferry& from, OldFerry& to) {
        if (from.spec.image == "unreadable") throw Error("this image has no v1");
        to.spec.size = from.spec.replicas;
        to.spec.image = from.spec.image;
        to.metadata.labels["shown"] = "v1";
        if (from.spec.image == "versioned")
          to.metadata.labels["version"] = from.metadata.resource_version.empty() ? "none" : "some";
        to.metadata.finalizers = {"ignored.evenkeel.dev/x"};
      });
}

// The webhook that both servers call.
struct Hooks {
  Hooks() {
    server.add(ferries());
    server.start();
  }
  Json definition() const {
    Json crd = merge_versions({crd_for<Ferry>(), crd_for<OldFerry>()}).front();
    set_conversion_webhook(crd, {.url = server.url(), .ca_bundle = authority.certificate});
    return crd;
  }

  http::TlsPair authority = detail::make_authority("test", today());
  WebhookServer server{{.address = "127.0.0.1:0", .workers = 4},
                       detail::make_serving(authority, {"127.0.0.1"}, today())};
};

// The answers of one server, without what differs between any two runs.
class Story {
 public:
  explicit Story(const Config& config) : config_(config), space_(tests::fresh_namespace(client("test"))) {}

  Client client(const char* field_owner) const {
    return Client(config_, {.field_owner = field_owner, .retry = {.max_retries = 0, .max_blind_retries = 0}});
  }
  ResourceClient v1(const char* field_owner = "test") const {
    return {client(field_owner), OldFerry::resource};
  }
  ResourceClient v2(const char* field_owner = "test") const { return {client(field_owner), Ferry::resource}; }
  const std::string& space() const { return space_; }
  ObjectKey key(const std::string& name) const { return {space_, name}; }

  void note(const std::string& step, const std::function<Json()>& call) {
    std::string line = step + ": ";
    try {
      Json document = call();
      scrub(document);
      line += document.dump();
    } catch (const ApiError& error) {
      line += std::to_string(error.code()) + " " + error.reason() + " " + error.message();
    }
    lines.push_back(without(std::move(line), space_, "NAMESPACE"));
  }

  std::vector<std::string> lines = {};

 private:
  // Blanks what differs between any two runs. Managers are sorted by the second of their writes, which may be
  // the same for two of them or not.
  static void scrub(Json& value) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) scrub(value[i]);
    } else if (value.is_object()) {
      if (Json* managers = value.find("managedFields"); managers != nullptr && managers->is_array())
        sort_managers(managers->as_array());
      for (const char* name : {"uid", "resourceVersion", "creationTimestamp", "deletionTimestamp", "time"})
        if (Json* member = value.find(name); member != nullptr && member->is_string()) *member = "";
      std::vector<std::string> names;
      for (const auto& [name, member] : std::as_const(value).as_object()) names.emplace_back(name);
      for (const std::string& name : names) scrub(value[name]);
    }
  }
  static void sort_managers(Json::Array& managers) {
    const auto key = [](const Json& each) {
      std::string out;
      for (const char* name : {"manager", "operation", "apiVersion", "subresource"})
        out += each[name].string_or("") + "\n";
      return out;
    };
    std::stable_sort(managers.begin(), managers.end(),
                     [&](const Json& a, const Json& b) { return key(a) < key(b); });
  }
  static std::string without(std::string text, const std::string& part, const std::string& stand_in) {
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part))
      text.replace(at, part.size(), stand_in);
    return text;
  }

  Config config_;
  std::string space_;
};

DynamicObject old_ferry(const Story& story, const char* name, int size, const char* image = "nginx") {
  DynamicObject out(ResourceId(OldFerry::resource), story.space(), name);
  out["spec"]["size"] = size;
  out["spec"]["image"] = image;
  return out;
}

DynamicObject new_ferry(const Story& story, const char* name, int replicas, const char* image = "nginx") {
  DynamicObject out(ResourceId(Ferry::resource), story.space(), name);
  out["spec"]["replicas"] = replicas;
  out["spec"]["image"] = image;
  return out;
}

Json listed(const ResourceClient& client, const Story& story) {
  Json out = Json::array();
  for (const auto& item : client.list({.namespace_ = story.space()}).items) out.push_back(item->body());
  return out;
}

Patch replicas(int count) {
  return Patch::merge(Json::object({{"spec", Json::object({{"replicas", count}})}}));
}

const ObjectKey definition_name{"", "ferries.conversion.evenkeel.dev"};

ResourceClient definitions_of(const Story& story) {
  return {story.client("test"),
          {"apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions",
           Scope::cluster}};
}

void install(const Story& story, const Hooks& hooks) {
  definitions_of(story).create(DynamicObject(hooks.definition()));
  await("a served definition", [&] {
    try {
      listed(story.v1(), story);
      listed(story.v2(), story);
      return true;
    } catch (const ApiError&) {
      return false;
    }
  });
}

void write_and_read(Story& story) {
  story.note("create v1", [&] { return story.v1().create(old_ferry(story, "a", 3))->body(); });
  story.note("create v2", [&] { return story.v2().create(new_ferry(story, "b", 4))->body(); });
  for (const char* name : {"a", "b"}) {
    story.note("get v1", [&] { return story.v1().get(story.key(name))->body(); });
    story.note("get v2", [&] { return story.v2().get(story.key(name))->body(); });
  }
  story.note("list v1", [&] { return listed(story.v1(), story); });
  story.note("list v2", [&] { return listed(story.v2(), story); });
  story.note("patch v1", [&] {
    return story.v1().patch(story.key("b"), Patch::merge(Json::parse(R"({"spec":{"size":6}})")))->body();
  });
  story.note("replace v1", [&] {
    DynamicObject object = *story.v1().get(story.key("a"));
    object["spec"]["size"] = 7;
    return story.v1().update(object)->body();
  });
  story.note("get v2", [&] { return story.v2().get(story.key("a"))->body(); });
}

// Each write in v1 after a dry run of it.
void rehearse(Story& story) {
  const ResourceClient dry(story.client("test").with({.dry_run = true}), OldFerry::resource);
  const auto both = [&](const std::string& step, const std::function<Json(const ResourceClient&)>& write) {
    story.note(step + " in a dry run", [&] { return write(dry); });
    story.note(step, [&] { return write(story.v1()); });
  };
  both("create", [&](const ResourceClient& client) {
    return client.create(old_ferry(story, "r", 3, "versioned"))->body();
  });
  both("replace", [&](const ResourceClient& client) {
    DynamicObject object = *story.v1().get(story.key("r"));
    object["spec"]["size"] = 4;
    return client.update(object)->body();
  });
  both("patch", [&](const ResourceClient& client) {
    return client.patch(story.key("r"), Patch::merge(Json::parse(R"({"spec":{"size":5}})")))->body();
  });
  both("apply", [&](const ResourceClient& client) {
    return client.apply(old_ferry(story, "r", 6, "versioned"))->body();
  });
  both("create broken", [&](const ResourceClient& client) {
    return client.create(old_ferry(story, "s", 1, "broken"))->body();
  });
  story.note("create unreadable in a dry run",
             [&] { return dry.create(old_ferry(story, "s", 1, "unreadable"))->body(); });
  story.note("get v2", [&] { return story.v2().get(story.key("s"))->body(); });
  story.v2().remove(story.key("r"));
}

void watch(Story& story) {
  const auto begin = story.v1().list({.namespace_ = story.space()}).resource_version;
  ResourceWatch old(story.client("test"), OldFerry::resource,
                    {.namespace_ = story.space(), .resource_version = begin});
  story.v2().patch(story.key("a"), replicas(8));
  story.v2().create(new_ferry(story, "c", 1));
  story.v1().remove(story.key("c"));
  for (int i = 0; i < 3; ++i)
    story.note("event", [&] {
      const auto event = old.next({});
      return Json::object({{"type", static_cast<int>(event->type)}, {"object", event->object->body()}});
    });
}

// Sends a request for old ferries that the typed calls have no answer for.
http::Response ask_v1(const Story& story, http::Method method, const std::string& name,
                      std::vector<std::pair<std::string, std::string>> query) {
  return story.client("test").raw({.method = method,
                                   .resource = ResourceId(OldFerry::resource),
                                   .namespace_ = story.space(),
                                   .name = name,
                                   .query = std::move(query)});
}

DynamicObject held(DynamicObject object) {
  object["metadata"]["finalizers"] = Json::array({"test.evenkeel.dev/held"});
  return object;
}

// Waits until a real server remembers the last write for v1: it tries writes with that first.
void remember(const Story& story, const char* name) {
  story.v1().list({.namespace_ = story.space(),
                   .resource_version = std::string(story.v2().get(story.key(name))->resource_version()),
                   .resource_version_match = "NotOlderThan"});
}

void apply(Story& story) {
  const auto noted = [&](const ResourceClient& client, const DynamicObject& object, bool force) {
    story.note("apply", [&] { return client.apply(object, {.force = force})->body(); });
  };
  noted(story.v1("one"), old_ferry(story, "d", 3), false);
  noted(story.v2("two"), new_ferry(story, "d", 3), false);
  noted(story.v2("two"), new_ferry(story, "d", 4), false);
  noted(story.v2("two"), new_ferry(story, "d", 4), true);
  noted(story.v2("one"), new_ferry(story, "d", 4), false);
  DynamicObject less(ResourceId(OldFerry::resource), story.space(), "d");
  less["spec"] = Json::object();
  noted(story.v1("one"), less, false);
  noted(story.v1("two"), less, false);
  // The steps of an apply that may fail.
  noted(story.v1("three"), old_ferry(story, "f", 3), false);
  noted(story.v2("three"), new_ferry(story, "f", 3, "unreadable"), false);
  noted(story.v2("four"), new_ferry(story, "f", 3), false);
  // It gives up if the outcome of what it remembers has no stored form.
  remember(story, "f");
  noted(story.v1("three"), old_ferry(story, "f", 4, "broken"), false);
  noted(story.v1("five"), old_ferry(story, "f", 4, "broken"), true);
}

// Deletions in v1 convert what they mark to v2, in which it is stored, and back.
void mark(Story& story, const char* name, const char* policy) {
  const std::string begin = story.v2().list({.namespace_ = story.space()}).resource_version;
  const WatchOptions since{.namespace_ = story.space(), .resource_version = begin};
  ResourceWatch old(story.client("test"), OldFerry::resource, since);
  ResourceWatch stored(story.client("test"), Ferry::resource, since);
  const auto note_events = [&] {
    for (ResourceWatch* each : {&old, &stored})
      story.note("event", [&] {
        const auto event = each->next({});
        return Json::object({{"type", static_cast<int>(event->type)}, {"object", event->object->body()}});
      });
  };
  const auto remove = [&](std::vector<std::pair<std::string, std::string>> query) {
    query.emplace_back("propagationPolicy", policy);
    return Json::parse(ask_v1(story, http::Method::delete_, name, std::move(query)).body);
  };
  // The finalizer stays when the garbage collector has done its part.
  story.note("create", [&] { return story.v2().create(held(new_ferry(story, name, 2)))->body(); });
  note_events();
  story.note("delete in a dry run", [&] { return remove({{"dryRun", "All"}}); });
  story.note("delete", [&] { return remove({}); });
  note_events();
  await("the end of the collector's work",
        [&] { return story.v2().get(story.key(name))->body()["metadata"]["finalizers"].size() == 1; });
  story.note("get v2", [&] { return story.v2().get(story.key(name))->body(); });
}

void mark_and_delete(Story& story) {
  mark(story, "plain", "Background");
  story.note("delete again",
             [&] { return Json::parse(ask_v1(story, http::Method::delete_, "plain", {}).body); });
  mark(story, "before-its-dependents", "Foreground");
  mark(story, "without-its-dependents", "Orphan");
  // An object without a stored form cannot be marked, nor deleted.
  story.v2().create(new_ferry(story, "free", 1, "broken"));
  story.v2().create(held(new_ferry(story, "bound", 1, "broken")));
  remember(story, "bound");
  for (const char* name : {"free", "bound"}) {
    story.note("delete", [&] { return Json::parse(ask_v1(story, http::Method::delete_, name, {}).body); });
    story.note("get v2", [&] { return story.v2().get(story.key(name))->body(); });
  }
  story.v2().remove(story.key("free"));
  story.v1().remove_all(
      {.namespace_ = story.space(), .field_selector = "metadata.name=before-its-dependents"});
  for (const char* name : {"plain", "before-its-dependents", "without-its-dependents", "bound"}) {
    story.v2().remove(story.key(name));
    story.v2().patch(story.key(name), Patch::merge(Json::parse(R"({"metadata":{"finalizers":null}})")));
  }
}

// The lines of a watch of v1, which this waits for, without the objects' content; and its errors.
void note_watch(Story& story, const std::string& step,
                std::vector<std::pair<std::string, std::string>> query) {
  query.emplace_back("watch", "1");
  story.note(step, [&] {
    Json out = Json::array();
    std::istringstream lines(ask_v1(story, http::Method::get, "", std::move(query)).body);
    for (std::string line; std::getline(lines, line);) {
      Json event = Json::parse(line);
      if (event["type"] == Json("ERROR"))
        event["object"].erase("message");  // it has versions
      else
        event["object"] = std::as_const(event).at({"object", "metadata", "name"});
      out.push_back(std::move(event));
    }
    return out;
  });
}

// An object that v1 cannot show ends the watches of v1 after half a minute.
void lose(Story& story) {
  const std::string begin = story.v2().list({.namespace_ = story.space()}).resource_version;
  story.v2().create(new_ferry(story, "shown", 1));
  story.v2().create(new_ferry(story, "hidden", 1, "unreadable"));
  story.v2().create(new_ferry(story, "later", 1));
  note_watch(story, "watch until it ends", {{"resourceVersion", begin}});
  await("the reason why the version cannot be read", [&] {
    try {
      ask_v1(story, http::Method::get, "", {{"resourceVersion", "0"}});
    } catch (const ApiError& error) {
      return std::string_view(error.message()).find("failed to list") != std::string_view::npos;
    }
    return false;
  });
  note_watch(story, "watch", {});
  note_watch(story, "watch on", {{"resourceVersion", begin}});
  const auto list = [&](std::vector<std::pair<std::string, std::string>> query) {
    story.note("list", [&] { return Json(ask_v1(story, http::Method::get, "", std::move(query)).body); });
  };
  list({});
  list({{"limit", "5"}});
  list({{"labelSelector", "a=b"}, {"limit", "5"}});
  list({{"resourceVersion", "0"}});
  story.note("delete", [&] {
    return Json(ask_v1(story, http::Method::delete_, "", {{"labelSelector", "a=b"}}).body);
  });
  story.v2().remove(story.key("hidden"));
  await("a version that can be listed", [&] {
    try {
      ask_v1(story, http::Method::get, "", {{"resourceVersion", "0"}});
      return true;
    } catch (const ApiError&) {
      return false;
    }
  });
  note_watch(story, "watch on", {{"resourceVersion", begin}, {"timeoutSeconds", "1"}});
  for (const char* name : {"shown", "later"}) story.v2().remove(story.key(name));
}

void fail(Story& story) {
  story.note("create broken", [&] { return story.v1().create(old_ferry(story, "x", 1, "broken"))->body(); });
  story.note("get broken", [&] { return story.v2().get(story.key("x"))->body(); });
  story.note("create unreadable",
             [&] { return story.v2().create(new_ferry(story, "y", 1, "unreadable"))->body(); });
  story.note("get v1", [&] { return story.v1().get(story.key("y"))->body(); });
  story.note("get v2", [&] { return story.v2().get(story.key("y"))->body(); });
  story.note("patch v1", [&] {
    return story.v1().patch(story.key("y"), Patch::merge(Json::parse(R"({"spec":{"size":6}})")))->body();
  });
  story.note("apply v1", [&] { return story.v1().apply(old_ferry(story, "y", 3))->body(); });
  story.note("delete v1", [&] {
    story.v1().remove(story.key("y"));
    return Json();
  });
  story.note("list v2", [&] { return listed(story.v2(), story); });
  story.note("list v1", [&] { return listed(story.v1(), story); });
  story.note("delete v2", [&] {
    story.v2().remove(story.key("y"));
    return Json();
  });
}

// Makes the version the stored one, and moves an object by a write that changes nothing.
void migrate(Story& story, const char* version) {
  const ResourceClient definitions = definitions_of(story);
  Json versions = definitions.get(definition_name)->body()["spec"]["versions"];
  for (std::size_t i = 0; i < versions.size(); ++i)
    versions[i]["storage"] = std::as_const(versions)[i]["name"] == Json(version);
  definitions.patch(definition_name,
                    Patch::merge(Json::object({{"spec", Json::object({{"versions", versions}})}})));
  const auto before = story.v2().get(story.key("a"));
  DynamicObject after;
  // A real server takes a moment to use a changed definition.
  await("another version of the object", [&] {
    after = *story.v2().update(*story.v2().get(story.key("a")));
    return after.resource_version() != before->resource_version();
  });
  story.note("moved", [&] { return after.body(); });
  story.note("stays",
             [&] { return Json(story.v2().update(after)->resource_version() == after.resource_version()); });
  story.note("get v1", [&] { return story.v1().get(story.key("a"))->body(); });
  story.note("list v2", [&] { return listed(story.v2(), story); });
  story.note("stored", [&] {
    return definitions.get(definition_name)->body().at({"status", "storedVersions"});
  });
}

void migrate_there_and_back(Story& story) {
  migrate(story, "v1");
  migrate(story, "v2");
  definitions_of(story).patch(definition_name,
                              Patch::merge(Json::parse(R"({"status":{"storedVersions":["v2"]}})")),
                              {.subresource = "status"});
}

void remove_version(Story& story) {
  const ResourceClient definitions = definitions_of(story);
  story.note("apply v1", [&] { return story.v1("one").apply(old_ferry(story, "e", 3))->body(); });
  const Json versions = definitions.get(definition_name)->body()["spec"]["versions"];
  Json left = Json::array();
  for (std::size_t i = 0; i < versions.size(); ++i)
    if (versions[i]["name"] == Json("v2")) left.push_back(versions[i]);
  definitions.patch(definition_name,
                    Patch::merge(Json::object({{"spec", Json::object({{"versions", left}})}})));
  await("a version that is gone", [&] {
    try {
      story.v1().get(story.key("e"));
      return false;
    } catch (const ApiError& error) {
      return error.code() == 404;
    }
  });
  story.note("apply v2", [&] { return story.v2("two").apply(new_ferry(story, "e", 4))->body(); });
  story.note("patch v2", [&] { return story.v2().patch(story.key("e"), replicas(5))->body(); });
  story.note("apply v2", [&] { return story.v2("two").apply(new_ferry(story, "e", 6))->body(); });
}

std::vector<std::string> answers(const Config& config, const Hooks& hooks) {
  Story story(config);
  install(story, hooks);
  for (const auto& part : {write_and_read, rehearse, watch, apply, mark_and_delete, lose, fail,
                           migrate_there_and_back, remove_version})
    part(story);
  return story.lines;
}

TEST(RealConversions, AreCalledLikeThoseOfTheEmbeddedServer) {
  const Hooks hooks;
  apiserver::ApiServer embedded{{.webhooks = apiserver::make_http_webhook_caller()}};
  const std::vector<std::string> expected = answers(tests::environment().config(), hooks);
  const std::vector<std::string> found = answers(embedded.config(), hooks);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(found[i], expected[i]) << "after " << (i > 0 ? expected[i - 1] : "");
}

}  // namespace real_conversion
}  // namespace evenkeel
