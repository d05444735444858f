// SPDX-License-Identifier: Apache-2.0
// The rights that --print-manifests gives are all that an operator needs, and nothing more: applied to a real
// API server, the operator works as its service account, and notices each right that is taken from its roles.
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/client/access_recorder.hpp>
#include <evenkeel/client/policy_rule.hpp>
#include <evenkeel/evenkeel.hpp>
#include <evenkeel/http/curl_transport.hpp>
#include <evenkeel/ratelimit/exponential.hpp>
#include <evenkeel/testing/environment.hpp>
#include <evenkeel/testing/log_recorder.hpp>
#include <evenkeel/testing/running_manager.hpp>
#include <evenkeel/testing/wait.hpp>

#include "../support/await.hpp"
#include "../support/rules_of_role.hpp"

namespace real_manifests {

namespace ek = evenkeel;

struct SiteStatus {
  int seen = 0;
};
EVENKEEL_FIELDS(SiteStatus, seen)

struct Site {
  static constexpr ek::ResourceInfo resource{
      .group = "demo.example.com", .kind = "Site", .plural = "sites", .installs_crd = true};
  ek::ObjectMeta metadata;
  SiteStatus status;
};
EVENKEEL_FIELDS(Site, metadata, status)

}  // namespace real_manifests

namespace evenkeel {
namespace real_manifests_tests {

using namespace real_manifests;
using ::testing::IsEmpty;

const std::string name = "site-operator";
const std::string space = "site-operator-system";
const ResourceId cluster_roles{"rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles",
                               Scope::cluster};
const ResourceId roles{"rbac.authorization.k8s.io", "v1", "Role", "roles"};
const ResourceId leases{"coordination.k8s.io", "v1", "Lease", "leases"};
const ResourceId reviews{"authorization.k8s.io", "v1", "SubjectAccessReview", "subjectaccessreviews",
                         Scope::cluster};

ControllerSpec site_controller() {
  return controller_for<Site>([](Context& context, const Site& site) {
           const ObjectKey key{site.metadata.namespace_, site.metadata.name};
           (void)context.find<ConfigMap>(key);
           context.apply(ConfigMap{.metadata = {.name = key.name, .namespace_ = key.namespace_},
                                   .data = {{"site", key.name}}});
           context.patch_status(site, [](SiteStatus& status) { status.seen = 1; });
         })
      .owns<ConfigMap>()
      .finalize("demo.example.com/cleanup", [](Context&, const Site&) {});
}

std::string printed_manifests() {
  const char* argv[] = {name.c_str(), "--print-manifests"};
  RunOptions options;
  options.name = name;
  options.manifests.rules = {{{""}, {"configmaps"}, {"create", "patch"}},
                             {{"demo.example.com"}, {"sites/status"}, {"patch"}}};
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run(2, argv, options, [](Manager& manager) { manager.add(site_controller()); }), 0);
  return ::testing::internal::GetCapturedStdout();
}

// Lists are asked for by those who do not use streaming lists.
CacheOptions with_lists() {
  CacheOptions options;
  options.reflector.streaming_list = false;
  return options;
}

std::string kind_of(const Access& access) {
  Access general = access;
  general.namespace_.clear();
  general.name.clear();
  return general.str();
}

/// Notes refused requests, and loses the answers of the first writes that `lost` names.
class Wire final : public http::Transport {
 public:
  Wire(std::shared_ptr<http::Transport> inner, std::set<std::string> lost)
      : lost_(std::move(lost)), inner_(std::move(inner)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override {
    return inner_->send(request, [this, access = access_of(request),
                                  completion = std::move(completion)](Outcome<http::Response> outcome) {
      if (outcome.ok()) note(access, outcome.value().status, outcome.value().body);
      if (outcome.ok() && outcome.value().status < 300 && loses(access))
        return completion(
            std::make_exception_ptr(TransportError(TransportErrorCode::interrupted, "the answer was lost")));
      completion(std::move(outcome));
    });
  }
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    auto noting = std::make_shared<Handler>(*this, access_of(request), std::move(handler));
    return inner_->stream(std::move(request), std::move(noting));
  }
  http::Response fetch(http::Request request, std::stop_token stop) override {
    const auto access = access_of(request);
    http::Response response = inner_->fetch(std::move(request), std::move(stop));
    note(access, response.status, response.body);
    if (response.status < 300 && loses(access))
      throw TransportError(TransportErrorCode::interrupted, "the answer was lost");
    return response;
  }

