// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/error.hpp>
#include <evenkeel/testing/environment.hpp>

#include "apiserver/shell/kubeconfig_writer.hpp"
#include "apiserver/shell/manifest.hpp"
#include "testing/control_plane/component_files.hpp"
#include "testing/control_plane/control_plane.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

namespace fs = std::filesystem;

ComponentFiles found(const EnvironmentOptions& options) {
  ComponentFiles files = find_components(options, FileSearch::of_this_machine());
  if (!files.problem.empty()) throw Error(files.problem);
  return files;
}

std::vector<std::string> manifests_below(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
    const std::string kind = entry.path().extension().string();
    if (kind == ".yaml" || kind == ".yml" || kind == ".json") files.push_back(entry.path().string());
  }
  if (error) throw Error(path + ": cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_manifest(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!file || !(text << file.rdbuf())) throw Error(path + ": cannot be read");
  return std::move(text).str();
}

bool is_definition(const Json& object) {
  return object["kind"].string_or("") == "CustomResourceDefinition" &&
         object["apiVersion"].string_or("").starts_with("apiextensions.k8s.io/");
}

// Returns the list paths of a definition's served versions.
std::vector<std::string> collections(const Json& definition) {
  const Json& spec = definition["spec"];
  std::vector<std::string> targets;
  for (std::size_t at = 0; at < spec["versions"].size(); ++at) {
    const Json& version = spec["versions"][at];
    if (!version["served"].bool_or(false)) continue;
    targets.push_back("/apis/" + spec["group"].string_or("") + "/" + version["name"].string_or("") + "/" +
                      spec.at({"names", "plural"}).string_or(""));
  }
  return targets;
}

}  // namespace

std::string_view component_name(Component component) noexcept {
  switch (component) {
    case Component::etcd:
      return "etcd";
    case Component::api_server:
      return "kube-apiserver";
    case Component::controller_manager:
      return "kube-controller-manager";
  }
  return "";
}

struct Environment::State {
  explicit State(EnvironmentOptions options) : plane(options, found(options)) {
    for (const std::string& manifest : options.manifests) install(manifest);
    for (const std::string& path : options.manifest_files) install_file(path);
  }

  void install(std::string_view manifest) {
    const apiserver::Asks ask = [this](const http::Request& request) { return plane.ask(request); };
    apiserver::ObjectCreator creator(ask);
    for (const Json& object : apiserver::manifest_objects(manifest)) {
      creator.create(apiserver::ManifestObject(object));
      if (is_definition(object)) await_served(object);
    }
  }

  void install_file(const std::string& path) {
    for (const std::string& file : manifests_below(path)) {
      try {
        install(read_manifest(file));
      } catch (const DecodeError& error) {
        throw Error(file + ": " + error.what());
      }
    }
  }

  // Waits until discovery contains it and its lists can be read.
  void await_served(const Json& definition) {
    for (const std::string& collection : collections(definition)) {
      plane.wait_until(Component::api_server,
                       apiserver::object_text(apiserver::ManifestObject(definition)) + " to be served",
                       [&] { return unserved(collection); });
    }
  }

  std::optional<std::string> unserved(const std::string& collection) const {
    const std::size_t slash = collection.rfind('/');
    for (const std::string& target : {collection.substr(0, slash), collection + "?limit=1"}) {
      const http::Response answer = plane.ask(apiserver::json_request(http::Method::get, target));
      if (answer.status != 200) return "GET " + target + " was answered with " + answer.body;
      const std::string entry = "\"name\":\"" + collection.substr(slash + 1) + "\"";
      if (target.size() == slash && answer.body.find(entry) == std::string::npos)
        return "GET " + target + " does not list it";
    }
    return std::nullopt;
  }

  ControlPlane plane;
};

Environment::Environment(EnvironmentOptions options) : state_(std::make_unique<State>(std::move(options))) {}

Environment::~Environment() = default;

std::string Environment::missing_programs(const EnvironmentOptions& options) {
  return find_components(options, FileSearch::of_this_machine()).problem;
}

std::string Environment::url() const {
  return state_->plane.url();
}
std::string Environment::certificate_authority() const {
  return state_->plane.authority().certificate;
}

Config Environment::config() const {
  Config config{.server = url(), .origin = "testing environment"};
  config.tls.ca_data = certificate_authority();
  config.proxy = "";
  config.token = state_->plane.token();
  return config;
}

Config Environment::config_for(const apiserver::Caller& caller) const {
  const apiserver::CertifiedKey client =
      apiserver::make_client_certificate(state_->plane.authority(), caller);
  Config config = this->config();
  config.token.clear();
  config.tls.cert_data = client.certificate;
  config.tls.key_data = client.key;
  return config;
}

std::string Environment::kubeconfig() const {
  return state_->plane.kubeconfig();
}

std::string Environment::kubeconfig_for(const apiserver::Caller& caller) const {
  const apiserver::CertifiedKey client =
      apiserver::make_client_certificate(state_->plane.authority(), caller);
  return apiserver::write_kubeconfig({.server = url(),
                                      .certificate_authority = certificate_authority(),
                                      .client_certificate = client.certificate,
                                      .client_key = client.key});
}

void Environment::install(std::string_view manifest) {
  state_->install(manifest);
}
void Environment::install_file(const std::string& path) {
  state_->install_file(path);
}
void Environment::kill(Component component) {
  state_->plane.kill(component);
}
void Environment::start(Component component) {
  state_->plane.start(component);
}
void Environment::restart(Component component) {
  kill(component);
  start(component);
}
std::string Environment::log(Component component) const {
  return state_->plane.log(component);
}
std::string Environment::directory() const {
  return state_->plane.directory();
}
void Environment::stop() noexcept {
  state_->plane.stop();
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
