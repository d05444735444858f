// SPDX-License-Identifier: Apache-2.0
// The value of a log field is text, a number or a truth value; structures are refused, not printed badly.
// expect: cannot convert .*initializer list|could not convert|no matching function
#include <string>
#include <vector>

#include <evenkeel/base/log.hpp>

int main() {
  const std::vector<std::string> names{"a", "b"};
#ifdef REJECTED
  evenkeel::Log().info("names", {{"names", names}});
#else
  evenkeel::Log().info("names", {{"names", names.front()}});
#endif
}
