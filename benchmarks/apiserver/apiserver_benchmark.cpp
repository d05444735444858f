// SPDX-License-Identifier: Apache-2.0
// Speed of an API server for one client on one connection. The server is given by its kubeconfig, so that the
// embedded server and a real one can be measured in turn (scripts/bench-apiserver). Prints one JSON object.
//
//   apiserver_benchmark --kubeconfig FILE --namespace NAME [--seconds S] [--pid SERVER]
//   apiserver_benchmark --start           start-up time of an ApiServer in this process
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace {

namespace ek = evenkeel;
using Steady = std::chrono::steady_clock;

constexpr std::size_t watches = 200;
constexpr int events = 100;
constexpr std::chrono::seconds longest_wait{60};

constexpr const char* crd = R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"gauges.bench.evenkeel.dev"},"spec":{"group":"bench.evenkeel.dev","scope":"Namespaced",
"names":{"plural":"gauges","singular":"gauge","kind":"Gauge","listKind":"GaugeList"},"versions":[{"name":"v1",
"served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
"spec":{"type":"object","required":["size"],"properties":{"size":{"type":"integer","minimum":1},
"color":{"type":"string","default":"blue"},"labels":{"type":"object","additionalProperties":{"type":"string"}}}},
"status":{"type":"object","properties":{"phase":{"type":"string"}}}}}}}]}})";

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

struct Flags {
  std::string kubeconfig = {};
  std::string namespace_ = "default";
  double seconds = 2;
  std::string pid = {};
  bool start = false;
};

Flags read_flags(int argc, char** argv) {
  Flags flags;
  for (int at = 1; at < argc; ++at) {
    const std::string_view name = argv[at];
    if (name == "--start") {
      flags.start = true;
      continue;
    }
    if (at + 1 == argc) throw std::invalid_argument("no value for " + std::string(name));
    const char* value = argv[++at];
    if (name == "--kubeconfig") {
      flags.kubeconfig = value;
    } else if (name == "--namespace") {
      flags.namespace_ = value;
    } else if (name == "--seconds") {
      flags.seconds = std::strtod(value, nullptr);
    } else if (name == "--pid") {
      flags.pid = value;
    } else {
      throw std::invalid_argument("unknown flag " + std::string(name));
    }
  }
  return flags;
}

/// A server, and one client that sends requests one at a time.
class Asker {
 public:
  explicit Asker(const ek::Config& config)
      : transport_(ek::http::make_curl_transport(
            {.server = config.server, .tls = config.tls, .proxy = "", .max_in_flight_http1 = 1})) {
    headers_ = {{"Accept", "application/json"}};
    if (!config.token.empty()) headers_.set("Authorization", "Bearer " + config.token);
  }

  /// Throws std::runtime_error unless the response is 2xx, or 409 for an object that may exist already.
  std::string ask(ek::http::Method method, const std::string& target, std::string body = {},
                  const char* type = "application/json") {
    ek::http::Response response = answer(method, target, std::move(body), type);
    if (response.status / 100 != 2)
      throw std::runtime_error(target + ": " + std::to_string(response.status) + " " + response.body);
    return std::move(response.body);
  }
  ek::http::Response answer(ek::http::Method method, const std::string& target, std::string body,
                            const char* type) {
    ek::http::Headers headers = headers_;
    if (!body.empty()) headers.set("Content-Type", type);
    return transport_->fetch(
        {.method = method, .target = target, .headers = std::move(headers), .body = std::move(body)});
  }
  std::shared_ptr<ek::http::Call> stream(const std::string& target,
                                         std::shared_ptr<ek::http::StreamHandler> handler) {
    return transport_->stream({.target = target, .headers = headers_}, std::move(handler));
  }

 private:
  std::shared_ptr<ek::http::Transport> transport_;
  ek::http::Headers headers_;
};

std::string config_map(const std::string& name) {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + name +
         R"(","labels":{"app":"bench","tier":"one"}},"data":{"color":"blue","size":"3","text":"some words"}})";
}
std::string gauge(const std::string& name) {
  return R"({"apiVersion":"bench.evenkeel.dev/v1","kind":"Gauge","metadata":{"name":")" + name +
         R"(","labels":{"app":"bench"}},"spec":{"size":3,"labels":{"a":"b","c":"d"}}})";
}

/// Calls `action` with 0, 1, 2, ... for `seconds`; returns calls per second.
double rate(double seconds, const std::function<void(int)>& action) {
  const auto start = Steady::now();
  int count = 0;
  for (; seconds_since(start) < seconds; ++count) action(count);
  return count / seconds_since(start);
}

/// Counts the events of all watches.
class EventCounter final : public ek::http::StreamHandler {
 public:
  EventCounter(std::atomic<std::size_t>& opened, std::atomic<std::size_t>& heard)
      : opened_(opened), heard_(heard) {}
  void on_response(int status, const ek::http::Headers&) override {
    if (status == 200) ++opened_;
  }
  void on_data(std::string_view piece) override {
    heard_ += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
  }
  void on_end(std::exception_ptr) override {}

 private:
  std::atomic<std::size_t>& opened_;
  std::atomic<std::size_t>& heard_;
};

