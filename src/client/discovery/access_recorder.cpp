// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

class RecordingTransport final : public http::Transport {
 public:
  RecordingTransport(std::shared_ptr<http::Transport> inner, std::shared_ptr<AccessRecorder> recorder)
      : inner_(std::move(inner)), recorder_(std::move(recorder)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    note(request);
    if (request.method != http::Method::patch) return inner_->send(std::move(request), std::move(completion));
    auto noted = [recorder = recorder_, question = without_body(request),
                  completion = std::move(completion)](Outcome<http::Response> outcome) {
      if (outcome.ok()) recorder->add(question, outcome.value().status);
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
    if (request.method != http::Method::patch) return inner_->fetch(std::move(request), std::move(stop));
    const http::Request question = without_body(request);
    http::Response response = inner_->fetch(std::move(request), std::move(stop));
    recorder_->add(question, response.status);
    return response;
  }
  http::WebSocketAnswer open_web_socket(http::Request request, std::vector<std::string> protocols,
                                        std::stop_token stop) override {
    note_web_socket(request);
    return inner_->open_web_socket(std::move(request), std::move(protocols), std::move(stop));
  }
  std::shared_ptr<http::WebSocketCall> start_web_socket(
      http::Request request, std::vector<std::string> protocols,
      std::shared_ptr<http::WebSocketHandler> handler) override {
    note_web_socket(request);
    return inner_->start_web_socket(std::move(request), std::move(protocols), std::move(handler));
  }

 private:
  static http::Request without_body(const http::Request& request) {
    return {.method = request.method, .target = request.target};
  }
  void note(const http::Request& request) { recorder_->add(request, 0); }
  void note_web_socket(const http::Request& request) {
    constexpr int switching_protocols = 101;
    recorder_->add(request, switching_protocols);  // a server that refuses it asks for both rights, too
  }

  const std::shared_ptr<http::Transport> inner_;
  const std::shared_ptr<AccessRecorder> recorder_;
};

// A name of a request is somebody else's text: "*" means various ones in a record, and no object has a longer
// name than 253 bytes.
bool is_name(const std::string& text) {
  constexpr std::size_t longest = 253;
  return text != "*" && text.size() <= longest;
}

}  // namespace

void AccessRecorder::add(const Access& access) {
  MutexLock lock(mutex_);
  record_.add(access);
}

void AccessRecorder::add(const http::Request& request, int status) {
  for (const Access& access : accesses_of(request, status)) {
    if (is_name(access.group) && is_name(access.resource) && is_name(access.namespace_) &&
        is_name(access.name))
      add(access);
  }
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
