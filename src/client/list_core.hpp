// SPDX-License-Identifier: Apache-2.0
// Decisions of a paged list: the next request, and the end of the list. No sockets.
#pragma once

#include <memory>
#include <string>

#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// State of one paged list.
/// Driver:
///  1. sends next_request();
///  2. calls on_page() with the response, or on_error(), and begins again at 1 if the list is not complete;
///  3. takes the list with take_result().
/// Thread safety: one thread at a time.
class ListCore {
 public:
  ListCore(const ResourceId& resource, const ListOptions& options);

  RestRequest next_request() const;
  /// Handles a page; returns true when the list is complete. Throws DecodeError.
  bool on_page(http::Response response);
  /// Handles an error of a page. Returns true to start over without paging; false: the error is for the
  /// caller.
  bool on_error(const std::exception_ptr& error);
  RawList take_result() { return std::move(list_); }

 private:
  std::size_t page_limit() const;

  const ResourceId resource_;
  const ListOptions options_;
  RawList list_;
  std::string continue_;   // token of the next page
  std::size_t bytes_ = 0;  // of all pages
  bool whole_ = false;     // paging was given up
};

/// Splits the text of a list into items; the views point into `body`, which must not move.
void split_list(const std::string& body, RawList& list, const std::string& what);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
