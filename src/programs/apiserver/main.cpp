// SPDX-License-Identifier: Apache-2.0
// The embedded API server as a program: for kubectl, and for tests of operators in any language.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/access_recording.hpp>
#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/apiserver/webhook_caller.hpp>
#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/error.hpp>

#include "base/shown_text.hpp"
#include "client/config/access_file.hpp"
#include "programs/common/program.hpp"

namespace {

namespace ek = evenkeel;

constexpr char name[] = "evenkeel-apiserver";

struct Flags {
  ek::apiserver::ApiServerOptions server = {};
  std::string kubeconfig = {};
  std::vector<std::string> manifests = {};
  std::vector<std::string> faults = {};
  std::string token_lifetime = {};
  std::vector<std::string> token_users = {};
  std::vector<std::string> webhook_services = {};
  bool log_requests = false;
  std::string access_record = {};
  std::string access_record_user = {};
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--host", flags.server.host, "Address to listen on")->capture_default_str();
  app.add_option("--port", flags.server.port, "Port to listen on; 0: any free port")->capture_default_str();
  app.add_flag("--tls", flags.server.tls, "Serve TLS, with certificates made at the start");
  app.add_option("--token", flags.server.token,
                 "Require this bearer token (kubectl sends none without --tls)");
  app.add_option("--token-expires-after", flags.token_lifetime,
                 "Reject the token with 401 after this time, e.g. 10s or 5m")
      ->type_name("TIME")
      ->needs("--token");
  app.add_option_function<std::string>(
         "--authorization-mode",
         [&flags](const std::string& mode) {
           using ek::apiserver::Authorization;
           flags.server.authorization = mode == "RBAC" ? Authorization::rbac : Authorization::always_allow;
         },
         "RBAC: roles and bindings decide, and the kubeconfig is that of an administrator")
      ->check(CLI::IsMember({"AlwaysAllow", "RBAC"}))
      ->type_name("MODE");
  app.add_flag("--sharded-list-and-watch", flags.server.core.sharded_list_and_watch,
               "The feature gate ShardedListAndWatch: lists and watches select by shardSelector");
  app.add_option("--anonymous-auth", flags.server.anonymous,
                 "With RBAC: requests without credentials are those of system:anonymous; false: 401")
      ->capture_default_str();
  app.add_option("--token-user", flags.token_users,
                 "Accept a token of a user, TOKEN=USER or TOKEN=USER=GROUP,GROUP; repeatable")
      ->type_name("TOKEN=USER")
      ->allow_extra_args(false);
  app.add_option("--webhook-service", flags.webhook_services,
                 "Call webhooks of a Service at this address, NAMESPACE/NAME=HOST:PORT; repeatable")
      ->type_name("SERVICE=ADDRESS")
      ->allow_extra_args(false);
  app.add_option("--write-kubeconfig", flags.kubeconfig, "Write a kubeconfig for this server")
      ->type_name("FILE");
  app.add_option("--crd", flags.manifests,
                 "Create the objects in this manifest first (CRDs or others); repeatable")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--fault", flags.faults,
                 "Inject a fault, e.g. verb=watch,resource=pods,cut-after=1000,count=3 or "
                 "status=429,retry-after=1,probability=0.1,seed=7 or verb=update,drop=after,ending=reset or "
                 "lag=5s; docs/apiserver.md has all; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app.add_flag("--log-requests", flags.log_requests, "Log each request to standard error");
  app.add_option("--access-record", flags.access_record,
                 "Before it exits, add the rights that requests needed to this file")
      ->type_name("FILE");
  app.add_option("--access-record-user", flags.access_record_user, "Record the requests of this user only")
      ->type_name("USER")
      ->needs("--access-record");
}

void log_request(const ek::apiserver::ServedRequest& request) {
  const std::string line = std::string(ek::http::method_name(request.method)) + " " + request.target + " " +
                           (request.status ? std::to_string(request.status) : "dropped") + " " +
                           (request.user.empty() ? "-" : request.user);
  std::fprintf(stderr, "%s\n", ek::detail::shown_text(line).c_str());
}

// Moves the token that expires to the tokens with a lifetime.
void limit_token(Flags& flags) {
  if (flags.token_lifetime.empty()) return;
  const std::optional<ek::Duration> time = ek::parse_duration(flags.token_lifetime);
  if (!time || *time < ek::Duration::zero())
    throw std::invalid_argument("--token-expires-after: expected a time like 10s, found \"" +
                                flags.token_lifetime + "\"");
  const ek::WallTime end =
      flags.server.clock->wall_now() + std::chrono::duration_cast<ek::WallTime::duration>(*time);
  flags.server.tokens.push_back({.token = std::exchange(flags.server.token, {}), .expires = end});
}

// Returns null if nothing is to be recorded. A file that cannot be read ends the program before it serves.
std::shared_ptr<ek::AccessRecorder> make_recorder(const Flags& flags) {
  if (flags.access_record.empty()) return nullptr;
  (void)ek::detail::read_accesses(flags.access_record, ek::detail::MissingFile::empty);
  return std::make_shared<ek::AccessRecorder>();
}

void observe(Flags& flags, const std::shared_ptr<ek::AccessRecorder>& recorder) {
  std::function<void(const ek::apiserver::ServedRequest&)> record;
  if (recorder) record = ek::apiserver::record_accesses(recorder, flags.access_record_user);
  if (!flags.log_requests) {
    flags.server.on_request = std::move(record);
    return;
  }
  flags.server.on_request = [record = std::move(record)](const ek::apiserver::ServedRequest& request) {
    log_request(request);
    if (record) record(request);
  };
}

// Parses TOKEN=USER=GROUP,GROUP. Names of users and groups have colons, but no "=".
ek::apiserver::TokenUser token_user(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::size_t second = equals == std::string::npos ? equals : text.find('=', equals + 1);
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size() || second == equals + 1)
    throw std::invalid_argument("--token-user: expected TOKEN=USER or TOKEN=USER=GROUP,GROUP, found \"" +
                                text + "\"");
  ek::apiserver::Caller caller{.user = text.substr(equals + 1, second - equals - 1), .groups = {}};
  std::string groups = second == std::string::npos ? std::string() : text.substr(second + 1);
  while (!groups.empty()) {
    const std::size_t comma = std::min(groups.find(','), groups.size());
    caller.groups.push_back(groups.substr(0, comma));
    groups.erase(0, comma + 1);
  }
  return {.token = text.substr(0, equals), .caller = std::move(caller)};
}

