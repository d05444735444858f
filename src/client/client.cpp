// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "client/client_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

class NothingToCancel final : public http::Call {
 public:
  void cancel() noexcept override {}
};

std::string_view propagation_word(Propagation propagation) {
  switch (propagation) {
    case Propagation::background:
      return "Background";
    case Propagation::foreground:
      return "Foreground";
    case Propagation::orphan:
      return "Orphan";
  }
  return "Background";
}

std::string_view validation_word(FieldValidation validation) {
  switch (validation) {
    case FieldValidation::ignore:
      return "Ignore";
    case FieldValidation::warn:
      return "Warn";
    case FieldValidation::strict:
      return "Strict";
  }
  return "Warn";
}

/// Returns the DeleteOptions document, or "" if all options are default.
std::string delete_body(const DeleteOptions& options) {
  Json body = Json::object();
  if (options.propagation) body["propagationPolicy"] = propagation_word(*options.propagation);
  if (options.grace_period_seconds) body["gracePeriodSeconds"] = *options.grace_period_seconds;
  if (!options.uid.empty()) body["preconditions"]["uid"] = options.uid;
  if (!options.resource_version.empty()) body["preconditions"]["resourceVersion"] = options.resource_version;
  if (body.empty()) return {};
  body["apiVersion"] = "v1";
  body["kind"] = "DeleteOptions";
  return body.dump();
}

constexpr const char* json_content = "application/json";

}  // namespace

Client::Client(Config config, ClientOptions options)
    : state_(std::make_shared<detail::ClientState>(std::move(config), std::move(options))) {}

Client::Client(std::shared_ptr<detail::ClientState> state, CallOptions call)
    : state_(std::move(state)), call_(std::move(call)) {}

Client Client::with(CallOptions options) const {
  CallOptions merged = call_;
  const auto take = [](auto& into, auto& from) {
    if (from) into = std::move(from);
  };
  take(merged.stop, options.stop);
  take(merged.timeout, options.timeout);
  take(merged.deadline, options.deadline);
  take(merged.field_owner, options.field_owner);
  take(merged.dry_run, options.dry_run);
  take(merged.field_validation, options.field_validation);
  take(merged.max_retries, options.max_retries);
  take(merged.write_guard, options.write_guard);
  take(merged.writer, options.writer);
  return Client(state_, std::move(merged));
}

const Config& Client::config() const noexcept {
  return state_->config;
}
const std::shared_ptr<const Clock>& Client::clock() const noexcept {
  return state_->clock;
}
const std::shared_ptr<http::Transport>& Client::transport() const noexcept {
  return state_->transport;
}
const Log& Client::log() const noexcept {
  return state_->log;
}
const std::shared_ptr<RequestMeter>& Client::meter() const noexcept {
  return state_->meter;
}
const std::shared_ptr<detail::WriteLog>& Client::writes() const noexcept {
  return state_->writes;
}
ResourceClient Client::resource(ResourceId id) const {
  return ResourceClient(*this, std::move(id));
}

// ---- Untyped calls ----

http::Response Client::raw(const RestRequest& request) const {
  const std::stop_token stop = call_.stop.value_or(std::stop_token());
  detail::CallPlan plan(*state_, request, call_, state_->next_seed());
  for (;;) {
    const detail::TokenWait wait{.stop = stop, .deadline = plan.deadline};
    http::Request wire = state_->prepare(request, plan.target, plan.deadline, wait);
    const http::Headers sent = wire.headers;
    plan.attach_guard(wire);
    Duration delay{};
    std::exception_ptr error;
    int status = 0;
    const std::size_t size = wire.body.size();
    const TimePoint sent_at = state_->clock->now();
    const auto took = [&] { return state_->clock->now() - sent_at; };
    try {
      http::Response response = state_->transport->fetch(std::move(wire), stop);
      status = response.status;
      state_->meter->answered(request.method, status, took(), size, response.body.size());
      state_->note_warnings(response.headers, describe(request));
      if (response.status >= 200 && response.status < 300) {
        state_->writes->on_answer(request, response.body, plan.writer);
        return response;
      }
      if (response.status == 401 && !std::exchange(plan.refreshed, true) &&
          state_->credentials.refresh(sent, wait)) {
        continue;
      }
      error = plan.classify(response, state_->clock->now(), delay);
    } catch (const Error&) {
      if (status == 0) state_->meter->failed(request.method, took());
      error = plan.classify(std::current_exception(), state_->clock->now(), delay);
    }
    if (error) std::rethrow_exception(error);
    state_->meter->retried(request.method, status);
    if (!sleep_until(*state_->clock, deadline_after(state_->clock->now(), delay), stop))
      throw plan.cancelled();
  }
}

std::shared_ptr<http::Call> Client::raw(const RestRequest& request, http::Completion done) const {
  return detail::start_call(state_, detail::CallPlan(*state_, request, call_, state_->next_seed()),
                            call_.stop.value_or(std::stop_token()), std::move(done));
}

