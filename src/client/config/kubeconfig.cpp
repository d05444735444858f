// SPDX-License-Identifier: Apache-2.0
#include "client/config/kubeconfig.hpp"

#include <functional>

#include <evenkeel/api/bytes.hpp>

#include "api/yaml_scalar.hpp"
#include "base/ascii.hpp"
#include "base/files.hpp"
#include "base/in_quotes.hpp"
#include "base/limits.hpp"
#include "base/shown_url.hpp"
#include "client/config/credential_check.hpp"
#include "client/config/yaml_text.hpp"
#include "http/proxy.hpp"
#include "http/wire_check.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Values of an extension, or of a map with those that are merged into it.
constexpr std::size_t max_yaml_values = 100'000;

/// Reads the members of one map, and reports the position of invalid ones.
class Reader {
 public:
  Reader(std::string file, std::string context, std::string prefix, const YAML::Node& node,
         NamedFiles files = NamedFiles::read)
      : file_(std::move(file)),
        context_(std::move(context)),
        prefix_(std::move(prefix)),
        node_(node),
        files_(files) {
    if (node_.IsDefined() && !node_.IsNull() && !node_.IsMap()) {
      throw ConfigError(file_, context_, prefix_, std::string("expected a map, found ") + kind_of(node_));
    }
  }

  [[noreturn]] void fail(const std::string& name, const std::string& problem) const {
    throw ConfigError(file_, context_, prefix_.empty() ? name : prefix_ + ": " + name, problem);
  }

  YAML::Node member(const std::string& name) const {
    // Null if absent: yaml-cpp's undefined node throws when its type is read.
    YAML::Node found;
    each([&](const YAML::Node& key, const YAML::Node& value) {
      if (key.IsScalar() && key.Scalar() == name) found.reset(value);
    });
    return found;
  }
  /// Calls `visit` with each member, of which the last one of a name counts.
  void each(const std::function<void(const YAML::Node& key, const YAML::Node& value)>& visit) const {
    if (!node_.IsDefined() || !node_.IsMap()) return;
    std::size_t allowance = max_yaml_values;
    try {
      each_yaml_member(node_, allowance, visit);
    } catch (const DecodeError& error) {
      throw ConfigError(file_, context_, prefix_, error.problem());
    }
  }
  bool has(const std::string& name) const {
    const YAML::Node value = member(name);
    return value.IsDefined() && !value.IsNull();
  }

  /// Returns the text, or "" if absent or null.
  std::string text(const std::string& name) const {
    if (!has(name)) return {};
    const YAML::Node value = member(name);
    if (!value.IsScalar()) fail(name, std::string("expected text, found ") + kind_of(value));
    return scalar_text(name, value);
  }

  /// Returns a text that will be used in a header.
  std::string header_text(const std::string& name) const {
    std::string value = text(name);
    check_header(name, value);
    return value;
  }
  std::vector<std::string> header_texts(const std::string& name) const {
    std::vector<std::string> values = texts(name);
    for (std::size_t i = 0; i < values.size(); ++i)
      check_header(name + "[" + std::to_string(i) + "]", values[i]);
    return values;
  }

  bool flag(const std::string& name) const {
    const std::string value = text(name);
    const Json parsed = plain_scalar(value);  // also yes and on, as in YAML 1.1
    if (!value.empty() && parsed.kind() != Json::Kind::boolean)
      fail(name, "expected true or false, found \"" + value + "\"");
    return parsed.bool_or(false);
  }

  /// Returns decoded base64. Errors never show its text, which may be a key.
  std::string data(const std::string& name) const {
    const std::string encoded = text(name);
    auto decoded = Bytes::from_base64(encoded);
    if (!decoded) fail(name, "not base64");
    return decoded->value();
  }

  /// Returns the path of a file, or "". The file is readable, unless files are not touched.
  std::string path(const std::string& name) const {
    std::string path = text(name);
    if (path.empty()) return {};
    path = relative_to(path, file_);
    if (files_ == NamedFiles::untouched) return path;
    std::string problem;
    if (!read_file(path, problem, FileRule::regular)) fail(name, path + " cannot be read: " + problem);
    return path;
  }

