// SPDX-License-Identifier: Apache-2.0
// An operator for many clusters: in each of them it writes into every ConfigMap with the label fleet=yes how
// many of these there are.
//   clusters-operator --clusters DIRECTORY     follows the clusters of the kubeconfigs in DIRECTORY
//   clusters-operator                          a demonstration: a home cluster and three others, embedded API
//                                              servers whose kubeconfigs are written to a directory
//   clusters-operator --console --metrics-bind-address :8080    http://localhost:8080/console, "Sections"
// The demonstration says where its kubeconfigs are: remove one, and the cluster leaves; copy one, and another
// joins.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server.hpp>
#include <evenkeel/clusters/kubeconfig_directory.hpp>
#include <evenkeel/evenkeel.hpp>

#include "census.hpp"

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

/// Embedded API servers, and a directory with their kubeconfigs.
class Demonstration {
 public:
  Demonstration() {
    for (const auto& [name, objects] :
         std::vector<std::pair<std::string, int>>{{"asia", 3}, {"eu", 5}, {"us", 8}})
      start(name, objects);
    ::setenv("KUBECONFIG", write("home", directory / ".home").c_str(), 1);
    std::printf("kubeconfigs: %s\n", directory.c_str());
    std::fflush(stdout);
  }
  ~Demonstration() { fs::remove_all(directory); }
  Demonstration(const Demonstration&) = delete;
  Demonstration& operator=(const Demonstration&) = delete;

  const fs::path directory = make_directory();

 private:
  static fs::path make_directory() {
    std::string name = (fs::temp_directory_path() / "clusters-operator-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw ek::Error("cannot make " + name);
    return name;
  }
  // Starts a server, and returns the file with its kubeconfig.
  std::string write(const std::string& name, const fs::path& file) {
    servers_.push_back({name, std::make_unique<ek::apiserver::ApiServer>()});
    std::ofstream(file) << servers_.back().server->kubeconfig();
    return file.string();
  }
  void start(const std::string& name, int objects) {
    write(name, directory / (name + ".kubeconfig"));
    const ek::Client client(servers_.back().server->config());
    for (int i = 0; i < objects; ++i)
      client.create(ek::ConfigMap{.metadata = {.name = "site-" + std::to_string(i),
                                               .namespace_ = "default",
                                               .labels = {{"fleet", "yes"}}}});
  }

  struct Named {
    std::string name;
    std::unique_ptr<ek::apiserver::ApiServer> server;
  };
  std::vector<Named> servers_;
};

/// Returns the rows of the section "Fleet": the server of each cluster, and its ConfigMaps.
ek::Json fleet(ek::Manager& manager) {
  ek::Json rows = ek::Json::array();
  for (const ek::ClusterStatus& status : manager.clusters().status()) {
    const auto cluster = manager.clusters().find(status.name);
    if (!cluster || !status.synced) continue;
    rows.push_back(ek::Json::object({{"cluster", status.name},
                                     {"server", cluster->client().config().server},
                                     {"sites", status.objects},
                                     {"reconciles", status.reconciles}}));
  }
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  std::string directory;
  ek::RunOptions options{.name = "clusters-operator",
                         .description = "Counts the ConfigMaps with the label fleet=yes in many clusters."};
  options.flags.add("--clusters", directory, "directory of kubeconfigs; empty: a demonstration");
  std::unique_ptr<Demonstration> demonstration;
  const bool given = argc > 1 && std::string(argv[1]).starts_with("--clusters");
  if (!given) demonstration = std::make_unique<Demonstration>();
  return ek::run(argc, argv, options, [&](ek::Manager& manager) {
    const std::string from =
        directory.empty() && demonstration ? demonstration->directory.string() : directory;
    manager.follow(ek::kubeconfig_directory(from, {.period = 1s, .log = manager.log()}));
    manager.add(census_controller());
    manager.add_console_section("Fleet", [&manager] { return fleet(manager); });
  });
}
