// SPDX-License-Identifier: Apache-2.0
// From the bytes of a list or a watch to objects that can be looked up: the cache compared with the textbook
// way, which parses each document to a tree and keeps it. The counters are bytes kept per object.
#include <cstdint>
#include <malloc.h>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/list_splitter.hpp>

namespace {

namespace ek = evenkeel;

constexpr int pod_count = 2000;
constexpr std::size_t piece_size = 16u << 10;  // what transports deliver at a time

std::string fields_tree(int depth, std::mt19937& random) {
  std::string text = "{";
  const int count = depth == 0 ? 1 : 3 + static_cast<int>(random() % 3);
  for (int i = 0; i < count; ++i) {
    text += (i > 0 ? "," : "") + std::string("\"f:field") + std::to_string(random() % 90 + 10) +
            std::to_string(i) + "\":" + (depth == 0 ? "{}" : fields_tree(depth - 1, random));
  }
  return text + "}";
}

/// Returns a pod of about 6 KB, more than a third of it managedFields, as API servers write them.
std::string pod(int number) {
  std::mt19937 random(static_cast<unsigned>(number));
  const std::string id = std::to_string(100'000 + number);
  std::string containers;
  for (int i = 0; i < 2; ++i) {
    containers += (i > 0 ? "," : "") + std::string(R"({"name":"c)") + std::to_string(i) +
                  R"(","image":"registry.example.com/team/app:v1.)" + std::to_string(random() % 100) +
                  R"(","env":[)";
    for (int e = 0; e < 10; ++e) {
      containers += (e > 0 ? "," : "") + std::string(R"({"name":"SETTING_)") + std::to_string(e) +
                    R"(","value":"https://service-)" + std::to_string(random() % 1000) +
                    R"(.default.svc:8443/path"})";
    }
    containers +=
        R"(],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},)"
        R"("volumeMounts":[{"name":"kube-api-access","readOnly":true,)"
        R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"imagePullPolicy":"IfNotPresent"})";
  }
  return R"({"metadata":{"name":"web-7c6d5b4f9d-)" + id + R"(","namespace":"ns-)" +
         std::to_string(number % 20) + R"(","uid":"0b0e6e0c-51a0-4a3e-9d6f-0000)" + id +
         R"(00","resourceVersion":")" + id +
         R"(","creationTimestamp":"2026-01-01T00:00:00Z","labels":{"app":"web","pod-template-hash":"7c6d5b4f9d",)"
         R"("app.kubernetes.io/name":"web","app.kubernetes.io/part-of":"shop"},"annotations":{"prometheus.io/scrape":"true"},)"
         R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-7c6d5b4f9d",)"
         R"("uid":"5f2e6e0c-51a0-4a3e-9d6f-000000000000","controller":true,"blockOwnerDeletion":true}],)"
         R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",)"
         R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":)" +
         fields_tree(3, random) + R"(}]},"spec":{"containers":[)" + containers + R"(],"nodeName":"node-)" +
         std::to_string(random() % 200) +
         R"(","restartPolicy":"Always","serviceAccountName":"default"},"status":{"phase":"Running","podIP":"10.1.2.)" +
         std::to_string(random() % 250) +
         R"(","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:05Z"},)"
         R"({"type":"Initialized","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"}]}})";
}

const std::string& list_body() {
  static const std::string body = [] {
    std::string text =
        R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"999999"},"items":[)";
    for (int i = 0; i < pod_count; ++i) text += (i > 0 ? "," : "") + pod(i);
    return text + "]}";
  }();
  return body;
}

const std::string& watch_body() {
  static const std::string body = [] {
    std::string text;
    for (int i = 0; i < pod_count; ++i) text += R"({"type":"MODIFIED","object":)" + pod(i) + "}\n";
    return text;
  }();
  return body;
}

std::size_t heap() {
  return mallinfo2().uordblks + mallinfo2().hblkhd;
}

const ek::WireScannerOptions pods{.form = ek::WireForm::whole, .api_version = "v1", .kind = "Pod"};

void read_list(std::string_view body, std::size_t size, ek::ObjectStore& store,
               const ek::WireScannerOptions& options) {
  ek::ListSplitter splitter;
  ek::WireScanner scanner(options);
  std::vector<ek::WireObject> objects;
  for (std::size_t at = 0; at < body.size(); at += size) {
    splitter.feed(body.substr(at, size));
    while (const auto item = splitter.next()) objects.push_back(scanner.object(*item));
  }
  splitter.finish();
  store.replace(std::move(objects));
}

