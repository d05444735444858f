// SPDX-License-Identifier: Apache-2.0
// The embedded API server with 10,000 pods of 3 to 6 KB: the time to read them from a manifest, the bytes
// that it keeps for each, and requests to it, all in one thread without sockets.
#include <cstdint>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <benchmark/benchmark.h>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/shared_core.hpp>

namespace {

namespace ek = evenkeel;

constexpr int pod_count = 10'000;
constexpr int namespaces = 20;

// A constant: g++ 12 warns that a default argument is uninitialised when it inlines its destructor.
const ek::apiserver::SharedCoreOptions options;

enum class Form : std::uint8_t { yaml_documents, json_list };

std::string path_of(int number) {
  return "/api/v1/namespaces/ns-" + std::to_string(number % namespaces) + "/pods";
}
std::string name_of(int number) {
  return "web-7c6d5b4f9d-" + std::to_string(100'000 + number);
}

std::string container(int index, std::mt19937& random) {
  std::string env;
  const int count = 4 + static_cast<int>(random() % 12);
  for (int at = 0; at < count; ++at)
    env += (at > 0 ? "," : "") + std::string(R"({"name":"SETTING_)") + std::to_string(at) +
           R"(","value":"https://service-)" + std::to_string(random() % 1000) + R"(.default.svc:8443/path"})";
  return R"({"name":"c)" + std::to_string(index) + R"(","image":"registry.example.com/team/app:v1.)" +
         std::to_string(random() % 100) + R"(","env":[)" + env +
         R"(],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},)"
         R"("ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],)"
         R"("readinessProbe":{"httpGet":{"path":"/ready","port":8080},"periodSeconds":5},)"
         R"("volumeMounts":[{"name":"kube-api-access","readOnly":true,)"
         R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"imagePullPolicy":"IfNotPresent"})";
}

/// Returns a pod without managedFields, which the server adds.
std::string pod(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  std::string containers = container(0, random);
  if (random() % 2 == 0) containers += "," + container(1, random);
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + name_of(number) +
         R"(","namespace":"ns-)" + std::to_string(number % namespaces) +
         R"(","labels":{"app":"web","pod-template-hash":"7c6d5b4f9d","shard":")" +
         std::to_string(random() % 100) +
         R"(","app.kubernetes.io/name":"web","app.kubernetes.io/part-of":"shop"},)"
         R"("annotations":{"prometheus.io/scrape":"true"}},"spec":{"containers":[)" +
         containers + R"(],"volumes":[{"name":"kube-api-access","emptyDir":{}}],"nodeName":"node-)" +
         std::to_string(random() % 200) + R"(","restartPolicy":"Always","serviceAccountName":"default"}})";
}

ek::http::Response ask(ek::apiserver::SharedCore& core, ek::http::Method method, std::string target,
                       std::string body = {}, const char* content = "application/json",
                       const char* accept = "application/json") {
  ek::http::Response response = core.handle({.method = method,
                                             .target = std::move(target),
                                             .headers = {{"Accept", accept}, {"Content-Type", content}},
                                             .body = std::move(body)});
  if (response.status / 100 != 2) throw std::runtime_error(response.body);
  return response;
}

void create_namespaces(ek::apiserver::SharedCore& core) {
  for (int at = 0; at < namespaces; ++at)
    ask(core, ek::http::Method::post, "/api/v1/namespaces",
        R"({"metadata":{"name":"ns-)" + std::to_string(at) + "\"}}");
}

/// Removes the version, which new objects must not have: from `name` up to and including `end`.
std::string without_version(std::string text, std::string_view name, char end) {
  const std::size_t at = text.find(name);
  return text.erase(at, text.find(end, at) - at + 1);
}

/// Returns the pods as a server writes them, with managedFields and status.
std::string make_manifest(Form form) {
  ek::apiserver::SharedCore core(options);
  create_namespaces(core);
  const bool yaml = form == Form::yaml_documents;
  std::string text = yaml ? "" : R"({"apiVersion":"v1","kind":"List","items":[)";
  for (int at = 0; at < pod_count; ++at) {
    ask(core, ek::http::Method::post, path_of(at), pod(at));
    if (at > 0) text += yaml ? "---\n" : ",";
    text += without_version(ask(core, ek::http::Method::get, path_of(at) + "/" + name_of(at), {},
                                "application/json", yaml ? "application/yaml" : "application/json")
                                .body,
                            yaml ? "  resourceVersion: " : "\"resourceVersion\":", yaml ? '\n' : ',');
  }
  return text + (yaml ? "" : "]}");
}

double heap() {
  return static_cast<double>(mallinfo2().uordblks + mallinfo2().hblkhd);
}
double resident() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double pages = 0;
  file >> total >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Counters, in bytes: `kept_per_pod` of the heap, `resident_per_pod` of the process.
