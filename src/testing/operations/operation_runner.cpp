// SPDX-License-Identifier: Apache-2.0
#include "testing/operations/operation_runner.hpp"

#include <algorithm>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/testing/differences.hpp>

#include "api/server_metadata.hpp"
#include "apiserver/text/seconds_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

constexpr int rounds_of_environment = 10;

std::string first_line_of(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

bool is_content(const std::string& member) {
  return member != "apiVersion" && member != "kind" && member != "metadata" && member != "status";
}

// Returns what a user gives of an object.
Json document_of(const Json& stored) {
  Json document = stored;
  document.erase("status");
  v0::detail::erase_server_metadata(document["metadata"]);
  return document;
}

// Returns `object` with the content of `from`.
Json with_content(Json object, const Json& from) {
  std::vector<std::string> gone;
  for (const auto& [name, value] : object.as_object()) {
    if (is_content(name) && !from.contains(name)) gone.push_back(name);
  }
  for (const std::string& name : gone) object.erase(name);
  for (const auto& [name, value] : from.as_object()) {
    if (is_content(name)) object[name] = value;
  }
  return object;
}

void put(Json& object, const PropertyPath& path, const std::optional<Json>& value) {
  if (value) {
    path.set(object, *value);
  } else {
    path.erase(object);
  }
}

// Numbers that a server allocates depend on the order of requests.
void forget_allocations(Json& object) {
  if (object["kind"] != Json("Service")) return;
  Json& spec = object["spec"];
  for (const char* member : {"clusterIP", "clusterIPs", "healthCheckNodePort"}) {
    if (spec.is_object() && spec.contains(member) && spec[member] != Json("None"))
      spec[member] = "<allocated>";
  }
  Json* const ports = spec.is_object() ? spec.find("ports") : nullptr;
  if (ports == nullptr || !ports->is_array()) return;
  for (Json& port : ports->as_array()) {
    if (port.contains("nodePort")) port["nodePort"] = "<allocated>";
  }
}

// Returns the first change of a write: "update pods default/web-0: spec.hostname: added "a"".
std::string text_of_change(const TracedWrite& write) {
  const auto lines = differences(write.before.is_null() ? Json() : comparable(write.before, {}),
                                 write.after.is_null() ? Json() : comparable(write.after, {}));
  return write.moment.str() + (lines.empty() || write.before.is_null() ? "" : ": " + lines.front());
}

std::string uid_of(const Json& object) {
  return object.at({"metadata", "uid"}).string_or("");
}

}  // namespace

// A harness, its record, and the place in the record where the stage begins.
struct OperationRunner::Process {
  Process(std::shared_ptr<Interventions> hooks_of, HarnessOptions options)
      : hooks(std::move(hooks_of)), harness(std::move(options)) {}
  std::shared_ptr<Interventions> hooks;
  Harness harness;
  std::size_t first_write = 0;
  std::size_t first_run = 0;

  void begin_stage() {
    first_write = hooks->trace().writes.size();
    first_run = harness.runs().size();
  }
};

namespace {

// Returns the error of a key whose last run failed.
std::string failure_of(const Harness& harness) {
  std::map<std::pair<std::string, ObjectKey>, const ReconcileRun*> last;
  for (const ReconcileRun& run : harness.runs()) last[{run.controller, run.key}] = &run;
  for (const auto& [key, run] : last) {
    if (run->error != nullptr && run->outcome.kind != OutcomeKind::conflict)
      return first_line_of(run->outcome.message);
  }
  return {};
}

// Returns a text about a run that waited as long as it may.
std::string waiting_run(const Harness& harness, std::size_t first) {
  const std::vector<ReconcileRun>& runs = harness.runs();
  for (std::size_t at = first; at < runs.size(); ++at) {
    if (runs[at].outcome.timed_out)
      return "a reconcile of " + runs[at].controller + " " + runs[at].key.str() +
             " waits until its time is over";
  }
  return {};
}

}  // namespace

OperationRunner::OperationRunner(const MakeControllers& make, const OperationSubject& subject,
                                 const OperationsOptions& options)
    : make_(make), subject_(subject), options_(options) {
  const Json& metadata = subject.object["metadata"];
  key_.name = metadata["name"].string_or("");
  if (subject.resource.scope == Scope::namespaced) key_.namespace_ = metadata["namespace"].string_or("");
  if (subject.resource.scope == Scope::namespaced && key_.namespace_.empty()) key_.namespace_ = "default";
  prepare();
}