  /// Kinds of access that were refused: "patch sites.demo.example.com/status".
  std::set<std::string> refused() const {
    MutexLock lock(mutex_);
    return refused_;
  }
  std::string last_refusal() const {
    MutexLock lock(mutex_);
    return body_;
  }

 private:
  class Handler final : public http::StreamHandler {
   public:
    Handler(Wire& wire, std::optional<Access> access, std::shared_ptr<http::StreamHandler> inner)
        : wire_(wire), access_(std::move(access)), inner_(std::move(inner)) {}
    void on_response(int status, const http::Headers& headers) override {
      wire_.note(access_, status, "");
      inner_->on_response(status, headers);
    }
    void on_data(std::string_view piece) override { inner_->on_data(piece); }
    void on_end(std::exception_ptr error) override { inner_->on_end(std::move(error)); }

   private:
    Wire& wire_;
    const std::optional<Access> access_;
    const std::shared_ptr<http::StreamHandler> inner_;
  };

  void note(const std::optional<Access>& access, int status, const std::string& body) {
    if (status != 403 || !access) return;
    MutexLock lock(mutex_);
    refused_.insert(kind_of(*access));
    body_ = body;
  }
  bool loses(const std::optional<Access>& access) {
    MutexLock lock(mutex_);
    return access && lost_.erase(kind_of(*access)) > 0;
  }

  mutable Mutex mutex_;
  std::set<std::string> refused_ EVENKEEL_GUARDED_BY(mutex_);
  std::string body_ EVENKEEL_GUARDED_BY(mutex_);
  std::set<std::string> lost_ EVENKEEL_GUARDED_BY(mutex_);
  const std::shared_ptr<http::Transport> inner_;
};

/// The operator in this process, as its service account.
class Operator {
 public:
  explicit Operator(const Config& config)
      : wire_(std::make_shared<Wire>(
            http::make_curl_transport({.server = config.server, .tls = config.tls}),
            std::set<std::string>{"patch configmaps", "patch sites.demo.example.com/status"})),
        manager_(client(config), {.name = name,
                                  .log = Log(log_),
                                  .cache = with_lists(),
                                  .election = ElectionOptions{.namespace_ = space},
                                  .election_client = client(config)}) {
    ControllerSpec spec = site_controller();
    spec.options.limiter = [] {
      return exponential(std::chrono::milliseconds{10}, std::chrono::milliseconds{100});
    };
    manager_.add(std::move(spec));
    running_.emplace(manager_);
  }
  ~Operator() {
    try {
      running_->stop();
    } catch (const Error& error) {
      ADD_FAILURE() << error.what();
    }
  }

  const Wire& wire() const { return *wire_; }
  std::vector<Access> accesses() const { return recorder_->record().accesses(); }

 private:
  Client client(const Config& config) {
    return Client(config, {.transport = wire_, .field_owner = name, .access_recorder = recorder_});
  }

  const std::shared_ptr<AccessRecorder> recorder_ = std::make_shared<AccessRecorder>();
  const std::shared_ptr<testing::LogRecorder> log_ = std::make_shared<testing::LogRecorder>();
  const std::shared_ptr<Wire> wire_;
  Manager manager_;
  std::optional<testing::RunningManager> running_;
};

/// A role in the server and the rights that were printed for it.
struct GrantedRole {
  ResourceId kind = {};
  ObjectKey key = {};
  std::vector<PolicyRule> rights = {};
};

class RealManifests : public ::testing::Test {
 protected:
  RealManifests() {
    server.install(printed_manifests());
    for (GrantedRole role :
         {GrantedRole{cluster_roles, {"", name}}, GrantedRole{roles, {space, name + "-runtime"}}}) {
      const Json object = admin.resource(role.kind).get(role.key)->body();
      role.rights = single_rights(tests::rules_of_role(object));
      granted.push_back(std::move(role));
    }
  }

  Config account() const {
    return server.config_for({.user = "system:serviceaccount:" + space + ":" + name,
                              .groups = {"system:serviceaccounts", "system:serviceaccounts:" + space}});
  }

