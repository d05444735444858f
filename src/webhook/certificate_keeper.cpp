// SPDX-License-Identifier: Apache-2.0
#include "webhook/certificate_keeper.hpp"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/time.hpp>
#include <evenkeel/client/resource_client.hpp>

#include "serve/tls_context.hpp"
#include "webhook/certificate_plan.hpp"
#include "webhook/x509.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Keys of the Secret; the first three are those of kubernetes.io/tls.
constexpr const char* serving_certificate = "tls.crt";
constexpr const char* serving_key = "tls.key";
constexpr const char* authorities = "ca.crt";
constexpr const char* authority_key = "ca.key";

CertificateOptions with_secret(CertificateOptions options, const WebhookService& service) {
  if (service.name.empty() || service.namespace_.empty())
    throw std::invalid_argument("webhooks: the service needs a name and a namespace");
  check_certificate_options(options);
  if (options.secret.empty()) options.secret = service.name + "-certificates";
  return options;
}

std::string value_of(const Secret& secret, const char* key) {
  const auto found = secret.data.find(key);
  return found == secret.data.end() ? std::string() : found->second.value();
}

// Certificates that cannot be read are left out.
std::vector<std::string> authorities_of(const Secret& secret) {
  std::vector<std::string> found = split_bundle(value_of(secret, authorities));
  std::erase_if(found, [](const std::string& each) { return !lifetime_of(each); });
  return found;
}

http::TlsPair serving_of(const Secret& secret) {
  return {value_of(secret, serving_certificate), value_of(secret, serving_key)};
}

// Returns false for a pair that no server of ours takes, for instance with a weak key or a broken chain.
bool serves(const http::TlsPair& pair) {
  if (!match(pair)) return false;
  try {
    (void)http::detail::make_tls_context(pair.certificate, pair.key);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

CertificateState state_of(const Secret& secret, const std::vector<std::string>& bundle,
                          const std::vector<std::string>& names) {
  CertificateState state;
  for (const std::string& authority : bundle) state.authorities.push_back(*lifetime_of(authority));
  state.can_sign = !bundle.empty() && can_sign({bundle.front(), value_of(secret, authority_key)}, names);
  const http::TlsPair serving = serving_of(secret);
  if (!serves(serving)) return state;
  state.serving = CertificateState::Serving{.lifetime = *lifetime_of(serving.certificate)};
  state.serving->names_match = std::all_of(
      names.begin(), names.end(), [&](const std::string& name) { return is_for(serving.certificate, name); });
  for (std::size_t at = 0; at < bundle.size() && !state.serving->signer; ++at) {
    if (is_signed_by(serving.certificate, bundle[at])) state.serving->signer = at;
  }
  return state;
}

Lifetime from_now(WallTime now, Duration validity) {
  return {now - std::chrono::duration_cast<WallTime::duration>(certificate_backdate),
          now + std::chrono::duration_cast<WallTime::duration>(validity)};
}

std::string joined(const std::vector<std::string>& bundle) {
  std::string text;
  for (const std::string& each : bundle) text += each;
  return text;
}

}  // namespace

std::vector<std::string> serving_names(const WebhookService& service, const std::vector<std::string>& more) {
  const std::string base = service.name + "." + service.namespace_ + ".svc";
  std::vector<std::string> names = {base, base + ".cluster.local"};
  for (const std::string& name : more) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

CertificateKeeper::CertificateKeeper(Client client, WebhookService service, CertificateOptions options,
                                     Log log, std::shared_ptr<const Clock> clock)
    : client_(std::move(client)),
      service_(std::move(service)),
      options_(with_secret(std::move(options), service_)),
      names_(serving_names(service_, options_.names)),
      log_(log.with({{"secret", service_.namespace_ + "/" + options_.secret}})),
      clock_(std::move(clock)) {}

// Both are replaced at once, so that this is logged once for each.
void CertificateKeeper::warn_of_the_future(const CertificateState& state, WallTime now) const {
  const auto warn = [&](const char* what, WallTime begin) {
    if (begin <= now) return;
    log_.warn(
        "a certificate of the webhooks is not valid yet and is replaced: the clock of this replica is "
        "behind, "
        "or that of the replica that made it is ahead",
        {{"certificate", what}, {"valid_from", Time(begin).str()}, {"now", Time(now).str()}});
  };
  if (!state.authorities.empty()) warn("authority", state.authorities.front().begin);
  if (state.serving) warn("serving", state.serving->lifetime.begin);
}

// Returns true if the Secret was changed.
bool CertificateKeeper::update(Secret& secret, WallTime now) {
  std::vector<std::string> bundle = authorities_of(secret);
  std::string contents = to_tree(secret)["data"].dump();
  if (contents != judged_) {
    state_ = state_of(secret, bundle, names_);
    judged_ = std::move(contents);
  }
  warn_of_the_future(state_, now);
  const CertificatePlan plan = plan_certificates(state_, options_, now);
  if (plan.empty()) return false;
  for (auto at = plan.drop.rbegin(); at != plan.drop.rend(); ++at) {
    bundle.erase(bundle.begin() + static_cast<std::ptrdiff_t>(*at));
    log_.info("dropped an authority of which no certificate is left");
  }
  if (plan.make_authority) {
    const http::TlsPair made =
        make_authority(service_.name + "-authority", from_now(now, options_.authority_validity));
    bundle.insert(bundle.begin(), made.certificate);
    secret.data[authority_key] = made.key;
  }
  if (plan.issue) {
    const http::TlsPair made = make_serving({bundle.front(), value_of(secret, authority_key)}, names_,
                                            from_now(now, options_.validity));
    secret.data[serving_certificate] = made.certificate;
    secret.data[serving_key] = made.key;
  }
  secret.data[authorities] = joined(bundle);
  log_.info("changed the certificates of the webhooks", {{"new_authority", plan.make_authority},
                                                         {"new_certificate", plan.issue},
                                                         {"authorities", bundle.size()}});
  return true;
}

WebhookCertificates CertificateKeeper::refresh() {
  constexpr int attempts = 5;
  const ResourceClient secrets = client_.resource(Secret::resource);
  for (int attempt = 1;; ++attempt) {
    const auto found = secrets.find({service_.namespace_, options_.secret});
    Secret secret = found ? found->as<Secret>() : Secret();
    try {
      if (update(secret, clock_->wall_now())) {
        DynamicObject object =
            found ? *found : DynamicObject(Secret::resource, service_.namespace_, options_.secret);
        if (!found) object["type"] = "kubernetes.io/tls";
        object["data"] = Json(to_tree(secret)["data"]);
        if (found)
          secrets.update(object);
        else
          secrets.create(object);
      }
      return {serving_of(secret), joined(authorities_of(secret))};
    } catch (const ApiError& error) {
      const bool another_wrote = error.is_conflict() || error.is_already_exists() || error.is_not_found();
      if (!another_wrote || attempt == attempts) throw;
    }
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
