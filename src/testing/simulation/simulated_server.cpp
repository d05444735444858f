// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_server.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// A watch from inside.
class SimulatedServer::Observer final : public http::StreamHandler {
 public:
  Observer(SimulatedServer& server, std::string resource, std::string collection)
      : server_(server), resource_(std::move(resource)), collection_(std::move(collection)) {}

  void on_response(int, const http::Headers&) override {}
  void on_data(std::string_view piece) override {
    text_ += piece;
    std::size_t begin = 0;
    for (std::size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', begin)) {
      take(std::string_view(text_).substr(begin, end - begin));
      begin = end + 1;
    }
    text_.erase(0, begin);
  }
  void on_end(std::exception_ptr) override {
    if (!server_.ending_) server_.watch(resource_, collection_);
  }

 private:
  void take(std::string_view line) {
    Json event = Json::parse(line);
    const std::string type = event["type"].string_or("");
    if (type == "ADDED" || type == "MODIFIED" || type == "DELETED")
      server_.on_change_(resource_, type, std::move(event["object"]));
  }

  SimulatedServer& server_;
  const std::string resource_;
  const std::string collection_;
  std::string text_;
};

SimulatedServer::SimulatedServer(Schedule& schedule, const apiserver::SharedCoreOptions& options,
                                 OnChange on_change)
    : schedule_(schedule),
      on_change_(std::move(on_change)),
      core_(std::make_shared<apiserver::SharedCore>(options)),
      streams_(std::make_shared<apiserver::InProcessTransport>(
          core_, apiserver::InProcessTransportOptions{.pumped = true})),
      clock_(options.clock) {}

SimulatedServer::~SimulatedServer() {
  ending_ = true;
}

void SimulatedServer::observe(const std::string& resource, const std::string& collection) {
  if (observed_.insert(resource).second) watch(resource, collection);
  pump();
}

void SimulatedServer::watch(const std::string& resource, const std::string& collection) {
  streams_->stream({.method = http::Method::get,
                    .target = collection + "?watch=true",
                    .headers = {{"Accept", "application/json"}}},
                   std::make_shared<Observer>(*this, resource, collection));
}

http::Response SimulatedServer::handle(const http::Request& request) {
  http::Response response = core_->handle(request);
  pump();
  return response;
}

std::shared_ptr<http::Call> SimulatedServer::stream(http::Request request,
                                                    std::shared_ptr<http::StreamHandler> handler) {
  auto call = streams_->stream(std::move(request), std::move(handler));
  pump();
  return call;
}

void SimulatedServer::pump() {
  streams_->pump();
  plan_timer();
}

void SimulatedServer::plan_timer() {
  const std::optional<TimePoint> due = streams_->next_due();
  if (!due) return;
  // Work that is due now has been done, so that this is later; the wall clock counts microseconds.
  const Duration when =
      schedule_.now() + std::max(*due - clock_->now(), Duration(std::chrono::microseconds{1}));
  if (timer_at_ <= when && timer_at_ > schedule_.now()) return;
  timer_at_ = when;
  schedule_.at(when, [this, weak = std::weak_ptr<bool>(alive_), when] {
    if (weak.expired() || timer_at_ != when) return;
    timer_at_ = Duration::max();
    pump();
  });
}

std::string collection_path(std::string_view target) {
  target = target.substr(0, target.find('?'));
  std::vector<std::string_view> parts;
  while (!target.empty()) {
    target.remove_prefix(1);
    const std::size_t end = std::min(target.find('/'), target.size());
    parts.push_back(target.substr(0, end));
    target.remove_prefix(end);
  }
  const std::size_t group = !parts.empty() && parts[0] == "apis" ? 3 : 2;
  std::size_t plural = group;
  if (parts.size() > plural + 2 && parts[plural] == "namespaces") plural += 2;
  if (parts.size() <= plural) return {};
  std::string path;
  for (std::size_t at = 0; at < group; ++at) path.append("/").append(parts[at]);
  return path.append("/").append(parts[plural]);
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
