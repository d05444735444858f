// SPDX-License-Identifier: Apache-2.0
// Rows of pods and workloads.
#include <algorithm>
#include <optional>

#include "apiserver/schema/cel_time.hpp"
#include "apiserver/store/table_cells.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver::rows {

namespace {

Json count(const Json& value) {
  return Json(value.integer_or(0));
}
std::string count_text(const Json& value) {
  return std::to_string(value.integer_or(0));
}

bool is_true(const Json& conditions, std::string_view type) {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]["type"].string_or("") == type) return conditions[i]["status"].string_or("") == "True";
  }
  return false;
}

/// Returns the reason why a container is not running: reason, else exit code or signal.
std::optional<std::string> stopped_reason(const Json& state) {
  const Json& waiting = state["waiting"]["reason"];
  if (!waiting.string_or("").empty()) return waiting.as_string();
  const Json& ended = state["terminated"];
  if (!ended.is_object()) return std::nullopt;
  if (!ended["reason"].string_or("").empty()) return ended["reason"].as_string();
  if (ended["signal"].integer_or(0) != 0) return "Signal:" + count_text(ended["signal"]);
  return "ExitCode:" + count_text(ended["exitCode"]);
}

/// Returns "Init:1/2" and similar while init containers run; std::nullopt once they are done.
std::optional<std::string> init_reason(const Json& pod) {
  const Json& statuses = pod["status"]["initContainerStatuses"];
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Json& state = statuses[i]["state"];
    if (state["terminated"].is_object() && state["terminated"]["exitCode"].integer_or(-1) == 0) continue;
    if (state["terminated"].is_object()) return "Init:" + stopped_reason(state).value_or("");
    const std::string waiting = state["waiting"]["reason"].string_or("");
    if (!waiting.empty() && waiting != "PodInitializing") return "Init:" + waiting;
    return "Init:" + std::to_string(i) + "/" + std::to_string(pod["spec"]["initContainers"].size());
  }
  return std::nullopt;
}

struct Containers {
  std::int64_t ready = 0;
  std::int64_t restarts = 0;
  bool running = false;
  std::string reason = {};
};

Containers containers_of(const Json& pod, const std::string& reason) {
  Containers result;
  result.reason = reason;
  const Json& statuses = pod["status"]["containerStatuses"];
  for (std::size_t i = statuses.size(); i-- > 0;) {
    const Json& status = statuses[i];
    result.restarts += status["restartCount"].integer_or(0);
    if (const auto stopped = stopped_reason(status["state"])) {
      result.reason = *stopped;
    } else if (status["ready"].bool_or(false) && status["state"]["running"].is_object()) {
      result.running = true;
      ++result.ready;
    }
  }
  return result;
}

std::string pod_reason(const Json& pod, Containers& containers) {
  std::string reason = text_or(pod["status"]["phase"], "");
  if (!pod["status"]["reason"].string_or("").empty()) reason = pod["status"]["reason"].as_string();
  const auto waits = init_reason(pod);
  containers = containers_of(pod, reason);
  if (waits) return *waits;
  if (containers.reason == "Completed" && containers.running)
    return is_true(pod["status"]["conditions"], "Ready") ? "Running" : "NotReady";
  return containers.reason;
}

Json template_spec(const Json& object) {
  return object.at({"spec", "template", "spec"});
}

/// Adds containers, images and selector, the additional columns of `-o wide`.
void add_wide(Json::Array& cells, const Json& pod_spec, const Json& selector) {
  cells.emplace_back(container_names(pod_spec));
  cells.emplace_back(container_images(pod_spec));
  cells.emplace_back(selector_text(selector));
}

std::string run_time(const Json& object, WallTime now) {
  const Json& start = object["status"]["startTime"];
  const Json& end = object["status"]["completionTime"];
  if (!start.is_string()) return "";
  if (!end.is_string()) return age(start, now);
  const auto from = parse_timestamp(start.as_string());
  const auto to = parse_timestamp(end.as_string());
  if (!from || !to) return "<unknown>";
  return human_duration(std::chrono::seconds((*to - *from) / 1'000'000'000));
}

std::string job_status(const Json& object) {
  const Json& conditions = object["status"]["conditions"];
  for (const char* type : {"Complete", "Failed"}) {
    if (is_true(conditions, type)) return type;
  }
  if (object["metadata"].contains("deletionTimestamp")) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (is_true(conditions, type)) return type;
  }
  return "Running";
}

}  // namespace

Json::Array pod(const Json& object, WallTime now) {
  Containers containers;
  std::string reason = pod_reason(object, containers);
  const std::string phase = object["status"]["phase"].string_or("");
  if (object["metadata"].contains("deletionTimestamp")) {
    if (object["status"]["reason"].string_or("") == "NodeLost")
      reason = "Unknown";
    else if (phase != "Failed" && phase != "Succeeded")
      reason = "Terminating";
  }
  const Json& gates = object["spec"]["readinessGates"];
  std::string ready_gates = "<none>";
  if (!gates.empty()) {
    std::int64_t held = 0;
    for (std::size_t i = 0; i < gates.size(); ++i)
      held += is_true(object["status"]["conditions"], gates[i]["conditionType"].string_or("")) ? 1 : 0;
    ready_gates = std::to_string(held) + "/" + std::to_string(gates.size());
  }
  return {name_of(object),
          Json(std::to_string(containers.ready) + "/" + std::to_string(object["spec"]["containers"].size())),
          Json(reason),
          Json(std::to_string(containers.restarts)),
          Json(age_of(object, now)),
          Json(text_or(object["status"]["podIP"], "<none>")),
          Json(text_or(object["spec"]["nodeName"], "<none>")),
          Json(text_or(object["status"]["nominatedNodeName"], "<none>")),
          Json(ready_gates)};
}

