// SPDX-License-Identifier: Apache-2.0
// Websites with defaults, validation and two versions. There is no controller: webhooks work without one.
//
//     webhook-operator --print-manifests --webhook-service=default/websites | kubectl apply -f -
//     webhook-operator --webhook-service=default/websites
//
// The manifests include the webhook configurations, without which the API server calls no webhook.
// docs/webhooks.md explains the parts.
#include "website.hpp"

namespace {

void set_up(ek::Manager& manager) {
  manager.add(website_webhook());
  manager.add(website_conversion());
}

}  // namespace

int main(int argc, char** argv) {
  return ek::run(argc, argv, {.name = "webhook-operator", .description = "Websites with webhooks"}, set_up);
}
