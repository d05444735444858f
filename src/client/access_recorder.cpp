// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>

#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

bool is_apply(const http::Request& request) {
  const std::string* type = request.headers.find("Content-Type");
  return request.method == http::Method::patch && type != nullptr &&
         type->starts_with("application/apply-patch");
}

// An apply that creates the object needs the right to create as well.
// Source: k8s.io/apiserver/pkg/endpoints/handlers/patch.go, withAuthorization.
void note_creation(AccessRecorder& recorder, std::optional<Access> access, const http::Response& response) {
  constexpr int created = 201;
  if (!access || response.status != created) return;
  access->verb = "create";
  recorder.add(*access);
}

class RecordingTransport final : public http::Transport {
 public:
  RecordingTransport(std::shared_ptr<http::Transport> inner, std::shared_ptr<AccessRecorder> recorder)
      : inner_(std::move(inner)), recorder_(std::move(recorder)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    note(request);
    if (!is_apply(request)) return inner_->send(std::move(request), std::move(completion));
    auto noted = [recorder = recorder_, access = access_of(request),
                  completion = std::move(completion)](Outcome<http::Response> outcome) {
      if (outcome.ok()) note_creation(*recorder, access, outcome.value());
      completion(std::move(outcome));
    };
    return inner_->send(std::move(request), std::move(noted));
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    note(request);
    return inner_->stream(std::move(request), std::move(handler));
  }
  http::Response fetch(http::Request request, std::stop_token stop) override {
    note(request);
    const auto access = is_apply(request) ? access_of(request) : std::nullopt;
    http::Response response = inner_->fetch(std::move(request), std::move(stop));
    note_creation(*recorder_, access, response);
    return response;
  }
  // The API server asks for both rights since 1.35.
  // Source: feature AuthorizePodWebsocketUpgradeCreatePermission of kube-apiserver.
  http::WebSocketAnswer open_web_socket(http::Request request, std::vector<std::string> protocols,
                                        std::stop_token stop) override {
    if (auto access = access_of(request)) {
      recorder_->add(*access);
      access->verb = "create";
      recorder_->add(*access);
    }
    return inner_->open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  }

 private:
  void note(const http::Request& request) {
    if (const auto access = access_of(request)) recorder_->add(*access);
  }

  const std::shared_ptr<http::Transport> inner_;
  const std::shared_ptr<AccessRecorder> recorder_;
};

}  // namespace

void AccessRecorder::add(const Access& access) {
  MutexLock lock(mutex_);
  record_.add(access);
}

AccessRecord AccessRecorder::record() const {
  MutexLock lock(mutex_);
  return record_;
}

void AccessRecorder::clear() {
  MutexLock lock(mutex_);
  record_ = {};
}

std::shared_ptr<http::Transport> recording_transport(std::shared_ptr<http::Transport> inner,
                                                     std::shared_ptr<AccessRecorder> recorder) {
  return std::make_shared<RecordingTransport>(std::move(inner), std::move(recorder));
}

}  // namespace v0
}  // namespace evenkeel
