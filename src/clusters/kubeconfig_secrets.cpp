// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <stdexcept>
#include <utility>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/base/text_hash.hpp>
#include <evenkeel/cache/cache.hpp>
#include <evenkeel/clusters/kubeconfig_secrets.hpp>

#include "client/config/foreign_kubeconfig.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

// Throws Error for what would be run or read on this machine.
void check_local(const Config& config) {
  const auto refuse = [](const char* field) {
    throw Error(std::string(field) +
                ": refused in a Secret; KubeconfigSecretsOptions::allow_local permits it");
  };
  if (!config.exec.empty()) refuse("exec");
  if (!config.token_file.empty()) refuse("tokenFile");
  if (!config.tls.ca_file.empty()) refuse("certificate-authority");
  if (!config.tls.cert_file.empty()) refuse("client-certificate");
  if (!config.tls.key_file.empty()) refuse("client-key");
}

/// Handles the events of the Secrets; used by one thread at a time.
class SecretHandler final : public EventHandler {
 public:
  SecretHandler(const KubeconfigSecretsOptions& options, ClusterSink& sink)
      : options_(options), sink_(sink) {}

  void on_event(const ObjectEvent& event) noexcept override {
    const WireObject& object = *event.object;
    const std::string secret = object.key().str();
    try {
      const std::string cluster = cluster_of(object);
      if (cluster.empty()) return;
      if (event.type == EventType::deleted) {
        versions_.erase(cluster);
        return sink_.withdraw(cluster);
      }
      offer(cluster, *object.decode<Secret>());
    } catch (const std::exception& error) {
      options_.log.error("clusters: a Secret has no usable kubeconfig",
                         {{"secret", secret}, {"error", error.what()}});
    }
  }

 private:
  // Returns the empty string for a Secret without the suffix.
  std::string cluster_of(const WireObject& object) const {
    std::string_view name = object.name();
    if (!name.ends_with(options_.name_suffix)) return {};
    name.remove_suffix(options_.name_suffix.size());
    if (!options_.namespace_.empty()) return std::string(name);
    return std::string(object.namespace_()).append(".").append(name);
  }

  void offer(const std::string& cluster, const Secret& secret) {
    const auto found = secret.data.find(options_.key);
    if (found == secret.data.end()) throw Error("data: there is no " + options_.key);
    const std::string& text = found->second.value();
    const std::string version = std::to_string(text_hash(text));
    if (versions_[cluster] == version) return;
    sink_.offer({.name = cluster, .config = config_of(text, "data." + options_.key), .version = version});
    versions_[cluster] = version;
  }

  // A file that is refused is not opened either: a named pipe would hold up the thread of the cache.
  Config config_of(const std::string& text, const std::string& name) const {
    if (options_.allow_local) return parse_kubeconfig(text, name);
    Config config = detail::parse_foreign_kubeconfig(text, name);
    check_local(config);
    return config;
  }

  const KubeconfigSecretsOptions& options_;
  ClusterSink& sink_;
  std::map<std::string, std::string> versions_;  // by cluster
};

class KubeconfigSecrets final : public ClusterProvider {
 public:
  KubeconfigSecrets(const Client& home, KubeconfigSecretsOptions options)
      : options_(std::move(options)),
        home_(home),
        name_("Secrets " + options_.label_selector +
              (options_.namespace_.empty() ? "" : " of namespace " + options_.namespace_)) {
    if (options_.key.empty()) throw std::invalid_argument("kubeconfig_secrets: key is empty");
    try {
      LabelSelector::parse(options_.label_selector);
    } catch (const DecodeError& error) {
      throw std::invalid_argument("kubeconfig_secrets: label_selector \"" + options_.label_selector +
                                  "\": " + error.problem());
    }
  }

  const std::string& name() const noexcept override { return name_; }
  std::vector<PolicyRule> rules() const override { return {{{""}, {"secrets"}, {"list", "watch"}}}; }
  std::string rules_namespace() const override { return options_.namespace_; }
  void run(ClusterSink& sink, std::stop_token stop) override {
    Cache cache(home_, {.log = options_.log});
    InformerOptions informer = cache.default_options();
    informer.namespace_ = options_.namespace_;
    informer.label_selector = options_.label_selector;
    informer.index_owners = false;
    cache.informer<Secret>(informer).add_handler(std::make_shared<SecretHandler>(options_, sink),
                                                 {.delivery = Delivery::direct});
    cache.start();
    Mutex mutex;
    CondVar changed;
    const StopWaker waker(stop, mutex, changed);
    MutexLock lock(mutex);
    while (!stop.stop_requested()) changed.wait(lock);
    lock.unlock();
    cache.stop();
  }

 private:
  const KubeconfigSecretsOptions options_;
  const Client home_;
  const std::string name_;
};

}  // namespace

KubeconfigSecretsOptions cluster_api_secrets() {
  return {.label_selector = "cluster.x-k8s.io/cluster-name", .key = "value", .name_suffix = "-kubeconfig"};
}

std::shared_ptr<ClusterProvider> kubeconfig_secrets(const Client& home, KubeconfigSecretsOptions options) {
  return std::make_shared<KubeconfigSecrets>(home, std::move(options));
}

}  // namespace v0
}  // namespace evenkeel
