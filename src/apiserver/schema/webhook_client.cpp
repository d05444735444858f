// SPDX-License-Identifier: Apache-2.0
#include "apiserver/schema/webhook_client.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <evenkeel/api/bytes.hpp>

#include "apiserver/schema/name_rules.hpp"
#include "apiserver/text/certificate_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using Errors = std::vector<FieldError>;

/// Segments of a path must be subdomains. Source: apiserver pkg/util/webhook ValidateWebhookService.
void check_webhook_path(const std::string& path, const std::string& field, Errors& errors) {
  if (path.empty() || path == "/") return;
  const auto refuse = [&](const std::string& problem) {
    errors.push_back(field_invalid(field, path, problem));
  };
  if (path == "//") return refuse("segment[0] may not be empty");
  if (!path.starts_with('/')) refuse("must start with a '/'");
  std::string rest = path.substr(1);
  if (rest.ends_with('/')) rest.pop_back();
  for (std::size_t index = 0;; ++index) {
    const std::size_t slash = rest.find('/');
    const std::string segment = rest.substr(0, slash);
    const std::string here = "segment[" + std::to_string(index) + "]";
    if (segment.empty()) refuse(here + " may not be empty");
    for (const std::string& problem :
         segment.empty() ? std::vector<std::string>() : name_problems(segment, NameRule::dns_subdomain))
      refuse(here + ": " + problem);
    if (slash == std::string::npos) return;
    rest.erase(0, slash + 1);
  }
}

void check_webhook_service(const Json& service, const std::string& here, Errors& errors) {
  // A real server confuses the two fields in the errors.
  if (service["namespace"].string_or("").empty()) errors.push_back(field_required(here + ".name"));
  if (service["name"].string_or("").empty()) errors.push_back(field_required(here + ".namespace"));
  if (const std::int64_t port = service["port"].integer_or(443); port < 1 || port > 65535)
    errors.push_back(field_invalid(here + ".port", Json(port),
                                   "port is not valid: must be between 1 and 65535, inclusive"));
  check_webhook_path(service["path"].string_or(""), here + ".path", errors);
}

/// The parts of a URL that its validation looks at.
struct UrlParts {
  std::string scheme = {};
  std::string user = {};
  std::string host = {};
  std::string query = {};
  std::string fragment = {};
};

/// Returns what follows the first `mark`, and cuts it off.
std::string cut(std::string& text, char mark) {
  const std::size_t at = text.find(mark);
  if (at == std::string::npos) return {};
  std::string rest = text.substr(at + 1);
  text.resize(at);
  return rest;
}

UrlParts parts_of(std::string url) {
  UrlParts out;
  out.fragment = cut(url, '#');
  out.query = cut(url, '?');
  const std::size_t scheme = url.find("://");
  if (scheme == std::string::npos) return out;
  out.scheme = url.substr(0, scheme);
  out.host = url.substr(scheme + 3, url.find('/', scheme + 3) - scheme - 3);
  if (const std::size_t at = out.host.rfind('@'); at != std::string::npos) {
    out.user = out.host.substr(0, at);
    out.host.erase(0, at + 1);
  }
  return out;
}

void check_webhook_url(const std::string& url, const std::string& field, Errors& errors) {
  const std::string form = "; desired format: https://host[/path]";
  const UrlParts parts = parts_of(url);
  const auto refuse = [&](const std::string& value, const std::string& problem) {
    errors.push_back(field_invalid(field, value, problem));
  };
  if (parts.scheme != "https") refuse(parts.scheme, "'https' is the only allowed URL scheme" + form);
  if (parts.host.empty()) refuse(parts.host, "host must be specified" + form);
  if (!parts.user.empty()) refuse(parts.user, "user information is not permitted in the URL");
  if (!parts.fragment.empty()) refuse(parts.fragment, "fragments are not permitted in the URL");
  if (!parts.query.empty()) refuse(parts.query, "query parameters are not permitted in the URL");
}

}  // namespace

void check_webhook_client(const Json& client, const std::string& path, Errors& errors) {
  const bool url = client["url"].is_string();
  if (url == client["service"].is_object())
    return errors.push_back(field_required(path, "exactly one of url or service is required"));
  if (url) return check_webhook_url(client["url"].as_string(), path + ".url", errors);
  check_webhook_service(client["service"], path + ".service", errors);
}

std::string ca_bundle_problem(const Json& bundle) {
  const auto bytes = Bytes::from_base64(bundle.string_or(""));
  if (!bytes || bytes->value().empty() || certificate_problem(bytes->value()).empty()) return {};
  return "unable to load root certificates: unable to parse bytes as PEM block";
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