// Defines the kinds, and finds out how the server completes the object.
void OperationRunner::prepare() {
  Harness harness(options_.harness);
  for (ControllerSpec& spec : make_()) harness.add(std::move(spec));
  const ResourceClient objects = harness.client().resource(subject_.resource);
  try {
    objects.list({.limit = 1});
  } catch (const ApiError& error) {
    if (!error.is_no_such_resource()) throw;
    harness.create({Object(subject_.crd())});
  }
  if (!key_.namespace_.empty() && !harness.client().find<Namespace>({"", key_.namespace_}))
    harness.client().create(Namespace{.metadata = {.name = key_.namespace_}});
  world_ = harness.snapshot();
  Json object = subject_.object;
  object.erase("status");
  if (!key_.namespace_.empty()) object["metadata"]["namespace"] = key_.namespace_;
  document_ = document_of(objects.create(DynamicObject(std::move(object)))->body());
  const std::string version = subject_.resource.api_version();
  collections_.emplace(subject_.resource.qualified_plural(),
                       (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version + "/" +
                           subject_.resource.plural);
}

std::string OperationRunner::object() const {
  return subject_.resource.qualified_plural() + " " + key_.str();
}

// The definitions of their kinds exist.
std::vector<ControllerSpec> OperationRunner::controllers() const {
  std::vector<ControllerSpec> specs = make_();
  for (ControllerSpec& spec : specs) {
    spec.crd = nullptr;
    for (WatchSpec& watch : spec.watches) watch.crd = nullptr;
  }
  return specs;
}

HarnessOptions OperationRunner::harness_options(const apiserver::World& world) const {
  HarnessOptions options = options_.harness;
  options.world = world;
  options.expect_failures = true;
  if (!options.reconcile_timeout) options.reconcile_timeout = options_.limit;
  options.log_level = LogLevel::error;
  return options;
}

Admission OperationRunner::admission(const apiserver::World& world, const PropertyPath& path,
                                     const std::optional<Json>& value) const {
  Harness harness(harness_options(world));
  const ResourceClient objects = harness.client().with({.dry_run = true}).resource(subject_.resource);
  const Json stored = objects.get(key_)->body();
  Json wanted = stored;
  put(wanted, path, value);
  try {
    const Json after = objects.update(DynamicObject(std::move(wanted)))->body();
    const Json* const found = path.find(after);
    const bool kept = !value || (found != nullptr && missing(*value, *found).empty());
    Json document = document_of(after);
    const bool effective = kept && !(document == document_of(stored));
    document["metadata"] = document_["metadata"];  // without what the operator added
    return {.effective = effective, .document = std::move(document)};
  } catch (const ApiError& error) {
    return {.refusal = error.message()};
  }
}

// Returns false if the operator still has work after the limit, as one has that works by the clock.
bool OperationRunner::settle_once(Harness& harness) const {
  constexpr Duration interval = std::chrono::minutes{1};
  Duration left = options_.limit;
  for (; options_.environment && left > interval; left -= interval) {
    if (harness.settle(interval)) return true;
    options_.environment(harness);
  }
  return harness.settle(left);
}

// Until the operator and its environment have nothing left to do.
void OperationRunner::settle(Process& process, Observation& facts) const {
  try {
    facts.settled = settle_once(process.harness);
    for (int round = 0; options_.environment && facts.settled && round < rounds_of_environment; ++round) {
      const std::uint64_t version = process.harness.snapshot().resource_version();
      options_.environment(process.harness);
      facts.settled = settle_once(process.harness);
      if (process.harness.snapshot().resource_version() == version) break;
    }
  } catch (const TooManyRuns& error) {
    facts.unsettled_reason = "it runs without end: " + first_line_of(error.what());
  }
}

Observation OperationRunner::observe(Process& process) {
  Observation facts;
  settle(process, facts);
  if (facts.unsettled_reason.empty())
    facts.unsettled_reason = waiting_run(process.harness, process.first_run);
  facts.failure = failure_of(process.harness);
  facts.losses = losses(process);
  facts.world = process.harness.snapshot();
  note_collections(process.hooks->trace());
  return facts;
}

std::vector<std::string> OperationRunner::losses(const Process& process) const {
  std::vector<std::string> found;
  std::set<std::string> created;
  const std::vector<TracedWrite>& writes = process.hooks->trace().writes;
  for (std::size_t at = process.first_write; at < writes.size(); ++at) {
    const TracedWrite& write = writes[at];
    if (write.creates()) created.insert(uid_of(write.after));
    if (write.of_workload || is_incidental(write.resource) || write.object == object()) continue;
    if (write.before.is_null() || created.contains(uid_of(write.before))) continue;
    if (write.deletes()) found.push_back(write.object + " was deleted");
    const Json& had = write.before.at({"spec", "replicas"});
    const Json& has = write.after.at({"spec", "replicas"});
    if (had.is_integer() && has.is_integer() && has.as_integer() < had.as_integer())
      found.push_back(write.object + " was scaled from " + had.dump() + " to " + has.dump());
  }
  return found;
}

void OperationRunner::note_collections(const Trace& trace) {
  for (const TracedWrite& write : trace.writes) {
    if (!write.collection.empty() && is_compared(write.resource))
      collections_.emplace(write.resource, write.collection);
  }
}

bool OperationRunner::is_compared(const std::string& resource) const {
  const auto& ignored = options_.ignored;
  return !is_incidental(resource) && std::find(ignored.begin(), ignored.end(), resource) == ignored.end();
}

void OperationRunner::normalize(Json& object) const {
  forget_allocations(object);
  if (options_.normalize) options_.normalize(object);
}

// Times and other members that an end state leaves out make none.
bool OperationRunner::makes_difference(const TracedWrite& write) const {
  if (write.before.is_null() || write.after.is_null()) return true;
  const auto simplify = [this](Json& object) { normalize(object); };
  return !differences(comparable(write.before, simplify), comparable(write.after, simplify)).empty();
}

CreationRun OperationRunner::create(const Json& document) {
  const auto hooks =
      std::make_shared<Interventions>(InterventionOptions{.controllers = [this] { return controllers(); }});
  HarnessOptions options = harness_options(*world_);
  options.hooks = hooks;
  Process process(hooks, std::move(options));
  for (ControllerSpec& spec : controllers()) process.harness.add(std::move(spec));
  process.harness.settle(options_.limit);
  hooks->start_workload();
  process.begin_stage();
  try {
    process.harness.client().resource(subject_.resource).create(DynamicObject(document));
  } catch (const ApiError& error) {
    return {.refusal = error.message()};
  }
  return {.after = observe(process)};
}

ChangeRun OperationRunner::change(const apiserver::World& world, const PropertyPath& path,
                                  const std::optional<Json>& value, bool tells) {
  const auto hooks = std::make_shared<Interventions>(
      InterventionOptions{.controllers = [this] { return controllers(); }, .keeps_timeline = tells});
  HarnessOptions options = harness_options(world);
  options.hooks = hooks;
  Process process(hooks, std::move(options));
  for (ControllerSpec& spec : controllers()) process.harness.add(std::move(spec));
  hooks->start_workload();
  ChangeRun run{.before = observe(process)};
  for (const TracedWrite& write : hooks->trace().writes) {
    if (!write.of_workload && write.effective && is_compared(write.resource) && makes_difference(write))
      run.restless.push_back(text_of_change(write));
  }
  const ResourceClient objects = process.harness.client().resource(subject_.resource);
  const Json stored = objects.get(key_)->body();
  Json wanted = stored;
  put(wanted, path, value);
  process.begin_stage();
  objects.update(DynamicObject(std::move(wanted)));
  run.after = observe(process);
  process.begin_stage();
  bool accepted = true;
  try {
    const auto now = objects.get(key_);
    objects.update(DynamicObject(with_content(now->body(), stored)));
  } catch (const ApiError&) {  // the server may refuse the way back, to shrink a volume for instance
    accepted = false;
  }
  if (accepted) run.rolled_back = observe(process);
  if (tells) run.timeline = hooks->timeline().str();
  return run;
}

Json OperationRunner::objects_at(apiserver::SharedCore& core, const std::string& path) const {
  const http::Response found = core.handle({.target = path, .headers = {{"Accept", "application/json"}}});
  if (found.status != 200) return Json::array();
  Json list = Json::parse(found.body);
  Json* const items = list.find("items");
  return items != nullptr && items->is_array() ? std::move(*items) : Json::array();
}

Seen OperationRunner::look_at(Observation facts) const {
  const auto hooks = std::make_shared<Interventions>(InterventionOptions{});
  HarnessOptions options = harness_options(*facts.world);
  options.hooks = hooks;
  const Harness harness(std::move(options));
  std::vector<Listed> listed;
  for (const auto& [resource, path] : collections_)
    listed.push_back({resource, std::move(objects_at(hooks->core(), path).as_array())});
  const auto simplify = [this](Json& object) { normalize(object); };
  Seen seen{.facts = std::move(facts), .state = end_state(listed, simplify)};
  const Json events = objects_at(hooks->core(), "/api/v1/events");
  for (const Json& event : events.as_array()) {
    const Json& about = event["involvedObject"];
    if (event["type"] != Json("Warning") || about["name"] != Json(key_.name)) continue;
    if (about["kind"] == Json(subject_.resource.kind))
      seen.warnings.insert(event["reason"].string_or("") + ": " + event["message"].string_or(""));
  }
  return seen;
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