  std::vector<YAML::Node> list(const std::string& name) const {
    if (!has(name)) return {};
    const YAML::Node value = member(name);
    if (!value.IsSequence()) fail(name, std::string("expected a list, found ") + kind_of(value));
    return {value.begin(), value.end()};
  }

  std::vector<std::string> texts(const std::string& name) const {
    std::vector<std::string> result;
    for (const YAML::Node& item : list(name)) {
      if (!item.IsScalar())
        fail(name, std::string("expected a list of texts, found ") + kind_of(item) + " in it");
      result.push_back(scalar_text(name, item));
    }
    return result;
  }

  Reader child(const std::string& name) const {
    return {file_, context_, prefix_.empty() ? name : prefix_ + ": " + name, member(name), files_};
  }
  Reader item(const std::string& name, std::size_t index, const YAML::Node& node) const {
    return {file_, context_,
            (prefix_.empty() ? name : prefix_ + ": " + name) + "[" + std::to_string(index) + "]", node,
            files_};
  }

 private:
  std::string scalar_text(const std::string& name, const YAML::Node& value) const {
    try {
      return yaml_text(value);
    } catch (const DecodeError& error) {
      fail(name, error.problem());
    }
  }
  void check_header(const std::string& name, const std::string& value) const {
    const std::string problem = http::detail::header_value_problem(value);
    if (!problem.empty()) fail(name, problem);
  }

  std::string file_;
  std::string context_;
  std::string prefix_;
  YAML::Node node_;
  NamedFiles files_;
};

/// Returns the URL of a server that may be given as HOST:PORT, as client-go reads it: https if there is a CA,
/// or none is wanted; without a query.
std::string server_url(const Reader& cluster, bool is_tls) {
  std::string server = cluster.text("server");
  if (server.empty()) cluster.fail("server", "missing");
  const auto fail = [&](const std::string& problem) {
    cluster.fail("server", problem + ", found \"" + shown_url(server) + "\"");
  };
  const std::size_t mark = server.find("://");
  std::string scheme = is_tls ? "https://" : "http://";
  std::string rest = server;
  if (mark != std::string::npos) {
    scheme = ascii::lower(server.substr(0, mark + 3));
    rest = server.substr(mark + 3);
    if (scheme != "https://" && scheme != "http://")
      fail("expected a URL that starts with https:// or http://");
  } else if (rest.find('/') < rest.size() - 1) {
    fail("expected a URL, or HOST:PORT");
  }
  const std::size_t path = std::min(rest.find_first_of("/?#"), rest.size());
  if (rest.find('@') < path) cluster.fail("server", "must not carry a user or password");
  if (path == 0) fail("expected a host");
  return scheme + rest.substr(0, rest.find_first_of("?#"));
}

void take_cluster(Config& config, const Reader& cluster) {
  config.tls.ca_data = cluster.data("certificate-authority-data");
  if (config.tls.ca_data.empty()) config.tls.ca_file = cluster.path("certificate-authority");
  config.tls.server_name = cluster.text("tls-server-name");
  config.tls.insecure = cluster.flag("insecure-skip-tls-verify");
  const bool has_ca = !config.tls.ca_data.empty() || !config.tls.ca_file.empty();
  config.server = server_url(cluster, has_ca || config.tls.insecure);
  if (config.tls.insecure && has_ca) {
    cluster.fail("insecure-skip-tls-verify",
                 "true, although a certificate-authority is given; remove one of them");
  }
  if (cluster.flag("disable-compression")) config.compression = false;
  const std::string proxy = cluster.text("proxy-url");
  if (proxy.empty()) return;
  if (const std::string problem = http::detail::proxy_problem(proxy); !problem.empty())
    cluster.fail("proxy-url", in_quotes(shown_url(proxy)) + ": " + problem);
  config.proxy = proxy;
}

