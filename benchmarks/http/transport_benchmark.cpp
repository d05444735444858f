// SPDX-License-Identifier: Apache-2.0
// CPU time of a patch beside silent watches, of this process, which is client and server: the embedded API
// server over TLS. The watches are streams of the transport whose calls are measured.
#include <memory>
#include <stop_token>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <benchmark/benchmark.h>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/client.hpp>

namespace {

namespace ek = evenkeel;

void allow_all_file_descriptors() {
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/// A watch that waits for its headers and then for nothing.
class SilentWatch final : public ek::http::StreamHandler {
 public:
  void on_response(int, const ek::http::Headers&) override {
    const ek::MutexLock lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }
  void on_data(std::string_view) override {}
  void on_end(std::exception_ptr) override {}
  void wait_until_open() {
    ek::MutexLock lock(mutex_);
    while (!open_) opened_.wait(lock);
  }

 private:
  ek::Mutex mutex_;
  ek::CondVar opened_;
  bool open_ = false;
};

/// A server, a client and its watches of another namespace.
class World {
 public:
  explicit World(std::size_t watches) {
    client_.create(ek::ConfigMap{.metadata = {.name = "one", .namespace_ = "default"}});
    for (std::size_t i = 0; i < watches; ++i) {
      handlers_.push_back(std::make_shared<SilentWatch>());
      calls_.push_back(client_.stream(
          {.resource = ek::ConfigMap::resource, .namespace_ = "kube-system", .query = {{"watch", "true"}}},
          handlers_.back()));
    }
    for (const auto& handler : handlers_) handler->wait_until_open();
  }
  ~World() {
    for (const auto& call : calls_) call->cancel();
  }
  void patch(int value) {
    client_.patch<ek::ConfigMap>(
        {"default", "one"},
        ek::Patch::merge(ek::Json::parse(R"({"data":{"value":")" + std::to_string(value) + R"("}})")));
  }

 private:
  const ek::apiserver::ApiServer server_{{.tls = true}};
  const ek::Client client_{server_.config()};
  std::vector<std::shared_ptr<SilentWatch>> handlers_;
  std::vector<std::shared_ptr<ek::http::Call>> calls_;
};

void patch_beside_silent_watches(benchmark::State& state) {
  allow_all_file_descriptors();
  World world(static_cast<std::size_t>(state.range(0)));
  int value = 0;
  for (auto turn : state) world.patch(++value);
}
BENCHMARK(patch_beside_silent_watches)
    ->ArgName("watches")
    ->Arg(0)
    ->Arg(20)
    ->Arg(100)
    ->Arg(200)
    ->Arg(500)
    ->Arg(1000)
    ->MeasureProcessCPUTime()
    ->UseRealTime()
    ->Unit(benchmark::kMicrosecond);

}  // namespace
