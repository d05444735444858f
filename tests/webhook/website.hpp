// SPDX-License-Identifier: Apache-2.0
// A kind with two versions, for tests of webhooks.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/metadata.hpp>

namespace evenkeel::webhook_tests {

struct SitePort {
  std::string name;
  int port = 80;
};
EVENKEEL_FIELDS(SitePort, name, port)

struct WebsiteSpec {
  std::optional<int> replicas;
  std::string image;
  std::vector<SitePort> ports;
};
EVENKEEL_FIELDS(WebsiteSpec, replicas, image, ports)

struct Website {
  static constexpr ResourceInfo resource{.group = "demo.example.com",
                                         .version = "v2",
                                         .kind = "Website",
                                         .plural = "websites",
                                         .installs_crd = true};
  ObjectMeta metadata;
  WebsiteSpec spec;
};
EVENKEEL_FIELDS(Website, metadata, spec)

struct OldWebsiteSpec {
  int size = 1;
  std::string image;
};
EVENKEEL_FIELDS(OldWebsiteSpec, size, image)

struct OldWebsite {
  static constexpr ResourceInfo resource{.group = "demo.example.com",
                                         .version = "v1",
                                         .kind = "Website",
                                         .plural = "websites",
                                         .installs_crd = true};
  static constexpr CrdVersion crd_version{.storage = false, .deprecation_warning = "use v2"};
  ObjectMeta metadata;
  OldWebsiteSpec spec;
};
EVENKEEL_FIELDS(OldWebsite, metadata, spec)

}  // namespace evenkeel::webhook_tests