// Source: client-go tools/clientcmd/validation.go, and SetDefaults_ExecConfig for the default of v1beta1.
ExecInteractiveMode interactive_mode(const Reader& reader, bool optional) {
  const std::string mode = reader.text("interactiveMode");
  if (mode == "Never") return ExecInteractiveMode::never;
  if (mode == "IfAvailable" || (mode.empty() && optional)) return ExecInteractiveMode::if_available;
  if (mode == "Always") return ExecInteractiveMode::always;
  reader.fail("interactiveMode", std::string("expected Never, IfAvailable or Always") +
                                     (mode.empty() ? ", which client.authentication.k8s.io/v1 requires"
                                                   : ", found \"" + mode + "\""));
}

void take_exec(ExecPlugin& exec, const Reader& reader) {
  exec.command = reader.text("command");
  if (exec.command.empty()) reader.fail("command", "missing");
  exec.api_version = reader.text("apiVersion");
  exec.args = reader.texts("args");
  exec.install_hint = reader.text("installHint");
  exec.provide_cluster_info = reader.flag("provideClusterInfo");
  std::size_t index = 0;
  for (const YAML::Node& node : reader.list("env")) {
    const Reader variable = reader.item("env", index++, node);
    exec.env.emplace_back(variable.text("name"), variable.text("value"));
  }
  const bool is_beta = exec.api_version == "client.authentication.k8s.io/v1beta1";
  if (!is_beta && exec.api_version != "client.authentication.k8s.io/v1") {
    reader.fail("apiVersion",
                "expected client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1" +
                    (exec.api_version.empty() ? "" : ", found \"" + exec.api_version + "\""));
  }
  exec.interactive_mode = interactive_mode(reader, is_beta);
}

// The name under which a cluster has an extension for credential programs.
constexpr const char* exec_extension = "client.authentication.k8s.io/exec";

void take_extension(ExecPlugin& exec, const Reader& cluster) {
  std::size_t index = 0;
  for (const YAML::Node& node : cluster.list("extensions")) {
    const Reader extension = cluster.item("extensions", index++, node);
    if (extension.text("name") != exec_extension) continue;
    try {
      exec.cluster_config = yaml_to_json(extension.member("extension"), max_yaml_values).dump();
    } catch (const DecodeError& error) {
      extension.fail("extension", error.what());
    }
  }
}

void take_user(Config& config, const Reader& user, const std::string& file) {
  config.tls.cert_data = user.data("client-certificate-data");
  if (config.tls.cert_data.empty()) config.tls.cert_file = user.path("client-certificate");
  config.tls.key_data = user.data("client-key-data");
  if (config.tls.key_data.empty()) config.tls.key_file = user.path("client-key");
  const bool has_cert = !config.tls.cert_data.empty() || !config.tls.cert_file.empty();
  const bool has_key = !config.tls.key_data.empty() || !config.tls.key_file.empty();
  if (has_cert && !has_key) user.fail("client-key", "missing, although there is a client-certificate");
  if (has_key && !has_cert) user.fail("client-certificate", "missing, although there is a client-key");
  config.token = user.header_text("token");
  config.token_file = user.path("tokenFile");
  config.username = user.header_text("username");
  config.password = user.header_text("password");
  config.impersonate.user = user.header_text("as");
  config.impersonate.uid = user.header_text("as-uid");
  config.impersonate.groups = user.header_texts("as-groups");
  const Reader extra = user.child("as-user-extra");
  if (user.has("as-user-extra")) {
    extra.each([&](const YAML::Node& key, const YAML::Node&) {
      if (!key.IsScalar())
        user.fail("as-user-extra", std::string("expected texts as keys, found ") + kind_of(key));
      config.impersonate.extra[key.Scalar()] = extra.header_texts(key.Scalar());
    });
  }
  const Impersonation& as = config.impersonate;
  if (as.user.empty() && (!as.uid.empty() || !as.groups.empty() || !as.extra.empty()))
    user.fail("as", "missing, although there is as-uid, as-groups or as-user-extra");
  if (user.has("auth-provider")) {
    const std::string name = user.child("auth-provider").text("name");
    user.fail("auth-provider",
              (name == "oidc" ? "oidc is not supported" : "no longer supported") + std::string("; use exec"));
  }
  if (!user.has("exec")) return;
  take_exec(config.exec, user.child("exec"));
  // A bare name is looked up in PATH, anything with a slash is relative to the file.
  if (config.exec.command.find('/') != std::string::npos)
    config.exec.command = relative_to(config.exec.command, file);
}

}  // namespace