Json::Array deployment(const Json& object, WallTime now) {
  const Json& status = object["status"];
  Json::Array cells{name_of(object),
                    Json(count_text(status["readyReplicas"]) + "/" + count_text(object["spec"]["replicas"])),
                    count(status["updatedReplicas"]), count(status["availableReplicas"]),
                    Json(age_of(object, now))};
  add_wide(cells, template_spec(object), object["spec"]["selector"]);
  return cells;
}

Json::Array replica_set(const Json& object, WallTime now) {
  const Json& status = object["status"];
  Json::Array cells{name_of(object), count(object["spec"]["replicas"]), count(status["replicas"]),
                    count(status["readyReplicas"]), Json(age_of(object, now))};
  add_wide(cells, template_spec(object), object["spec"]["selector"]);
  return cells;
}

Json::Array replication_controller(const Json& object, WallTime now) {
  Json::Array cells = replica_set(object, now);
  cells.back() = Json(labels_text(object["spec"]["selector"]));
  return cells;
}

Json::Array stateful_set(const Json& object, WallTime now) {
  const Json spec = template_spec(object);
  return {name_of(object),
          Json(count_text(object["status"]["readyReplicas"]) + "/" + count_text(object["spec"]["replicas"])),
          Json(age_of(object, now)), Json(container_names(spec)), Json(container_images(spec))};
}

Json::Array daemon_set(const Json& object, WallTime now) {
  const Json& status = object["status"];
  Json::Array cells{name_of(object),
                    count(status["desiredNumberScheduled"]),
                    count(status["currentNumberScheduled"]),
                    count(status["numberReady"]),
                    count(status["updatedNumberScheduled"]),
                    count(status["numberAvailable"]),
                    Json(labels_text(template_spec(object)["nodeSelector"])),
                    Json(age_of(object, now))};
  add_wide(cells, template_spec(object), object["spec"]["selector"]);
  return cells;
}

Json::Array job(const Json& object, WallTime now) {
  const std::string done = count_text(object["status"]["succeeded"]);
  const Json& wanted = object["spec"]["completions"];
  const std::int64_t parallel = object["spec"]["parallelism"].integer_or(0);
  const std::string completions = wanted.is_integer() ? done + "/" + wanted.dump()
                                  : parallel > 1      ? done + "/1 of " + std::to_string(parallel)
                                                      : done + "/1";
  Json::Array cells{name_of(object), Json(job_status(object)), Json(completions), Json(run_time(object, now)),
                    Json(age_of(object, now))};
  add_wide(cells, template_spec(object), object["spec"]["selector"]);
  return cells;
}

Json::Array cron_job(const Json& object, WallTime now) {
  const Json& spec = object["spec"];
  const Json& last = object["status"]["lastScheduleTime"];
  const Json& job_spec = spec["jobTemplate"]["spec"];
  Json::Array cells{name_of(object),
                    spec["schedule"],
                    Json(text_or(spec["timeZone"], "<none>")),
                    Json(spec["suspend"].bool_or(false) ? "True" : "False"),
                    Json(object["status"]["active"].size()),
                    Json(last.is_string() ? age(last, now) : "<none>"),
                    Json(age_of(object, now))};
  add_wide(cells, job_spec["template"]["spec"], job_spec["selector"]);
  return cells;
}

Json::Array pod_template(const Json& object, WallTime) {
  const Json& spec = object["template"]["spec"];
  return {name_of(object), Json(container_names(spec)), Json(container_images(spec)),
          Json(labels_text(object.at({"template", "metadata", "labels"})))};
}

Json::Array controller_revision(const Json& object, WallTime now) {
  std::string owner = "<none>";
  const Json& owners = object["metadata"]["ownerReferences"];
  for (std::size_t i = 0; i < owners.size(); ++i) {
    if (!owners[i]["controller"].bool_or(false)) continue;
    const std::string version = owners[i]["apiVersion"].string_or("");
    const std::string group =
        version.find('/') == std::string::npos ? "" : "." + version.substr(0, version.find('/'));
    std::string kind = owners[i]["kind"].string_or("");
    std::transform(kind.begin(), kind.end(), kind.begin(), [](char letter) {
      return static_cast<char>(letter >= 'A' && letter <= 'Z' ? letter + 32 : letter);
    });
    owner = kind + group + "/" + owners[i]["name"].string_or("");
  }
  return {name_of(object), Json(owner), Json(count_text(object["revision"])), Json(age_of(object, now))};
}

}  // namespace apiserver::rows
}  // namespace v0
}  // namespace evenkeel
