// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/testing/shared_core.hpp>

#include "testing/core_host.hpp"
#include "testing/yaml_document.hpp"

namespace evenkeel::inline v0::testing {
namespace {

class CoreBackend final : public detail::Backend {
 public:
  explicit CoreBackend(ApiServerCoreOptions options) : core_(std::move(options)) {}

  Answer handle(const http::Request& request, WallTime now, const Caller& caller) override {
    return core_.handle(request, now, caller);
  }
  WatchOutput read_watch(WatchId id) override { return core_.read_watch(id); }
  std::vector<WatchId> ready_watches() override { return core_.ready_watches(); }
  void close_watch(WatchId id) override { core_.close_watch(id); }
  void tick(WallTime now) override { core_.tick(now); }
  std::optional<WallTime> next_tick() const override { return core_.next_tick(); }

  ApiServerCore& core() { return core_; }

 private:
  ApiServerCore core_;
};

// The documents of a YAML stream: a line that starts with "---" parts two of them, wherever it stands.
std::vector<std::string_view> documents(std::string_view stream) {
  std::vector<std::string_view> found;
  std::size_t start = 0;
  for (std::size_t line = 0; line < stream.size();) {
    const std::size_t next = std::min(stream.find('\n', line), stream.size() - 1) + 1;
    const std::string_view mark = stream.substr(line, next - line);
    if (mark.starts_with("---") && mark.find_first_not_of(" \t\r\n", 3) == std::string_view::npos) {
      found.push_back(stream.substr(start, line - start));
      start = next;
    }
    line = next;
  }
  found.push_back(stream.substr(start));
  return found;
}

http::Response asked(SharedCore& core, http::Method method, std::string target, std::string body = {}) {
  return core.handle({.method = method,
                      .target = std::move(target),
                      .headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}},
                      .body = std::move(body)});
}

// Where the objects of a kind are kept, as discovery tells.
std::string collection_of(SharedCore& core, const Json& object, const std::string& name) {
  const std::string version = object["apiVersion"].string_or("");
  const std::string root = (version.find('/') == std::string::npos ? "/api/" : "/apis/") + version;
  const http::Response found = asked(core, http::Method::get, root);
  if (found.status == 200) {
    const Json resources = Json::parse(found.body);
    for (std::size_t at = 0; at < resources["resources"].size(); ++at) {
      const Json& resource = resources["resources"][at];
      const std::string plural = resource["name"].string_or("");
      if (resource["kind"] != object["kind"] || plural.find('/') != std::string::npos) continue;
      if (!resource["namespaced"].bool_or(false)) return root + "/" + plural;
      return root + "/namespaces/" + object.at({"metadata", "namespace"}).string_or("default") + "/" + plural;
    }
  }
  throw Error(name + ": the server knows no kind " + object["kind"].string_or("\"\"") + " in \"" + version +
              "\"");
}

void install_object(SharedCore& core, const Json& object) {
  const std::string name =
      object["kind"].string_or("object") + "/" + object.at({"metadata", "name"}).string_or("");
  const http::Response answer =
      asked(core, http::Method::post, collection_of(core, object, name), object.dump());
  const Json body = Json::parse(answer.body, name);
  if (answer.status / 100 == 2 || body["reason"].string_or("") == "AlreadyExists") return;
  throw Error(name + ": " + body["message"].string_or("HTTP " + std::to_string(answer.status)));
}

}  // namespace

SharedCore::SharedCore(SharedCoreOptions options) {
  auto backend = std::make_unique<CoreBackend>(options.core);
  host_ = std::make_shared<detail::CoreHost>(std::move(backend), std::move(options));
}

SharedCore::~SharedCore() = default;

http::Response SharedCore::handle(const http::Request& request) {
  Answer answer;
  host_->with([&](detail::Backend& backend) {
    answer = backend.handle(request, host_->clock().wall_now(), {});
    if (answer.watch) backend.close_watch(*answer.watch);
  });
  return std::move(answer.response);
}

void SharedCore::install(std::string_view manifest) {
  for (const std::string_view text : documents(manifest)) {
    const Json document = parse_yaml(text);
    if (document.is_null()) continue;
    if (!document["kind"].string_or("").ends_with("List")) {
      install_object(*this, document);
      continue;
    }
    for (std::size_t at = 0; at < document["items"].size(); ++at)
      install_object(*this, document["items"][at]);
  }
}

FaultId SharedCore::inject(FaultRule rule) {
  return host_->inject(std::move(rule));
}
void SharedCore::remove_fault(FaultId id) {
  host_->remove_fault(id);
}
void SharedCore::clear_faults() {
  host_->clear_faults();
}
FaultCounts SharedCore::fault_counts(FaultId id) const {
  return host_->fault_counts(id);
}
std::size_t SharedCore::cut_watches() {
  return host_->cut_watches();
}

void SharedCore::with(const std::function<void(ApiServerCore&)>& action) {
  // Made here, so it is one.
  host_->with([&](detail::Backend& backend) { action(static_cast<CoreBackend&>(backend).core()); });
}

}  // namespace evenkeel::inline v0::testing
