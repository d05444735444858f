// SPDX-License-Identifier: Apache-2.0
// One OpenTelemetry Collector, for tests (scripts/collector), and spans as text, to compare those that were
// recorded with those that it received.
#pragma once

#include <fstream>
#include <initializer_list>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/base/trace.hpp>

#include "../support/await.hpp"
#include "testing/control_plane/child_process.hpp"
#include "testing/control_plane/control_plane.hpp"

namespace evenkeel::tests {

/// A receiver of OTLP over HTTP and the file that its spans are written to. Settings are those of the
/// Collector's receiver ("tls", "max_request_body_size") and of tests/collector/main.go ("refuse", "error").
struct CollectorPipeline {
  std::string name = {};
  Json receiver = Json::object();
  Json exporter = Json::object();
};

/// Runs from construction, with each pipeline on a separate port.
class RealCollector {
 public:
  explicit RealCollector(std::vector<CollectorPipeline> pipelines) : pipelines_(std::move(pipelines)) {
    constexpr int attempts = 5;
    for (int attempt = 1; !try_to_start(); ++attempt)
      if (attempt == attempts) throw Error("the Collector " + process_.ending() + ":\n" + log());
  }
  ~RealCollector() {
    process_.kill();
    keeper_.finish();
  }
  RealCollector(const RealCollector&) = delete;
  RealCollector& operator=(const RealCollector&) = delete;

  /// Returns the address of a pipeline's receiver: "127.0.0.1:41233".
  const std::string& address(const std::string& pipeline) const { return addresses_.at(pipeline); }
  /// Returns the requests that a pipeline has written, oldest first.
  std::vector<Json> received(const std::string& pipeline) const {
    std::vector<Json> requests;
    std::istringstream lines(text_of(file_of(pipeline)));
    for (std::string line; std::getline(lines, line);) requests.push_back(Json::parse(line));
    return requests;
  }
  void kill() { process_.kill(); }
  /// Starts it after kill(), on the same ports. Returns once it receives.
  void start() {
    if (!launch()) throw Error("the Collector " + process_.ending() + ":\n" + log());
  }

 private:
  bool try_to_start() {
    std::vector<testing::ReservedPort> ports(pipelines_.size());
    for (std::size_t i = 0; i < ports.size(); ++i)
      addresses_[pipelines_[i].name] = "127.0.0.1:" + std::to_string(ports[i].number());
    ports.clear();
    return launch();
  }

  // Returns false if it ended: another process may have taken a port.
  bool launch() {
    std::ofstream(path("collector.yaml")) << configuration().dump();
    std::ofstream(path("collector.log"), std::ios::trunc).flush();
    process_.start({EVENKEEL_COLLECTOR, "--config", path("collector.yaml")}, path("collector.log"),
                   keeper_.group());
    const auto ready = [this] { return log().find("Everything is ready") != std::string::npos; };
    await("the Collector to be ready", [&] { return ready() || !process_.running(); });
    return process_.running();
  }

  // JSON is YAML.
  Json configuration() const {
    Json configuration = Json::object();
    for (const CollectorPipeline& one : pipelines_) {
      Json http = one.receiver;
      http["endpoint"] = addresses_.at(one.name);
      http["include_metadata"] = true;
      Json exporter = one.exporter;
      exporter["path"] = file_of(one.name);
      configuration["receivers"]["otlp/" + one.name]["protocols"]["http"] = std::move(http);
      configuration["exporters"]["spans/" + one.name] = std::move(exporter);
      configuration["service"]["pipelines"]["traces/" + one.name] =
          Json::object({{"receivers", Json::array({"otlp/" + one.name})},
                        {"exporters", Json::array({"spans/" + one.name})}});
    }
    return configuration;
  }

