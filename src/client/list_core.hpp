// SPDX-License-Identifier: Apache-2.0
// A list page by page: which request is next, and when it is whole. No sockets.
#pragma once

#include <memory>
#include <string>

#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Thread safety: one thread at a time.
class ListCore {
 public:
  ListCore(const ResourceId& resource, const ListOptions& options);

  RestRequest next_request() const;
  /// Takes a page; true when the list is whole. Throws DecodeError.
  bool take(http::Response response);
  /// Takes the refusal of a page. True: begin anew, in one piece; false: the error is the caller's.
  bool take_error(const std::exception_ptr& error);
  RawList result() { return std::move(list_); }

 private:
  std::size_t page_limit() const;

  const ResourceId resource_;
  const ListOptions options_;
  RawList list_;
  std::string continue_;   // of the next page
  std::size_t bytes_ = 0;  // of all pages
  bool whole_ = false;     // paging was given up
};

/// Cuts the items out of the text of a list; the views point into `body`, which must not move.
void split_list(const std::string& body, RawList& list, const std::string& what);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
