// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/run_error.hpp"

#include <evenkeel/client/errors.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/http/transport.hpp>

#include "base/caught.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

bool is_of_a_request(const std::exception& error) {
  if (dynamic_cast<const ApiError*>(&error) != nullptr) return true;
  if (dynamic_cast<const TransportError*>(&error) != nullptr) return true;
  if (dynamic_cast<const Cancelled*>(&error) != nullptr) return true;
  if (dynamic_cast<const NotLeader*>(&error) != nullptr) return true;
  try {
    std::rethrow_if_nested(error);
  } catch (const std::exception& nested) {
    return is_of_a_request(nested);
  } catch (...) {
    return false;
  }
  return false;
}

}  // namespace

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string text_of_error(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& known) {
    return is_of_a_request(known) ? std::string() : first_line(known.what());
  } catch (...) {
    return evenkeel::detail::foreign_exception;
  }
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