void report(benchmark::State& state, std::size_t bytes, std::size_t kept) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
  state.SetItemsProcessed(pod_count * state.iterations());
  if (kept > 0) state.counters["kept_per_object"] = static_cast<double>(kept) / pod_count;
}

/// Argument: the size of the pieces in which the body arrives.
void list_to_store(benchmark::State& state) {
  std::size_t kept = 0;
  list_body();
  for (auto _ : state) {
    const std::size_t before = heap();
    ek::ObjectStore store;
    read_list(list_body(), static_cast<std::size_t>(state.range(0)), store, pods);
    state.PauseTiming();
    kept = heap() - before;
    state.ResumeTiming();
  }
  report(state, list_body().size(), kept);
}
BENCHMARK(list_to_store)->Arg(1)->Arg(64)->Arg(piece_size)->Arg(1 << 20)->Unit(benchmark::kMillisecond);

void list_to_store_metadata_only(benchmark::State& state) {
  ek::WireScannerOptions options = pods;
  options.form = ek::WireForm::metadata_only;
  std::size_t kept = 0;
  for (auto _ : state) {
    const std::size_t before = heap();
    ek::ObjectStore store;
    read_list(list_body(), piece_size, store, options);
    state.PauseTiming();
    kept = heap() - before;
    state.ResumeTiming();
  }
  report(state, list_body().size(), kept);
}
BENCHMARK(list_to_store_metadata_only)->Unit(benchmark::kMillisecond);

void list_split_only(benchmark::State& state) {
  for (auto _ : state) {
    ek::ListSplitter splitter;
    for (std::size_t at = 0; at < list_body().size(); at += piece_size) {
      splitter.feed(std::string_view(list_body()).substr(at, piece_size));
      while (const auto item = splitter.next()) benchmark::DoNotOptimize(item->data());
    }
    splitter.finish();
  }
  report(state, list_body().size(), 0);
}
BENCHMARK(list_split_only)->Unit(benchmark::kMillisecond);

using Tree = std::map<std::pair<std::string, std::string>, nlohmann::json>;

void put(Tree& tree, nlohmann::json object) {
  const nlohmann::json& metadata = object["metadata"];
  tree[{metadata["namespace"].get<std::string>(), metadata["name"].get<std::string>()}] = std::move(object);
}

void list_to_trees_textbook(benchmark::State& state) {
  std::size_t kept = 0;
  for (auto _ : state) {
    const std::size_t before = heap();
    Tree store;
    {
      nlohmann::json list = nlohmann::json::parse(list_body());
      for (nlohmann::json& item : list["items"]) put(store, std::move(item));
    }
    state.PauseTiming();
    kept = heap() - before;
    state.ResumeTiming();
  }
  report(state, list_body().size(), kept);
}
BENCHMARK(list_to_trees_textbook)->Unit(benchmark::kMillisecond);

void watch_to_store(benchmark::State& state) {
  for (auto _ : state) {
    ek::ObjectStore store;
    ek::FrameSplitter splitter;
    ek::WireScanner scanner(pods);
    for (std::size_t at = 0; at < watch_body().size(); at += piece_size) {
      splitter.feed(std::string_view(watch_body()).substr(at, piece_size));
      while (const auto frame = splitter.next()) store.apply(scanner.event(*frame).object);
    }
  }
  report(state, watch_body().size(), 0);
}
BENCHMARK(watch_to_store)->Unit(benchmark::kMillisecond);

void watch_to_trees_textbook(benchmark::State& state) {
  for (auto _ : state) {
    Tree store;
    for (std::size_t at = 0; at < watch_body().size();) {
      const std::size_t end = watch_body().find('\n', at);
      nlohmann::json event = nlohmann::json::parse(std::string_view(watch_body()).substr(at, end - at));
      put(store, std::move(event["object"]));
      at = end + 1;
    }
  }
  report(state, watch_body().size(), 0);
}
BENCHMARK(watch_to_trees_textbook)->Unit(benchmark::kMillisecond);

void find_in_store(benchmark::State& state) {
  ek::ObjectStore store;
  read_list(list_body(), piece_size, store, pods);
  std::vector<ek::ObjectKey> keys;
  for (const ek::WireObject& object : store.snapshot()) keys.push_back(object.key());
  std::size_t at = 0;
  for (auto _ : state) {
    at = (at + 997) % keys.size();
    benchmark::DoNotOptimize(store.find(keys[at].namespace_, keys[at].name));
  }
}
BENCHMARK(find_in_store);

}  // namespace
