// SPDX-License-Identifier: Apache-2.0
#include "manager/webhook_table.hpp"

#include <stdexcept>
#include <utility>

#include "webhook/taken_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

void check_open(bool closed, const ResourceId& resource) {
  if (closed)
    throw std::invalid_argument("Manager: webhooks of " + resource.kind +
                                " were added after run() was called");
}

}  // namespace

void WebhookTable::add(Webhook webhook) {
  MutexLock lock(mutex_);
  check_open(closed_, webhook.resource());
  for (const Webhook& known : webhooks_) {
    if (mutate_path(known.resource()) == mutate_path(webhook.resource()))
      throw std::invalid_argument("Manager: " + taken_path(known, webhook));
  }
  webhooks_.push_back(std::move(webhook));
}

void WebhookTable::add(Conversion conversion) {
  MutexLock lock(mutex_);
  check_open(closed_, conversion.hub());
  for (const Conversion& known : conversions_) {
    if (known.hub().group == conversion.hub().group && known.hub().kind == conversion.hub().kind)
      throw std::invalid_argument("Manager: " + conversion.hub().kind + " (" + conversion.hub().group +
                                  ") has a conversion already");
  }
  conversions_.push_back(std::move(conversion));
}

void WebhookTable::close() {
  MutexLock lock(mutex_);
  closed_ = true;
}

bool WebhookTable::are_served() const {
  MutexLock lock(mutex_);
  return closed_ && !(webhooks_.empty() && conversions_.empty());
}

std::vector<Webhook> WebhookTable::webhooks() const {
  MutexLock lock(mutex_);
  return webhooks_;
}
std::vector<Conversion> WebhookTable::conversions() const {
  MutexLock lock(mutex_);
  return conversions_;
}

std::vector<Json> WebhookTable::crds() const {
  std::vector<Json> found;
  for (const Conversion& conversion : conversions()) {
    for (const Conversion::Version& version : conversion.versions()) {
      if (version.crd) found.push_back(version.crd());
    }
  }
  return found;
}

std::vector<std::string> WebhookTable::converted_crds() const {
  MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const Conversion& conversion : conversions_)
    names.push_back(conversion.hub().plural + "." + conversion.hub().group);
  return names;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
