// SPDX-License-Identifier: Apache-2.0
// From the bytes of a list or a watch to objects that can be looked up: the cache compared with the textbook
// way, which parses each document to a tree and keeps it. The counters are bytes kept per object.
#include <cstdint>
#include <filesystem>
#include <malloc.h>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <evenkeel/api/kinds/pods.hpp>
#include <evenkeel/cache/detail/decoded_objects.hpp>
#include <evenkeel/cache/object_store.hpp>
#include <evenkeel/cache/wire_object.hpp>
#include <evenkeel/client/frame_splitter.hpp>
#include <evenkeel/client/list_splitter.hpp>

#include "../support/pod_fields.hpp"
#include "../support/pods.hpp"
#include "cache/collection_file.hpp"
#include "cache/object_packer.hpp"

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
  const ek::benchmarks::PodPlace place{.namespace_ = "ns-" + std::to_string(number % 20),
                                       .owner = "web-7c6d5b4f9d",
                                       .owner_uid = "5f2e6e0c-51a0-4a3e-9d6f-000000000000"};
  return R"({"metadata":{)" + ek::benchmarks::pod_metadata(number, place) +
         R"(,"uid":"0b0e6e0c-51a0-4a3e-9d6f-0000)" + id + R"(00","resourceVersion":")" + id +
         R"(","creationTimestamp":"2026-01-01T00:00:00Z",)"
         R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1",)"
         R"("time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":)" +
         fields_tree(3, random) + R"(}]},"spec":)" + ek::benchmarks::pod_spec(random) + R"(,"status":)" +
         ek::benchmarks::pod_status(random) + "}";
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

using ek::benchmarks::PodFields;

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

void read_compressed(ek::ObjectStore& store) {
  ek::ListSplitter splitter;
  ek::WireScanner scanner(pods);
  ek::detail::ObjectPacker packer;
  std::vector<ek::WireObject> objects;
  for (std::size_t at = 0; at < list_body().size(); at += piece_size) {
    splitter.feed(std::string_view(list_body()).substr(at, piece_size));
    while (const auto item = splitter.next()) objects.push_back(packer.pack(scanner.object(*item)));
  }
  packer.pack_all(objects);
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

/// Keeps ten fields of each pod, and its metadata.
void list_to_store_projected(benchmark::State& state) {
  ek::WireScannerOptions options = pods;
  options.form = ek::WireForm::projected;
  options.projection = ek::Projection::of<PodFields>();
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
BENCHMARK(list_to_store_projected)->Unit(benchmark::kMillisecond);

/// Keeps compressed objects, on the way that an informer takes.
void list_to_store_compressed(benchmark::State& state) {
  std::size_t kept = 0;
  list_body();
  for (auto _ : state) {
    const std::size_t before = heap();
    ek::ObjectStore store;
    read_compressed(store);
    state.PauseTiming();
    kept = heap() - before;
    state.ResumeTiming();
  }
  report(state, list_body().size(), kept);
}
BENCHMARK(list_to_store_compressed)->Unit(benchmark::kMillisecond);

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

// The typed read of one pod after it was found: decoded again, or remembered from the last read.
void decode_pod(benchmark::State& state) {
  ek::detail::DecodedObjects decoded(static_cast<std::size_t>(state.range(0)));
  const ek::WireObject wire = ek::WireScanner(pods).object(pod(1));
  for (auto _ : state) benchmark::DoNotOptimize(decoded.decode<ek::Pod>(wire));
}
BENCHMARK(decode_pod)->ArgName("remembered_bytes")->Arg(0)->Arg(1 << 20);

// Typed read of ten fields of a pod of which no more is kept.
void decode_projected_pod(benchmark::State& state) {
  ek::detail::DecodedObjects decoded(static_cast<std::size_t>(state.range(0)));
  ek::WireScannerOptions options = pods;
  options.form = ek::WireForm::projected;
  options.projection = ek::Projection::of<PodFields>();
  const ek::WireObject wire = ek::WireScanner(options).object(pod(1));
  for (auto _ : state) benchmark::DoNotOptimize(decoded.decode<PodFields>(wire));
}
BENCHMARK(decode_projected_pod)->ArgName("remembered_bytes")->Arg(0)->Arg(1 << 20);

// Typed read of a pod that is kept compressed.
void decode_compressed_pod(benchmark::State& state) {
  ek::detail::DecodedObjects decoded(static_cast<std::size_t>(state.range(0)));
  ek::ObjectStore store;
  read_compressed(store);
  const ek::WireObject wire = *store.snapshot().begin();
  for (auto _ : state) benchmark::DoNotOptimize(decoded.decode<ek::Pod>(wire));
}
BENCHMARK(decode_compressed_pod)->ArgName("remembered_bytes")->Arg(0)->Arg(1 << 20);

/// A directory with the copy of a store.
struct DiskCopy {
  DiskCopy() {
    read_list(list_body(), piece_size, store, pods);
    std::filesystem::create_directories(directory);
  }
  ~DiskCopy() { std::filesystem::remove_all(directory); }
  DiskCopy(const DiskCopy&) = delete;
  DiskCopy& operator=(const DiskCopy&) = delete;
  void write() const { file.write("999999", store.snapshot(), 1u << 30); }

  const std::filesystem::path directory = std::filesystem::temp_directory_path() /
                                          ("evenkeel-benchmark-" + std::to_string(std::random_device()()));
  ek::ObjectStore store;
  const ek::detail::CollectionFile file{
      directory, {.server = "https://bench", .resource = ek::ResourceId(ek::Pod::resource)}};
};

// From a store to a file; the counter is its size for each object.
void copy_to_disk(benchmark::State& state) {
  const DiskCopy copy;
  for (auto _ : state) copy.write();
  report(state, list_body().size(), std::filesystem::file_size(copy.file.path()));
}
BENCHMARK(copy_to_disk)->Unit(benchmark::kMillisecond);

// From a file that the system has in memory to a store. Compare with list_to_store, which gets the list's
// bytes for nothing.
void copy_from_disk(benchmark::State& state) {
  const DiskCopy copy;
  copy.write();
  for (auto _ : state) {
    ek::ObjectStore store;
    store.replace(copy.file.read({.max_bytes = 1u << 30})->objects);
    benchmark::DoNotOptimize(store.size());
  }
  report(state, list_body().size(), 0);
}
BENCHMARK(copy_from_disk)->Unit(benchmark::kMillisecond);

/// 100,000 objects of 1,000 values, spread over 20 namespaces.
std::vector<ek::WireObject> indexed_objects() {
  ek::WireScanner scanner;
  std::vector<ek::WireObject> objects;
  for (int i = 0; i < 100'000; ++i) {
    objects.push_back(scanner.object(R"({"metadata":{"name":"site-)" + std::to_string(i) +
                                     R"(","namespace":"ns-)" + std::to_string(i % 20) +
                                     R"(","resourceVersion":"1","labels":{"secret":"s)" +
                                     std::to_string(i / 100) + R"("}},"spec":{}})"));
  }
  return objects;
}

