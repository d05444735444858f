// SPDX-License-Identifier: Apache-2.0
// Constants of a kind that the API server would refuse, or that the library would not see.
// first 1: columns of a kind are `static constexpr evenkeel::PrinterColumn columns.. = .....`, by that name
// first 2: the type of a printer column is integer, number, string, boolean or date
// first 3: the json_path of a printer column begins with a dot: \.spec\.size
// first 4: the paths of a scale subresource begin with \.spec\. and \.status\.
// first 5: categories are `static constexpr std::string_view categories
#include <string_view>

#include <evenkeel/api/crd.hpp>
#include <evenkeel/api/metadata.hpp>

namespace ek = evenkeel;

#ifndef REJECTED
#define REJECTED 0
#endif

struct Kind {
  static constexpr ek::ResourceInfo resource{.group = "a.dev", .kind = "Kind", .plural = "kinds"};
#if REJECTED == 1
  static constexpr ek::PrinterColumn column[] = {{.name = "Size", .json_path = ".spec.size"}};
#elif REJECTED == 2
  static constexpr ek::PrinterColumn columns[] = {{.name = "Size", .type = "int", .json_path = ".spec.size"}};
#elif REJECTED == 3
  static constexpr ek::PrinterColumn columns[] = {{.name = "Size", .json_path = "spec.size"}};
#elif REJECTED == 4
  static constexpr ek::ScaleSubresource scale{.spec_replicas_path = "spec.size"};
#elif REJECTED == 5
  static constexpr std::string_view category[] = {"all"};
#else
  static constexpr ek::PrinterColumn columns[] = {
      {.name = "Size", .type = "integer", .json_path = ".spec.size"}};
  static constexpr ek::ScaleSubresource scale{.spec_replicas_path = ".spec.size"};
  static constexpr std::string_view categories[] = {"all"};
#endif
  ek::ObjectMeta metadata = {};
};
EVENKEEL_FIELDS(Kind, metadata)

int main() {
  return ek::crd_for<Kind>().size() > 0 ? 0 : 1;
}
