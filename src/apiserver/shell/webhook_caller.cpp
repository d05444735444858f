// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/http/curl_transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

// Returns the place of the path in a URL: the end if there is none.
std::size_t path_start(std::string_view url) {
  const std::size_t scheme = url.find("://");
  const std::size_t host = scheme == std::string_view::npos ? 0 : scheme + 3;
  return std::min(url.find('/', host), url.size());
}

// Returns the words of a real server for an error of a transport.
std::string failure_text(const WebhookCall& call, const std::exception_ptr& error) {
  const std::string start = "Post " + Json(call.url).dump() + ": ";
  try {
    std::rethrow_exception(error);
  } catch (const TransportError& problem) {
    if (problem.code() == TransportErrorCode::timeout) return start + "context deadline exceeded";
    if (problem.code() == TransportErrorCode::tls)
      return start + "tls: failed to verify certificate: " + problem.what();
    return start + problem.what();
  } catch (const std::exception& problem) {
    return start + problem.what();
  }
}

class HttpWebhookCaller final : public WebhookCaller {
 public:
  explicit HttpWebhookCaller(ServiceResolver resolve) : resolve_(std::move(resolve)) {}

  void call(const WebhookCall& call, std::function<void(WebhookAnswer)> done) override {
    http::Request request{
        .method = http::Method::post,
        .headers = {{"Content-Type", "application/json"}, {"Accept", "application/json, */*"}},
        .body = call.body};
    const std::size_t path = path_start(call.url);
    request.target = call.url.substr(path);
    request.deadline = real_clock()->now() + call.timeout;
    try {
      const std::shared_ptr<http::Transport> transport = transport_of(call, call.url.substr(0, path));
      transport->send(std::move(request), [call, done](Outcome<http::Response> outcome) {
        if (!outcome.ok()) return done({.error = failure_text(call, outcome.error())});
        http::Response response = std::move(outcome).value();
        const std::string* type = response.headers.find("Content-Type");
        done({.status = response.status,
              .body = std::move(response.body),
              .content_type = type != nullptr ? *type : std::string()});
      });
    } catch (const std::exception&) {
      done({.error = failure_text(call, std::current_exception())});
    }
  }

 private:
  // Returns the transport to the server of a call. Throws Error if there is no such service.
  std::shared_ptr<http::Transport> transport_of(const WebhookCall& call, std::string server) {
    http::CurlTransportOptions options{.server = std::move(server), .proxy = ""};
    options.user_agent = "kube-apiserver-admission";
    options.tls.ca_data = call.ca_bundle;
    if (!call.service_name.empty()) {
      const std::string address = resolve_ ? resolve_(call) : std::string();
      if (address.empty()) throw Error("service " + Json(call.service_name).dump() + " not found");
      options.server = "https://" + address;
      options.tls.server_name = call.service_name + "." + call.service_namespace + ".svc";
    }
    MutexLock lock(mutex_);
    std::shared_ptr<http::Transport>& known =
        transports_[options.server + "\n" + options.tls.server_name + "\n" + options.tls.ca_data];
    if (!known) known = http::make_curl_transport(std::move(options));
    return known;
  }

  const ServiceResolver resolve_;
  Mutex mutex_;
  // By server, name and authorities.
  std::map<std::string, std::shared_ptr<http::Transport>> transports_ EVENKEEL_GUARDED_BY(mutex_);
};

class FunctionWebhookCaller final : public WebhookCaller {
 public:
  using Functions = std::map<std::string, WebhookFunction, std::less<>>;

  FunctionWebhookCaller(Functions functions, FunctionWebhookOptions options)
      : functions_(std::move(functions)), otherwise_(std::move(options.otherwise)) {
    if (options.threads > 0) pool_.emplace(options.threads);
  }
  ~FunctionWebhookCaller() override {
    if (!pool_) return;
    pool_->stop();
    pool_->join();
  }

  void call(const WebhookCall& call, std::function<void(WebhookAnswer)> done) override {
    const auto found = functions_.find(std::string_view(call.url).substr(0, call.url.find('?')));
    if (found == functions_.end()) {
      if (otherwise_) return otherwise_->call(call, std::move(done));
      return done({.error = "Post " + Json(call.url).dump() + ": no function is registered for this URL"});
    }
    if (!pool_) return done(answer(call, found->second));
    boost::asio::post(
        *pool_, [call, &function = found->second, done = std::move(done)] { done(answer(call, function)); });
  }

 private:
  static WebhookAnswer answer(const WebhookCall& call, const WebhookFunction& function) {
    try {
      return {.status = 200, .body = function(call.body)};
    } catch (...) {
      return {.error = failure_text(call, std::current_exception())};
    }
  }

  const Functions functions_;
  const std::shared_ptr<WebhookCaller> otherwise_;
  std::optional<boost::asio::thread_pool> pool_ = {};
};

}  // namespace

std::shared_ptr<WebhookCaller> make_http_webhook_caller(ServiceResolver resolve) {
  return std::make_shared<HttpWebhookCaller>(std::move(resolve));
}

std::shared_ptr<WebhookCaller> make_function_webhook_caller(
    std::map<std::string, WebhookFunction, std::less<>> functions, FunctionWebhookOptions options) {
  return std::make_shared<FunctionWebhookCaller>(std::move(functions), std::move(options));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