// Parses NAMESPACE/NAME=HOST:PORT.
std::pair<std::string, std::string> webhook_service(const std::string& text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string service = text.substr(0, equals);
  const std::string address = text.substr(std::min(equals + 1, text.size()));
  const std::size_t slash = service.find('/');
  const std::size_t colon = address.rfind(':');
  if (slash == 0 || slash == std::string::npos || slash + 1 == service.size() || colon == 0 ||
      colon == std::string::npos || colon + 1 == address.size())
    throw std::invalid_argument("--webhook-service: expected NAMESPACE/NAME=HOST:PORT, found \"" + text +
                                "\"");
  return {service, address};
}

std::shared_ptr<ek::apiserver::WebhookCaller> webhook_caller(const std::vector<std::string>& services) {
  std::map<std::string, std::string> addresses;
  for (const std::string& service : services) addresses.insert(webhook_service(service));
  return ek::apiserver::make_http_webhook_caller(
      [addresses = std::move(addresses)](const ek::apiserver::WebhookCall& call) {
        const auto found = addresses.find(call.service_namespace + "/" + call.service_name);
        return found == addresses.end() ? std::string() : found->second;
      });
}

void serve(Flags& flags) {
  const sigset_t signals = ek::program::block_signals();
  limit_token(flags);
  for (const std::string& user : flags.token_users) flags.server.tokens.push_back(token_user(user));
  for (const std::string& rule : flags.faults)
    flags.server.faults.push_back(ek::apiserver::parse_fault_rule(rule));
  flags.server.webhooks = webhook_caller(flags.webhook_services);
  const std::shared_ptr<ek::AccessRecorder> recorder = make_recorder(flags);
  observe(flags, recorder);
  ek::apiserver::ApiServer server(flags.server);
  if (flags.server.token.empty() && flags.server.tokens.empty() &&
      flags.server.authorization != ek::apiserver::Authorization::rbac)
    std::fputs("evenkeel-apiserver: without --token, every request is an administrator's\n", stderr);
  for (const std::string& manifest : flags.manifests) {
    try {
      server.install(ek::program::read_file(manifest));
    } catch (const ek::Error& error) {
      throw ek::Error(manifest + ": " + error.what());
    }
  }
  if (recorder) recorder->clear();  // of the manifests
  if (!flags.kubeconfig.empty()) ek::program::write_private_file(flags.kubeconfig, server.kubeconfig());
  ek::program::serve_until_told(name, server.url(), signals);
  server.stop();
  if (recorder)
    ek::detail::write_accesses(flags.access_record, recorder->record(), "clients of " + std::string(name));
}

}  // namespace

int main(int argc, char** argv) {
  // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
  const auto flags = std::make_unique<Flags>();
  CLI::App app("An API server of Kubernetes' API in memory, for tests and demonstrations.", name);
  app.set_version_flag("--version", "evenkeel-apiserver " EVENKEEL_VERSION);
  declare(app, *flags);
  return ek::program::run(app, argc, argv, [&flags] { serve(*flags); });
}
