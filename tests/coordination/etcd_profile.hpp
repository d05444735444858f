// SPDX-License-Identifier: Apache-2.0
// The profile of EtcdStore for the store suite, on an endpoint of etcd or of the stand-in.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/http/curl_transport.hpp>

#include "store_suite.hpp"

namespace evenkeel::tests {

/// `endpoint` is called when a case begins.
inline StoreProfile etcd_profile(std::string name, std::function<std::string()> endpoint) {
  const auto open = [endpoint](const std::string&) {
    // A small page, so that scans have several.
    return std::make_shared<coordination::EtcdStore>(
        coordination::EtcdStoreOptions{.endpoints = {endpoint()}, .page_entries = 100});
  };
  const auto unreachable = [](const std::string&) {
    return std::make_shared<coordination::EtcdStore>(
        coordination::EtcdStoreOptions{.endpoints = {"http://127.0.0.1:1", "http://127.0.0.1:2"}});
  };
  const auto forget = [endpoint](coordination::Store& store) {
    const auto transport = http::make_curl_transport({.server = endpoint(), .proxy = ""});
    const std::string revision = std::to_string(store.snapshot()->version());
    const http::Response answer =
        transport->fetch({.method = http::Method::post,
                          .target = "/v3/kv/compaction",
                          .body = R"({"revision":")" + revision + R"(","physical":true})"});
    ASSERT_EQ(answer.status, 200) << answer.body;
  };
  return {.name = std::move(name),
          .open = open,
          .open_unreachable = unreachable,
          .forget = forget,
          .sees_bare_erases = false};
}

}  // namespace evenkeel::tests