void wait_for(const char* what, const std::atomic<std::size_t>& count, std::size_t wanted) {
  const auto start = Steady::now();
  while (count.load() < wanted) {
    if (Steady::now() - start > longest_wait)
      throw std::runtime_error(std::string("waited a minute for ") + what + ": " +
                               std::to_string(count.load()) + " of " + std::to_string(wanted));
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
}

double threads_of(const std::string& pid) {
  std::ifstream status("/proc/" + pid + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("Threads:")) return std::strtod(line.c_str() + 8, nullptr);
  return 0;
}

class Benchmark {
 public:
  explicit Benchmark(const Flags& flags)
      : flags_(flags),
        asker_(ek::parse_kubeconfig(text_of(flags.kubeconfig))),
        maps_("/api/v1/namespaces/" + flags.namespace_ + "/configmaps"),
        gauges_("/apis/bench.evenkeel.dev/v1/namespaces/" + flags.namespace_ + "/gauges") {}

  ek::Json run() {
    prepare();
    for (int at = 0; at < 50; ++at) create(maps_, config_map("warm-" + std::to_string(at)));
    measure("create_configmap", [&](int at) { create(maps_, config_map("m-" + std::to_string(at))); });
    measure("create_custom", [&](int at) { create(gauges_, gauge("g-" + std::to_string(at))); });
    measure("get", [&](int at) { get(maps_ + "/warm-" + std::to_string(at % 50)); });
    measure("merge_patch", [&](int at) {
      asker_.ask(ek::http::Method::patch, maps_ + "/warm-" + std::to_string(at % 50),
                 R"({"data":{"size":")" + std::to_string(at) + "\"}}", "application/merge-patch+json");
    });
    measure("apply", [&](int at) {
      asker_.ask(ek::http::Method::patch,
                 gauges_ + "/g-" + std::to_string(at % 20) + "?fieldManager=bench&force=true",
                 R"({"apiVersion":"bench.evenkeel.dev/v1","kind":"Gauge","spec":{"size":)" +
                     std::to_string(at + 1) + "}}",
                 "application/apply-patch+yaml");
    });
    measure("list_500", [&](int) { get(maps_ + "?limit=500"); });
    fan_out();
    return std::move(figures_);
  }

 private:
  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void create(const std::string& collection, std::string body) {
    asker_.ask(ek::http::Method::post, collection, std::move(body));
  }
  std::string get(const std::string& target) { return asker_.ask(ek::http::Method::get, target); }
  void measure(const char* name, const std::function<void(int)>& action) {
    figures_[name] = rate(flags_.seconds, action);
  }

  /// Creates a namespace and a kind, and waits until both can be used.
  void prepare() {
    asker_.ask(ek::http::Method::post, "/api/v1/namespaces",
               R"({"metadata":{"name":")" + flags_.namespace_ + "\"}}");
    asker_.answer(ek::http::Method::post, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd,
                  "application/json");
    const auto start = Steady::now();
    while (asker_.answer(ek::http::Method::post, gauges_, gauge("first"), "application/json").status != 201) {
      if (Steady::now() - start > longest_wait) throw std::runtime_error("waited a minute for the kind");
      std::this_thread::sleep_for(std::chrono::milliseconds{20});
    }
  }

  /// Measures 200 watches that receive 100 creations: events per second, and threads of the server.
  void fan_out() {
    const std::string list = get(maps_ + "?limit=1");
    const std::string version = ek::Json::parse(list).at({"metadata", "resourceVersion"}).string_or("");
    std::atomic<std::size_t> opened = 0;
    std::atomic<std::size_t> heard = 0;
    const auto counter = std::make_shared<EventCounter>(opened, heard);
    std::vector<std::shared_ptr<ek::http::Call>> calls;
    for (std::size_t at = 0; at < watches; ++at)
      calls.push_back(asker_.stream(maps_ + "?watch=1&resourceVersion=" + version, counter));
    wait_for("the watches", opened, watches);
    const auto start = Steady::now();
    for (int at = 0; at < events; ++at) create(maps_, config_map("w-" + std::to_string(at)));
    wait_for("the events", heard, watches * events);
    figures_["watch_events"] = static_cast<double>(watches * events) / seconds_since(start);
    if (!flags_.pid.empty()) figures_["threads_with_200_watches"] = threads_of(flags_.pid);
    for (const auto& call : calls) call->cancel();
    // The streams still count into variables on this stack: destroying the transport ends them.
    asker_ = Asker(ek::parse_kubeconfig(text_of(flags_.kubeconfig)));
  }

  const Flags flags_;
  Asker asker_;
  const std::string maps_;
  const std::string gauges_;
  ek::Json figures_ = ek::Json::object();
};

/// Returns the seconds from construction to the first response of an ApiServer in this process.
ek::Json measure_start() {
  const auto start = Steady::now();
  ek::apiserver::ApiServer server;
  const double constructed = seconds_since(start);
  Asker asker(server.config());
  asker.ask(ek::http::Method::get, "/api/v1/namespaces/default");
  return ek::Json::object(
      {{"constructed_ms", constructed * 1e3}, {"answered_ms", seconds_since(start) * 1e3}});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Flags flags = read_flags(argc, argv);
    const ek::Json figures = flags.start ? measure_start() : Benchmark(flags).run();
    std::printf("%s\n", figures.dump().c_str());
    return EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "apiserver_benchmark: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