  std::string path(const std::string& name) const { return keeper_.directory() + "/" + name; }
  std::string file_of(const std::string& pipeline) const { return path(pipeline + ".spans"); }
  std::string log() const { return text_of(path("collector.log")); }
  static std::string text_of(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

  const std::vector<CollectorPipeline> pipelines_;
  testing::ProcessKeeper keeper_;
  testing::ChildProcess process_;
  std::map<std::string, std::string> addresses_;
};

// ---- Spans as text ----

/// Returns an attribute with its type: "attempt=int 5".
inline std::string attribute_text(const SpanAttribute& attribute) {
  return attribute.name + "=" +
         std::visit(
             [](const auto& value) {
               using Value = std::decay_t<decltype(value)>;
               if constexpr (std::is_same_v<Value, std::string>) return "string " + value;
               if constexpr (std::is_same_v<Value, std::int64_t>) return "int " + std::to_string(value);
               if constexpr (std::is_same_v<Value, double>) return "double " + Json(value).dump();
               if constexpr (std::is_same_v<Value, bool>)
                 return std::string(value ? "bool true" : "bool false");
             },
             attribute.value);
}
inline std::string attribute_text(const Json& attribute) {
  std::string text = attribute["key"].as_string() + "=";
  for (const auto& [name, value] : attribute["value"].as_object()) {  // one member: the type with the value
    text += name.substr(0, name.find("Value")) + " ";
    text += value.is_string() ? value.as_string() : value.dump();
  }
  return text;
}

template <class Attributes>
std::string attributes_text(const Attributes& attributes) {
  std::string text = "{";
  for (const auto& one : attributes) text += attribute_text(one) + "; ";
  return text + "}";
}
/// Returns the items of a member that is left out if it has none.
inline const Json::Array& items_of(const Json& object, std::string_view member) {
  static const Json::Array none;
  const Json* const found = object.find(member);
  return found != nullptr ? found->as_array() : none;
}

inline std::string nanoseconds_text(WallTime time) {
  return std::to_string(
      std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

/// Returns everything about a span, so that two are equal if their texts are.
inline std::string span_text(const SpanRecord& span) {
  std::string text = span.name + " kind " + std::to_string(static_cast<int>(span.kind) + 1) + " " +
                     to_hex(span.context.trace_id) + " " + to_hex(span.context.span_id) + " parent " +
                     (span.parent == SpanId{} ? "none" : to_hex(span.parent)) + " from " +
                     nanoseconds_text(span.start) + " to " + nanoseconds_text(span.end) + " status " +
                     std::to_string(static_cast<int>(span.status)) + " \"" + span.status_message +
                     "\" sampled " + (span.context.sampled ? "1" : "0") + " " +
                     attributes_text(span.attributes);
  for (const SpanLink& link : span.links)
    text += "\n  link " + to_hex(link.context.trace_id) + " " + to_hex(link.context.span_id) + " " +
            attributes_text(link.attributes);
  return text;
}
inline std::string span_text(const Json& span) {
  const std::string parent = span["parentSpanId"].string_or("");
  std::string text =
      span["name"].string_or("") + " kind " + std::to_string(span["kind"].integer_or(0)) + " " +
      span["traceId"].string_or("") + " " + span["spanId"].string_or("") + " parent " +
      (parent.empty() ? "none" : parent) + " from " + span["startTimeUnixNano"].string_or("0") + " to " +
      span["endTimeUnixNano"].string_or("0") + " status " +
      std::to_string(span["status"]["code"].integer_or(0)) + " \"" + span["status"]["message"].string_or("") +
      "\" sampled " + std::to_string(span["flags"].integer_or(0) & 1) + " " +
      attributes_text(items_of(span, "attributes"));
  for (const Json& link : items_of(span, "links"))
    text += "\n  link " + link["traceId"].string_or("") + " " + link["spanId"].string_or("") + " " +
            attributes_text(items_of(link, "attributes"));
  return text;
}

/// Returns all spans of some requests.
inline std::vector<Json> spans_of(const std::vector<Json>& requests) {
  std::vector<Json> spans;
  for (const Json& request : requests)
    for (const Json& resource : items_of(request["traces"], "resourceSpans"))
      for (const Json& scope : items_of(resource, "scopeSpans"))
        for (const Json& span : items_of(scope, "spans")) spans.push_back(span);
  return spans;
}
template <class Spans>
std::vector<std::string> texts_of(const Spans& spans) {
  std::vector<std::string> texts;
  for (const auto& span : spans) texts.push_back(span_text(span));
  return texts;
}

}  // namespace evenkeel::tests