void read_manifest(benchmark::State& state, Form form) {
  const std::string text = make_manifest(form);
  double kept = 0;
  double grown = 0;
  for (auto _ : state) {
    state.PauseTiming();
    malloc_trim(0);
    auto core = std::make_unique<ek::apiserver::SharedCore>(options);
    create_namespaces(*core);
    const double kept_before = heap();
    const double resident_before = resident();
    state.ResumeTiming();
    core->install(text);
    state.PauseTiming();
    kept = heap() - kept_before;
    grown = resident() - resident_before;
    core.reset();
    state.ResumeTiming();
  }
  state.SetItemsProcessed(pod_count * state.iterations());
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.counters["kept_per_pod"] = kept / pod_count;
  state.counters["resident_per_pod"] = grown / pod_count;
  state.counters["manifest_per_pod"] = static_cast<double>(text.size()) / pod_count;
}
BENCHMARK_CAPTURE(read_manifest, yaml_documents, Form::yaml_documents)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read_manifest, json_list, Form::json_list)->Unit(benchmark::kMillisecond);

/// A server with the pods.
ek::apiserver::SharedCore& world() {
  static const std::unique_ptr<ek::apiserver::SharedCore> core = [] {
    auto made = std::make_unique<ek::apiserver::SharedCore>(options);
    create_namespaces(*made);
    for (int at = 0; at < pod_count; ++at) ask(*made, ek::http::Method::post, path_of(at), pod(at));
    return made;
  }();
  return *core;
}

void get_pod(benchmark::State& state) {
  world();
  int at = 0;
  for (auto _ : state) {
    at = (at + 7919) % pod_count;
    benchmark::DoNotOptimize(ask(world(), ek::http::Method::get, path_of(at) + "/" + name_of(at)));
  }
}
BENCHMARK(get_pod)->Unit(benchmark::kMicrosecond);

/// Argument: the number of pods that are patched in turn.
void patch_pod(benchmark::State& state) {
  world();
  int round = 0;
  for (auto _ : state) {
    const int at = static_cast<int>(++round * 7919L % state.range(0));
    benchmark::DoNotOptimize(ask(world(), ek::http::Method::patch, path_of(at) + "/" + name_of(at),
                                 R"({"metadata":{"annotations":{"round":")" + std::to_string(round) + "\"}}}",
                                 "application/merge-patch+json"));
  }
}
BENCHMARK(patch_pod)->Arg(10)->Arg(pod_count)->Unit(benchmark::kMicrosecond);

void list_pods(benchmark::State& state, const char* query) {
  world();
  for (auto _ : state)
    benchmark::DoNotOptimize(ask(world(), ek::http::Method::get, std::string("/api/v1/pods") + query));
}
BENCHMARK_CAPTURE(list_pods, limit_500, "?limit=500")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_pods, by_label, "?labelSelector=shard%3D7")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(list_pods, by_field, "?fieldSelector=spec.nodeName%3Dnode-7")
    ->Unit(benchmark::kMillisecond);

void list_pods_as_table(benchmark::State& state) {
  world();
  for (auto _ : state)
    benchmark::DoNotOptimize(ask(world(), ek::http::Method::get, "/api/v1/pods?limit=500", {},
                                 "application/json", "application/json;as=Table;v=v1;g=meta.k8s.io"));
}
BENCHMARK(list_pods_as_table)->Unit(benchmark::kMillisecond);

void create_and_delete_pod(benchmark::State& state) {
  world();
  int at = pod_count;
  for (auto _ : state) {
    ++at;
    benchmark::DoNotOptimize(ask(world(), ek::http::Method::post, path_of(at), pod(at)));
    benchmark::DoNotOptimize(
        ask(world(), ek::http::Method::delete_, path_of(at) + "/" + name_of(at) + "?gracePeriodSeconds=0"));
  }
}
BENCHMARK(create_and_delete_pod)->Unit(benchmark::kMicrosecond);

/// A snapshot and a world that begins in it. `kept_per_world`: bytes of the heap; `kept_after_write`: those
/// after one patch of a pod.
void snapshot_and_world(benchmark::State& state) {
  world();
  for (auto _ : state) {
    ek::apiserver::SharedCore begun({.world = world().snapshot()});
    benchmark::DoNotOptimize(begun);
  }
  const double before = heap();
  ek::apiserver::SharedCore begun({.world = world().snapshot()});
  state.counters["kept_per_world"] = heap() - before;
  ask(begun, ek::http::Method::patch, path_of(7) + "/" + name_of(7),
      R"({"metadata":{"annotations":{"a":"b"}}})", "application/merge-patch+json");
  state.counters["kept_after_write"] = heap() - before;
}
BENCHMARK(snapshot_and_world)->Unit(benchmark::kMicrosecond);

/// Builds the same state by requests.
void build_world(benchmark::State& state) {
  double kept = 0;
  for (auto _ : state) {
    const double before = heap();
    ek::apiserver::SharedCore core(options);
    create_namespaces(core);
    for (int at = 0; at < pod_count; ++at) ask(core, ek::http::Method::post, path_of(at), pod(at));
    kept = heap() - before;
  }
  state.counters["kept_per_world"] = kept;
}
BENCHMARK(build_world)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
