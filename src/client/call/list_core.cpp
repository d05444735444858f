// SPDX-License-Identifier: Apache-2.0
#include "client/call/list_core.hpp"

#include <algorithm>

#include <evenkeel/api/json.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/list_splitter.hpp>

#include "base/limits.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

void split_list(const std::string& body, RawList& list, const std::string& what) {
  try {
    ListSplitter splitter;
    splitter.feed(body);
    while (const auto item = splitter.next())
      list.items.push_back(*item);  // complete, hence a view into body
    const ListMetadata& metadata = splitter.finish();
    list.resource_version = metadata.resource_version;
    list.continue_token = metadata.continue_token;
  } catch (const DecodeError& error) {
    throw DecodeError(what, error.what());
  }
}

ListCore::ListCore(const ResourceId& resource, const ListOptions& options, ListForm form)
    : resource_(resource), options_(options), form_(form), continue_(options.continue_token) {}

std::size_t ListCore::page_limit() const {
  if (whole_) return 0;
  if (options_.limit == 0) return options_.page_size;
  const std::size_t left = options_.limit - list_.items.size();
  return options_.page_size == 0 ? left : std::min(left, options_.page_size);
}

std::optional<RestRequest> ListCore::next_request() {
  if (complete_) return std::nullopt;
  return page_request();
}

RestRequest ListCore::page_request() const {
  RestRequest request{.resource = resource_,
                      .namespace_ = options_.namespace_,
                      .may_be_partial = form_ == ListForm::may_be_partial};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) request.query.emplace_back(name, value);
  };
  add("labelSelector", options_.label_selector);
  add("fieldSelector", options_.field_selector);
  if (const std::size_t limit = page_limit(); limit > 0) add("limit", std::to_string(limit));
  add("continue", continue_);
  if (continue_.empty()) {  // the token contains the version
    add("resourceVersion", options_.resource_version);
    add("resourceVersionMatch", options_.resource_version_match);
  }
  return request;
}

void ListCore::on_response(http::Response response) {
  bytes_ += response.body.size();
  if (bytes_ > limits::list_bytes || list_.bodies.size() >= limits::list_pages) {
    throw DecodeError(object_path(page_request()), "the list is longer than " +
                                                       std::to_string(limits::list_bytes) + " bytes or " +
                                                       std::to_string(limits::list_pages) + " pages");
  }
  auto body = std::make_shared<const std::string>(std::move(response.body));
  RawList page;
  split_list(*body, page, object_path(page_request()));
  list_.items.insert(list_.items.end(), page.items.begin(), page.items.end());
  list_.bodies.push_back(std::move(body));
  list_.ends.push_back(list_.items.size());
  if (list_.resource_version.empty()) list_.resource_version = page.resource_version;
  continue_ = page.continue_token;
  list_.continue_token = page.continue_token;
  complete_ = continue_.empty() || (options_.limit != 0 && list_.items.size() >= options_.limit);
}

bool ListCore::on_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const ApiError& refusal) {
    // The caller is responsible for its own token, and for a limited list. A server that pages the whole
    // list, too, and lets each token expire, would be asked forever.
    if (!refusal.is_gone() || continue_.empty() || whole_ || !options_.continue_token.empty() ||
        options_.limit != 0)
      return false;
  } catch (...) {
    return false;
  }
  list_ = {};
  bytes_ = 0;
  continue_.clear();
  whole_ = true;
  return true;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
