// SPDX-License-Identifier: Apache-2.0
// Caches that resume from copies on disk, against the embedded API server, in virtual time.
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/client/client.hpp>

#include "../support/await.hpp"
#include "../support/temporary_directory.hpp"

namespace evenkeel {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using tests::await;
using tests::TemporaryDirectory;

/// Keeps messages of a log with their reason or error.
class KeptLog final : public LogSink {
 public:
  bool enabled(LogLevel) const noexcept override { return true; }
  void write(LogLevel, std::string_view message, LogFields, LogFields fields) noexcept override {
    std::string line(message);
    for (const LogField& field : fields) {
      if (field.key != "reason" && field.key != "error") continue;
      if (const auto* text = std::get_if<std::string_view>(&field.value.get()))
        line.append(": ").append(*text);
    }
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

const std::string collection = "/api/v1/namespaces/default/configmaps/";

class DiskCopy : public ::testing::Test {
 protected:
  void serve(std::size_t history = 1000, std::uint64_t seed = 1) {
    apiserver::SharedCoreOptions options;
    options.core.seed = seed;
    options.core.history = history;
    options.clock = clock;
    options.on_request = [this](const apiserver::ServedRequest& request) {
      requests.push_back(request.target.substr(request.target.find('?') + 1));
    };
    server = std::make_shared<apiserver::SharedCore>(options);
    transport = std::make_shared<apiserver::InProcessTransport>(
        server, apiserver::InProcessTransportOptions{.pumped = true});
  }
  static std::string json_of(const std::string& name, const std::string& value) {
    return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")" + name +
           R"("},"data":{"v":")" + value + "\"}}";
  }
  void install(const std::string& name) const { server->install(json_of(name, "1")); }
  void change(const std::string& name, const std::string& value) const {
    http::Request request{.method = http::Method::put, .target = collection + name};
    request.headers.add("Content-Type", "application/json");
    request.body = json_of(name, value);
    ASSERT_EQ(server->handle(request).status, 200);
  }
  void remove(const std::string& name) const {
    ASSERT_EQ(server->handle({.method = http::Method::delete_, .target = collection + name}).status, 200);
  }

  /// One life of the program.
  struct Program {
    Program(DiskCopy& test, DiskCopyOptions disk)
        : transport(test.transport),
          clock(test.clock),
          cache(Client(Config{.server = "http://in-process"}, {.transport = transport, .clock = clock}),
                {.threads = 0, .disk = std::move(disk), .clock = clock, .log = Log(test.log)}) {}
    ~Program() {
      cache.stop();
      pump();
    }
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    void pump() {
      while (transport->pump() + cache.pump() != 0) continue;
    }
    void run_until_synced(const Informer& informer) {
      cache.start();
      for (pump(); !informer.synced(); pump()) clock->advance(cache.next_due().value() - clock->now());
    }
    std::map<std::string, std::string> values() {
      std::map<std::string, std::string> found;
      for (const auto& map : cache.list<ConfigMap>()) found[map->metadata.name] = map->data.at("v");
      return found;
    }

    std::shared_ptr<apiserver::InProcessTransport> transport;
    std::shared_ptr<ManualClock> clock;
    Cache cache;
  };
  std::unique_ptr<Program> program(DiskCopyOptions disk) {
    return std::make_unique<Program>(*this, std::move(disk));
  }
  std::unique_ptr<Program> program() { return program({.directory = directory.path.string()}); }
  /// Runs the program until it is synced; returns what it holds.
  std::map<std::string, std::string> one_life() {
    requests.clear();
    log->lines.clear();
    const auto one = program();
    one->run_until_synced(one->cache.informer<ConfigMap>());
    return one->values();
  }

  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  std::shared_ptr<KeptLog> log = std::make_shared<KeptLog>();
  std::vector<std::string> requests;  // queries
  std::shared_ptr<apiserver::SharedCore> server;
  std::shared_ptr<apiserver::InProcessTransport> transport;
  TemporaryDirectory directory;
};

TEST_F(DiskCopy, ARestartReadsWhatHasChanged) {
  serve();
  for (int i = 0; i < 100; ++i) install("map-" + std::to_string(i));
  EXPECT_THAT(one_life(), SizeIs(100));
  EXPECT_THAT(requests, ElementsAre(HasSubstr("sendInitialEvents=true")));
  change("map-7", "2");
  install("late");
  remove("map-8");
  const auto values = one_life();
  EXPECT_THAT(values, SizeIs(100));
  EXPECT_EQ(values.at("map-7"), "2");
  EXPECT_EQ(values.at("late"), "1");
  EXPECT_FALSE(values.contains("map-8"));
  EXPECT_THAT(requests, ElementsAre(HasSubstr("limit=5"), Not(HasSubstr("sendInitialEvents"))));
}

TEST_F(DiskCopy, CompressedObjectsAreCopiedAndComeBackCompressed) {
  serve();
  for (int i = 0; i < 300; ++i) install("map-" + std::to_string(i));
  for (int life = 0; life < 2; ++life) {
    const auto one = program();
    Informer& informer = one->cache.informer<ConfigMap>({.form = WireForm::compressed});
    one->run_until_synced(informer);
    EXPECT_THAT(one->values(), SizeIs(300));
    EXPECT_EQ(informer.health().counters.restores, life == 0 ? 0U : 1U);
    for (const WireObject& object : informer.store().snapshot())
      EXPECT_EQ(object.form(), WireForm::compressed);
  }
}

TEST_F(DiskCopy, HandlersSeeEachObjectOnce) {
  serve();
  install("a");
  install("b");
  one_life();
  change("b", "2");
  struct Seen final : EventHandler {
    void on_event(const ObjectEvent& event) noexcept override {
      lines.push_back(std::string(event.object->name()) + (event.initial ? " initial" : ""));
    }
    void on_synced() noexcept override { lines.emplace_back("synced"); }
    std::vector<std::string> lines;
  };
  const auto seen = std::make_shared<Seen>();
  const auto next = program();
  Informer& informer = next->cache.informer<ConfigMap>();
  informer.add_handler(seen);
  next->run_until_synced(informer);
  EXPECT_THAT(seen->lines, ElementsAre("a initial", "b initial", "synced"));
}

TEST_F(DiskCopy, AServerThatHasForgottenTheVersionIsListed) {
  serve(10);
  for (int i = 0; i < 5; ++i) install("map-" + std::to_string(i));
  one_life();
  for (int i = 0; i < 20; ++i) change("map-0", std::to_string(i));
  EXPECT_EQ(one_life().at("map-0"), "19");
  EXPECT_THAT(requests, SizeIs(3));
  EXPECT_THAT(log->lines, Contains("a copy on disk is not used; listing the objects: the server does not "
                                   "have its version any more"));
}

TEST_F(DiskCopy, AnotherServerAtTheSameAddressIsListed) {
  serve();
  for (int i = 0; i < 5; ++i) install("map-" + std::to_string(i));
  one_life();
  serve(1000, 2);
  install("map-0");
  for (int i = 0; i < 50; ++i) change("map-0", std::to_string(i));
  EXPECT_THAT(one_life(), SizeIs(1)) << "of the new server alone";
  EXPECT_THAT(log->lines, Contains("a copy on disk is not used; listing the objects: the server does not "
                                   "have its objects"));
}

TEST_F(DiskCopy, ADamagedFileIsNamedAndIgnored) {
  serve();
  install("a");
  one_life();
  ASSERT_THAT(directory.files(), SizeIs(1));
  const fs::path file = directory.files().front();
  fs::resize_file(file, fs::file_size(file) / 2);
  EXPECT_THAT(one_life(), SizeIs(1));
  EXPECT_THAT(log->lines, Contains(AllOf(HasSubstr("a copy on disk is ignored"), HasSubstr(file.string()),
                                         HasSubstr("damaged"))));
  one_life();
  EXPECT_THAT(requests, Contains(HasSubstr("limit=5"))) << "a good copy has replaced it";
}

TEST_F(DiskCopy, SecretsAndMetadataAreNotCopied) {
  serve();
  server->install(R"({"apiVersion":"v1","kind":"Secret","metadata":{"namespace":"default","name":"s"}})");
  install("a");
  {
    const auto one = program();
    one->cache.informer<Secret>();
    Informer& informer = one->cache.informer<ConfigMap>({.form = WireForm::metadata_only});
    one->run_until_synced(informer);
  }
  EXPECT_THAT(directory.files(), IsEmpty());
}

TEST_F(DiskCopy, ACacheThatNeverSyncedLeavesTheCopyAlone) {
  serve();
  install("a");
  one_life();
  server->inject({.resource = "configmaps", .status = 503});
  {
    const auto one = program();
    one->cache.informer<ConfigMap>();
    one->cache.start();
    one->pump();
  }
  EXPECT_THAT(directory.files(), SizeIs(1));
  server->clear_faults();
  EXPECT_THAT(one_life(), SizeIs(1));
  EXPECT_THAT(requests, Contains(HasSubstr("limit=5")));
}

TEST_F(DiskCopy, WhatDoesNotFitIsLoggedOnceAndNotWritten) {
  serve();
  for (int i = 0; i < 100; ++i) install("map-" + std::to_string(i));
  {
    const auto one = program({.directory = directory.path.string(), .max_bytes = 100});
    one->run_until_synced(one->cache.informer<ConfigMap>());
  }
  EXPECT_THAT(directory.files(), IsEmpty());
  EXPECT_THAT(log->lines,
              Contains("a copy does not fit on disk beside the others; the next start lists the objects"));
}

TEST_F(DiskCopy, CopiesOfCollectionsThatAreGoneMakeRoom) {
  serve();
  for (int i = 0; i < 100; ++i) install("map-" + std::to_string(i));
  std::ofstream(directory.path / "old-0000.evenkeel-cache") << std::string(5000, 'x');
  std::ofstream(directory.path / "mine.txt") << std::string(5000, 'x');
  {
    const auto one = program({.directory = directory.path.string(), .max_bytes = 6000});
    one->run_until_synced(one->cache.informer<ConfigMap>());
  }
  EXPECT_FALSE(fs::exists(directory.path / "old-0000.evenkeel-cache"));
  EXPECT_TRUE(fs::exists(directory.path / "mine.txt"));
  EXPECT_THAT(directory.files(), SizeIs(2));
}

TEST_F(DiskCopy, ADirectoryThatCannotBeMadeCostsNothing) {
  serve();
  install("a");
  std::ofstream(directory.path / "file") << "x";
  {
    const auto one = program({.directory = (directory.path / "file" / "copies").string()});
    one->run_until_synced(one->cache.informer<ConfigMap>());
    EXPECT_THAT(one->values(), SizeIs(1));
  }
  EXPECT_THAT(log->lines, Contains(HasSubstr("cannot write a copy of the cache to disk")));
}

TEST_F(DiskCopy, AFileThatCannotBeWrittenCostsNoOther) {
  serve();
  install("a");
  one_life();
  ASSERT_THAT(directory.files(), SizeIs(1));
  const fs::path blocked = directory.files().front().string() + ".new";
  fs::create_directories(blocked / "in the way");
  install("b");
  {
    const auto one = program();
    Informer& maps = one->cache.informer<ConfigMap>();
    Informer& namespaces = one->cache.informer<Namespace>();
    one->run_until_synced(maps);
    one->run_until_synced(namespaces);
  }
  EXPECT_THAT(log->lines, Contains(AllOf(HasSubstr("cannot write a copy"), HasSubstr(blocked.string()))));
  EXPECT_THAT(directory.files(), SizeIs(3)) << "the old copy, what is in the way, and that of namespaces";
}

TEST_F(DiskCopy, ADirectoryIsMadeForItsOwnerAlone) {
  serve();
  install("a");
  const fs::path made = directory.path / "deep" / "copies";
  {
    const auto one = program({.directory = made.string()});
    one->run_until_synced(one->cache.informer<ConfigMap>());
  }
  EXPECT_EQ(fs::status(made).permissions(), fs::perms::owner_all);
}

// With threads: at intervals, while the program runs.
TEST(DiskCopyConcurrency, ChangesAreCopiedAtIntervals) {
  const auto clock = std::make_shared<ManualClock>();
  const auto server = std::make_shared<apiserver::SharedCore>();
  const TemporaryDirectory directory;
  const Client client(Config{.server = "http://in-process"},
                      {.transport = std::make_shared<apiserver::InProcessTransport>(server)});
  Cache cache(client, {.disk = {.directory = directory.path.string(), .period = 5min}, .clock = clock});
  Informer& informer = cache.informer<ConfigMap>();
  const auto create = [&](const std::string& name) {
    client.create(ConfigMap{.metadata = {.name = name, .namespace_ = "default"}});
    await("the watch", [&] { return static_cast<bool>(informer.store().stored("default", name)); });
  };
  cache.start();
  ASSERT_TRUE(cache.wait_for_sync({}));
  create("a");
  clock->advance(4min);
  EXPECT_THAT(directory.files(), IsEmpty());
  clock->advance(1min);
  await("a copy", [&] { return directory.files().size() == 1; });
}

}  // namespace
}  // namespace evenkeel