std::optional<http::Response> Client::find_raw(const RestRequest& request) const {
  try {
    return raw(request);
  } catch (const ApiError& error) {
    if (error.is_not_found() && !error.is_no_such_resource()) return std::nullopt;
    throw;
  }
}

namespace {

/// Records a 401, so that the next call does not use the same token; forwards everything else. It does not
/// keep the client alive: the thread that drops the client after closing a stream must hold the last
/// reference.
class AuthorizedStream final : public http::StreamHandler {
 public:
  AuthorizedStream(const std::shared_ptr<detail::ClientState>& state, const http::Request& sent,
                   std::string call, std::shared_ptr<http::StreamHandler> inner)
      : state_(state),
        meter_(state->meter),
        method_(sent.method),
        sent_(sent.headers),
        call_(std::move(call)),
        inner_(std::move(inner)) {}

  void on_response(int status, const http::Headers& headers) override {
    meter_->streamed(method_, status);
    answered_ = true;
    if (const auto state = state_.lock()) {
      state->note_warnings(headers, call_);
      if (status == 401 && state->credentials.refreshable()) state->credentials.expire(sent_);
    }
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override { inner_->on_data(piece); }
  void on_end(std::exception_ptr error) override {
    if (!answered_) meter_->streamed(method_, 0);
    inner_->on_end(std::move(error));
  }

 private:
  const std::weak_ptr<detail::ClientState> state_;
  const std::shared_ptr<RequestMeter> meter_;
  const http::Method method_;
  bool answered_ = false;  // members are called one at a time
  const http::Headers sent_;
  const std::string call_;
  const std::shared_ptr<http::StreamHandler> inner_;
};

}  // namespace

std::shared_ptr<http::Call> Client::stream(const RestRequest& request,
                                           std::shared_ptr<http::StreamHandler> handler) const {
  const detail::TokenWait wait{.stop = call_.stop.value_or(std::stop_token()),
                               .deadline = call_.deadline.value_or(TimePoint::max())};
  http::Request wire = state_->prepare(request, target_of(request), call_.deadline, wait);
  auto wrapped = std::make_shared<AuthorizedStream>(state_, wire, describe(request), std::move(handler));
  return state_->transport->stream(std::move(wire), std::move(wrapped));
}

void Client::pause(Duration delay, double jitter) const {
  std::uint64_t random = state_->next_seed();
  const TimePoint now = state_->clock->now();
  const TimePoint when = deadline_after(now, detail::jittered(delay, jitter, random));
  if (call_.deadline && when >= *call_.deadline) {
    throw TransportError(TransportErrorCode::timeout, "deadline exceeded while waiting to try again");
  }
  if (!sleep_until(*state_->clock, when, call_.stop.value_or(std::stop_token()))) {
    throw Cancelled("cancelled while waiting to try again");
  }
}

// ---- Requests ----

std::string Client::object_name(const ResourceId& resource, const ObjectKey& key) {
  return object_path({.resource = resource, .namespace_ = key.namespace_, .name = key.name});
}

bool Client::is_absent(const Outcome<http::Response>& outcome) {
  if (outcome.ok()) return false;
  try {
    std::rethrow_exception(outcome.error());
  } catch (const ApiError& error) {
    return error.is_not_found() && !error.is_no_such_resource();
  } catch (...) {
    return false;
  }
}

std::shared_ptr<http::Call> Client::nothing_to_cancel() {
  return std::make_shared<NothingToCancel>();
}

void Client::refuse_empty() {
  throw std::invalid_argument("Client: the snapshot to change is empty");
}

RestRequest Client::object_request(http::Method method, const ResourceId& resource, const ObjectKey& key,
                                   std::string subresource) const {
  if (key.name.empty()) throw std::invalid_argument(resource.kind + ": the key has no name");
  const bool namespaced = resource.scope == Scope::namespaced;
  if (namespaced && key.namespace_.empty()) {
    throw std::invalid_argument(resource.kind + " " + key.name +
                                ": the kind is namespaced and the key has no namespace");
  }
  return {.method = method,
          .resource = resource,
          .namespace_ = namespaced ? key.namespace_ : std::string(),
          .name = key.name,
          .subresource = std::move(subresource)};
}

void Client::mark_write(RestRequest& request) const {
  const std::string& owner = call_.field_owner ? *call_.field_owner : state_->field_owner;
  if (!owner.empty()) request.query.emplace_back("fieldManager", owner);
  if (call_.field_validation) {
    request.query.emplace_back("fieldValidation", validation_word(*call_.field_validation));
  }
  if (call_.dry_run.value_or(false)) request.query.emplace_back("dryRun", "All");
}

RestRequest Client::create_request(const ResourceId& resource, const ObjectMeta& metadata,
                                   std::string body) const {
  if (metadata.name.empty() && metadata.generate_name.empty()) {
    throw std::invalid_argument(resource.kind + ": the object has neither a name nor a generate_name");
  }
  const bool namespaced = resource.scope == Scope::namespaced;
  if (namespaced && metadata.namespace_.empty()) {
    throw std::invalid_argument(resource.kind + " " + metadata.name +
                                ": the kind is namespaced and the object has no namespace");
  }
  RestRequest request{.method = http::Method::post,
                      .resource = resource,
                      .namespace_ = namespaced ? metadata.namespace_ : std::string(),
                      .content_type = json_content,
                      .body = std::move(body)};
  mark_write(request);
  return request;
}

RestRequest Client::update_request(const ResourceId& resource, const ObjectKey& key, std::string body) const {
  RestRequest request = object_request(http::Method::put, resource, key);
  request.content_type = json_content;
  request.body = std::move(body);
  mark_write(request);
  return request;
}

RestRequest Client::patch_request(const ResourceId& resource, const ObjectKey& key, Patch patch,
                                  const PatchOptions& options) const {
  RestRequest request = object_request(http::Method::patch, resource, key, options.subresource);
  request.content_type = content_type(patch.type);
  request.body = std::move(patch.body);
  mark_write(request);
  if (options.force) {
    if (patch.type != PatchType::apply)
      throw std::invalid_argument("PatchOptions.force: only for apply patches");
    request.query.emplace_back("force", "true");
  }
  return request;
}

RestRequest Client::apply_request(const ResourceId& resource, const TypeInfo& type, const void* object,
                                  std::string subresource, const ApplyOptions& options) const {
  Json document = to_tree(type, object);
  Json& metadata = document["metadata"];
  metadata.erase("managedFields");  // the server rejects an apply that contains them
  const ObjectKey key{metadata["namespace"].string_or(""), metadata["name"].string_or("")};
  if (subresource == "status") {
    Json part = Json::object({{"apiVersion", document["apiVersion"]}, {"kind", document["kind"]}});
    part["metadata"]["name"] = key.name;
    if (!key.namespace_.empty()) part["metadata"]["namespace"] = key.namespace_;
    if (const Json* status = document.find("status")) part["status"] = *status;
    document = std::move(part);
  }
  return patch_request(resource, key, Patch::apply(document),
                       {.subresource = std::move(subresource), .force = options.force});
}

RestRequest Client::remove_request(const ResourceId& resource, const ObjectKey& key,
                                   const DeleteOptions& options) const {
  RestRequest request = object_request(http::Method::delete_, resource, key);
  request.body = delete_body(options);
  if (!request.body.empty()) request.content_type = json_content;
  if (call_.dry_run.value_or(false)) request.query.emplace_back("dryRun", "All");
  return request;
}

RestRequest Client::remove_all_request(const ResourceId& resource, const ListOptions& which,
                                       const DeleteOptions& options) const {
  if (resource.scope == Scope::namespaced && which.namespace_.empty()) {
    throw std::invalid_argument(resource.kind +
                                ": the kind is namespaced and ListOptions.namespace_ is empty");
  }
  RestRequest request{.method = http::Method::delete_, .resource = resource, .namespace_ = which.namespace_};
  if (!which.label_selector.empty()) request.query.emplace_back("labelSelector", which.label_selector);
  if (!which.field_selector.empty()) request.query.emplace_back("fieldSelector", which.field_selector);
  if (call_.dry_run.value_or(false)) request.query.emplace_back("dryRun", "All");
  request.body = delete_body(options);
  if (!request.body.empty()) request.content_type = json_content;
  return request;
}

void Client::remove_object(const ResourceId& resource, const ObjectKey& key,
                           const DeleteOptions& options) const {
  find_raw(remove_request(resource, key, options));
}

std::shared_ptr<http::Call> Client::remove_object(const ResourceId& resource, const ObjectKey& key,
                                                  const DeleteOptions& options,
                                                  Completion<std::monostate> done) const {
  return raw(
      remove_request(resource, key, options), [done = std::move(done)](Outcome<http::Response> outcome) {
        if (is_absent(outcome)) return done(std::monostate());
        done(decoded<std::monostate>(std::move(outcome), [](http::Response&) { return std::monostate(); }));
      });
}

RestRequest Client::scale_request(const ResourceId& resource, const ObjectKey& key,
                                  std::optional<std::int64_t> replicas) const {
  if (!replicas) return object_request(http::Method::get, resource, key, "scale");
  Json patch = Json::object();
  patch["spec"]["replicas"] = *replicas;
  return patch_request(resource, key, Patch::merge(patch), {.subresource = "scale"});
}

Scale Client::read_scale(const http::Response& response, const std::string& what) {
  const Json document = Json::parse(response.body, what);
  if (document["kind"].string_or("") != "Scale") throw DecodeError(what, "the response is not a Scale");
  return {.replicas = document.at({"spec", "replicas"}).integer_or(0),
          .status_replicas = document.at({"status", "replicas"}).integer_or(0),
          .selector = document.at({"status", "selector"}).string_or(""),
          .resource_version = document.at({"metadata", "resourceVersion"}).string_or("")};
}

}  // namespace v0
}  // namespace evenkeel