  // Writes the rights of a role, except for one, and waits until the authorizer knows.
  void write(const GrantedRole& role, const PolicyRule* except) {
    Json list = Json::array();
    for (const PolicyRule& right : role.rights)
      if (&right != except) list.push_back(right.json());
    admin.resource(role.kind).patch(role.key, Patch::merge(Json::object({{"rules", std::move(list)}})));
    for (const PolicyRule& right : role.rights) {
      tests::await("the role to take effect",
                   [&] { return is_allowed(right, role.key.namespace_) == (&right != except); });
    }
  }

  bool is_allowed(const PolicyRule& right, const std::string& in) const {
    const std::string resource = right.resources[0];
    const std::size_t slash = resource.find('/');
    Json attributes = Json::object({{"group", right.groups[0]},
                                    {"resource", resource.substr(0, slash)},
                                    {"verb", right.verbs[0]},
                                    {"namespace", in}});
    if (slash != std::string::npos) attributes["subresource"] = resource.substr(slash + 1);
    if (!right.names.empty()) attributes["name"] = right.names[0];
    const Json review =
        Json::object({{"apiVersion", "authorization.k8s.io/v1"},
                      {"kind", "SubjectAccessReview"},
                      {"spec", Json::object({{"user", "system:serviceaccount:" + space + ":" + name},
                                             {"resourceAttributes", std::move(attributes)}})}});
    const http::Response answer = admin.raw({.method = http::Method::post,
                                             .resource = reviews,
                                             .content_type = "application/json",
                                             .body = review.dump()});
    return Json::parse(answer.body).at({"status", "allowed"}) == Json(true);
  }

  Site site(const std::string& called) const {
    Site made;
    made.metadata.name = called;
    made.metadata.namespace_ = "default";
    return made;
  }

  testing::Environment server{
      {.api_server_flags = {"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"}}};
  const Client admin{server.config()};
  std::vector<GrantedRole> granted;
};

TEST_F(RealManifests, GrantAllThatTheOperatorDoesAndNothingMore) {
  Operator running(account());
  // The answer that the first ConfigMap was created is lost; that of the second is recorded.
  for (const char* each : {"web", "shop"}) {
    admin.create(site(each));
    tests::await("the status", [&] { return admin.get<Site>({"default", each})->status.seen == 1; });
  }
  admin.remove<Site>({"default", "web"});
  testing::wait_until_gone<Site>(admin, {"default", "web"});
  std::vector<PolicyRule> rights;
  for (const GrantedRole& role : granted) rights.insert(rights.end(), role.rights.begin(), role.rights.end());
  // It is asked for while the owner reference of the ConfigMap is admitted.
  const std::vector<std::string> expected{"not used: update of sites.demo.example.com/finalizers"};
  // The Lease is renewed after a while.
  EXPECT_NO_THROW(tests::await("the use of all rights",
                               [&] { return compare_rights(rights, running.accesses()) == expected; }));
  EXPECT_EQ(compare_rights(rights, running.accesses()), expected);
  EXPECT_THAT(running.wire().refused(), IsEmpty()) << running.wire().last_refusal();
}

// The request that is refused without a right.
std::string request_of(const PolicyRule& right) {
  const Access access{right.verbs[0], right.groups[0], right.resources[0], "", ""};
  // Both are asked for when a ConfigMap is applied for the first time.
  if (right.resources[0] == "sites/finalizers" || kind_of(access) == "create configmaps")
    return "patch configmaps";
  return kind_of(access);
}

TEST_F(RealManifests, EachRightThatIsTakenAwayIsMissed) {
  int number = 0;
  for (const GrantedRole& role : granted) {
    for (const PolicyRule& right : role.rights) {
      const std::string called = "site-" + std::to_string(++number);
      admin.resource(leases).remove_all({.namespace_ = space});
      write(role, &right);
      {
        Operator running(account());
        admin.create(site(called));
        tests::await("a refusal of " + request_of(right),
                     [&] { return running.wire().refused().contains(request_of(right)); });
        EXPECT_EQ(running.wire().refused(), std::set<std::string>{request_of(right)});
      }
      write(role, nullptr);
    }
  }
  EXPECT_GE(number, 14);
}

}  // namespace real_manifests_tests
}  // namespace evenkeel
