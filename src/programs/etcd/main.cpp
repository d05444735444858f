// SPDX-License-Identifier: Apache-2.0
// The stand-in for etcd as a program, for demonstrations of the coordination without etcd.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <evenkeel/testing/etcd_server.hpp>

#include "base/shown_text.hpp"
#include "programs/common/program.hpp"

namespace {

namespace ek = evenkeel;

constexpr char name[] = "evenkeel-etcd";

struct Flags {
  ek::testing::EtcdServerOptions server = {};
  std::vector<std::string> faults = {};
  bool log_requests = false;
};

void declare(CLI::App& app, Flags& flags) {
  app.add_option("--host", flags.server.host, "Address to listen on")->capture_default_str();
  app.add_option("--port", flags.server.port, "Port to listen on; 0: a free one")->capture_default_str();
  app.add_option("--fault", flags.faults,
                 "Inject a fault, e.g. resource=kv/txn,drop=after,count=3 or resource=kv/range,delay=2s; "
                 "docs/apiserver.md has all; repeatable")
      ->type_name("RULE")
      ->allow_extra_args(false);
  app.add_flag("--log-requests", flags.log_requests, "One line on standard error for each request");
}

void log_request(const ek::apiserver::ServedRequest& request) {
  const std::string line =
      request.target + " " + (request.status != 0 ? std::to_string(request.status) : "dropped");
  std::fprintf(stderr, "%s\n", ek::detail::shown_text(line).c_str());
}

void serve(Flags& flags) {
  const sigset_t signals = ek::program::block_signals();
  for (const std::string& rule : flags.faults)
    flags.server.faults.push_back(ek::apiserver::parse_fault_rule(rule));
  if (flags.log_requests) flags.server.on_request = log_request;
  ek::testing::EtcdServer server(flags.server);
  ek::program::serve_until_told(name, server.url(), signals);
  server.stop();
}

}  // namespace

int main(int argc, char** argv) {
  // On the heap: g++ 12 warns that options on the stack are uninitialised when it inlines their destructor.
  const auto flags = std::make_unique<Flags>();
  CLI::App app("A stand-in for etcd in memory: the part of its JSON API that Evenkeel's coordination uses.",
               name);
  app.set_version_flag("--version", "evenkeel-etcd " EVENKEEL_VERSION);
  declare(app, *flags);
  return ek::program::run(app, argc, argv, [&flags] { serve(*flags); });
}