/// Lists the 100 objects of one value. Argument: 0 without an index, 1 with one.
void list_100_by_index(benchmark::State& state) {
  ek::ObjectStore store;
  store.replace(indexed_objects());
  if (state.range(0) == 1) store.add_index(ek::index_by<ek::WireObject>("secret", ek::label_index("secret")));
  int at = 0;
  for (auto _ : state) {
    at = (at + 397) % 1000;
    const std::string value = "s" + std::to_string(at);
    const auto found =
        state.range(0) == 1
            ? store.by_index("secret", value)
            : store.list({}, [&value](const ek::WireObject& one) { return one.label("secret") == value; });
    if (found.size() != 100) state.SkipWithError("the index is wrong");
    benchmark::DoNotOptimize(found.data());
  }
}
BENCHMARK(list_100_by_index)->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

/// Stores new states of 100,000 objects. Argument: the number of indexes beside that of owners.
void apply_with_indexes(benchmark::State& state) {
  ek::ObjectStore store;
  const auto objects = indexed_objects();
  store.replace(objects);
  for (int i = 0; i < state.range(0); ++i)
    store.add_index(ek::index_by<ek::WireObject>("secret" + std::to_string(i), ek::label_index("secret")));
  ek::WireScanner scanner;
  std::size_t at = 0;
  std::uint64_t version = 1;
  for (auto _ : state) {
    state.PauseTiming();
    at = (at + 997) % objects.size();
    std::string text(objects[at].raw());
    const std::string before = R"("resourceVersion":"1")";
    text.replace(text.find(before), before.size(),
                 R"("resourceVersion":")" + std::to_string(++version) + '"');
    const ek::WireObject object = scanner.object(text);
    state.ResumeTiming();
    benchmark::DoNotOptimize(store.apply(object));
  }
}
BENCHMARK(apply_with_indexes)->Arg(0)->Arg(1)->Arg(4)->Unit(benchmark::kNanosecond);

}  // namespace