bool Kubeconfig::add(const std::string& file, std::string_view text) {
  files_ += (files_.empty() ? "" : ":") + file;
  YAML::Node root;
  try {
    if (text.size() > limits::file_bytes)
      throw ConfigError(file, "", "", "longer than " + std::to_string(limits::file_bytes) + " bytes");
    root = load_yaml(std::string(text));
  } catch (const YAML::ParserException& error) {
    throw ConfigError(file, "", "",
                      "not YAML: line " + std::to_string(error.mark.line + 1) + ", column " +
                          std::to_string(error.mark.column + 1) + ": " + error.msg);
  }
  if (!root.IsDefined() || root.IsNull()) return false;
  const Reader reader(file, "", "", root);
  if (current_context_.empty()) current_context_ = reader.text("current-context");
  add_section(file, root, "clusters", "cluster", clusters_);
  add_section(file, root, "users", "user", users_);
  add_section(file, root, "contexts", "context", contexts_);
  return true;
}

void Kubeconfig::add_section(const std::string& file, const YAML::Node& root, const std::string& list,
                             const std::string& item, Section& section) {
  const Reader reader(file, "", "", root);
  std::size_t index = 0;
  for (const YAML::Node& node : reader.list(list)) {
    const Reader entry = reader.item(list, index++, node);
    const std::string name = entry.text("name");
    if (name.empty()) continue;  // nothing can use it
    section.try_emplace(name, Entry{file, entry.member(item)});
  }
}

const Kubeconfig::Entry& Kubeconfig::find(const Section& section, const char* what, const std::string& name,
                                          const Entry& asking, const std::string& context) const {
  const auto found = section.find(name);
  if (found == section.end())
    throw ConfigError(asking.file, context, what + (" " + in_quotes(name)), "not found");
  return found->second;
}

Config Kubeconfig::resolve(const std::string& wanted, NamedFiles files) const {
  const std::string name = wanted.empty() ? current_context_ : wanted;
  if (name.empty()) throw ConfigError(files_, "", "current-context", "not set");
  const auto found = contexts_.find(name);
  if (found == contexts_.end()) {
    std::string known;
    for (const auto& [other, entry] : contexts_) known += (known.empty() ? "" : ", ") + other;
    throw ConfigError(files_, name, "", "not found; there " + (known.empty() ? "are none" : "is: " + known));
  }
  const Entry& entry = found->second;
  const Reader context(entry.file, name, "", entry.node);
  const std::string cluster_name = context.text("cluster");
  const std::string user_name = context.text("user");
  if (cluster_name.empty()) context.fail("cluster", "missing");

  Config config;
  if (const std::string space = context.text("namespace"); !space.empty()) config.namespace_ = space;
  const Entry& cluster = find(clusters_, "cluster", cluster_name, entry, name);
  take_cluster(config, Reader(cluster.file, name, "cluster " + in_quotes(cluster_name), cluster.node, files));
  config.origin = entry.file + ", context " + in_quotes(name);
  if (user_name.empty()) return config;
  const Entry& user = find(users_, "user", user_name, entry, name);
  Config with_user = config;
  take_user(with_user, Reader(user.file, name, "user " + in_quotes(user_name), user.node, files), user.file);
  if (with_user.exec.provide_cluster_info)
    take_extension(with_user.exec,
                   Reader(cluster.file, name, "cluster " + in_quotes(cluster_name), cluster.node));
  if (config.server.starts_with("https://")) return with_user;
  config.impersonate = with_user.impersonate;  // no credential, of which none is sent over plain http
  if (has_credentials(with_user))
    config.origin += ", without its credentials, because the server is plain http";
  return config;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
