// SPDX-License-Identifier: Apache-2.0
// The lists and watches of an informer, sent by a client.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <evenkeel/cache/informer.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Lists and watches through a client.
class ClientSource final : public CollectionSource {
 public:
  ClientSource(Client client, ResourceId resource, const InformerOptions& options, WireForm form)
      : client_(std::move(client)) {
    request_.resource = std::move(resource);
    request_.namespace_ = options.namespace_;
    if (!options.label_selector.empty()) request_.query.emplace_back("labelSelector", options.label_selector);
    if (!options.field_selector.empty()) request_.query.emplace_back("fieldSelector", options.field_selector);
    metadata_only_ = form == WireForm::metadata_only;
  }

  std::shared_ptr<http::Call> stream(const ReflectorStep& step,
                                     std::shared_ptr<http::StreamHandler> handler) override {
    RestRequest request = request_;
    for (auto& parameter : query_of(step)) add(request, std::move(parameter));
    if (metadata_only_) request.accept = accept_metadata(std::holds_alternative<ListRequest>(step));
    return client_.stream(request, std::move(handler));
  }

 private:
  /// Adds a parameter. Of two selectors by labels both apply.
  static void add(RestRequest& request, std::pair<std::string, std::string> parameter) {
    const auto label_selector = std::find_if(request.query.begin(), request.query.end(),
                                             [](const auto& one) { return one.first == "labelSelector"; });
    if (parameter.first == "labelSelector" && label_selector != request.query.end())
      label_selector->second += "," + parameter.second;
    else
      request.query.push_back(std::move(parameter));
  }

  const Client client_;
  RestRequest request_;
  bool metadata_only_ = false;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
