// SPDX-License-Identifier: Apache-2.0
// The kind that the operators of benchmarks/webhook complete and validate; benchmarks/peers/webhook-go
// declares the same.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/evenkeel.hpp>

struct ShopPort {
  std::string name = {};
  std::int64_t port = 0;
  std::optional<std::string> protocol = {};
};
EVENKEEL_FIELDS(ShopPort, name, port, protocol)

struct ShopSpec {
  std::string image = {};
  std::optional<std::string> pull_policy = {};
  std::optional<std::int64_t> replicas = {};
  std::vector<ShopPort> ports = {};
  std::map<std::string, std::string> environment = {};
};
EVENKEEL_FIELDS(ShopSpec, image, pull_policy, replicas, ports, environment)

struct ShopStatus {
  std::optional<std::string> phase = {};
};
EVENKEEL_FIELDS(ShopStatus, phase)

struct Shop {
  static constexpr evenkeel::ResourceInfo resource{
      .group = "bench.evenkeel.dev", .version = "v1", .kind = "Shop", .plural = "shops"};
  evenkeel::ObjectMeta metadata = {};
  ShopSpec spec = {};
  ShopStatus status = {};
};
EVENKEEL_FIELDS(Shop, metadata, spec, status)
