// SPDX-License-Identifier: Apache-2.0
// Decisions of a paged list: the next request, and the end of the list. No sockets.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include <evenkeel/client/call.hpp>
#include <evenkeel/client/options.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

enum class ListForm : std::uint8_t { whole, may_be_partial };

/// State of one paged list.
/// Driver: as that of every CallCore.
class ListCore final : public CallCore {
 public:
  ListCore(const ResourceId& resource, const ListOptions& options, ListForm form = ListForm::whole);

  std::optional<RestRequest> next_request() override;
  void on_response(http::Response response) override;
  /// Returns true to start over without paging, once: the pages that are left have expired.
  bool on_error(const std::exception_ptr& error) override;
  CallAnswer take_answer() override { return {.list = std::move(list_)}; }

 private:
  RestRequest page_request() const;
  std::size_t page_limit() const;

  const ResourceId resource_;
  const ListOptions options_;
  const ListForm form_;
  RawList list_;
  std::string continue_;   // token of the next page
  std::size_t bytes_ = 0;  // of all pages
  bool whole_ = false;     // paging was given up
  bool complete_ = false;
};

/// Splits the text of a list into items; the views point into `body`, which must not move.
void split_list(const std::string& body, RawList& list, const std::string& what);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
