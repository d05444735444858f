// SPDX-License-Identifier: Apache-2.0
// Small objects for tests of the cache.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/cache/wire_object.hpp>

namespace evenkeel::tests {

struct ObjectParts {
  std::string name = {};
  std::string version = {};
  std::string uid = "u";
  std::string namespace_ = "default";
  std::vector<std::string> owners = {};  // uids
  std::string cell = {};                 // value of the label "cell"; empty: it has none
};

inline std::string json_of(const ObjectParts& parts) {
  std::string owners;
  for (const std::string& uid : parts.owners) {
    owners += (owners.empty() ? "" : ",") +
              std::string(R"({"apiVersion":"v1","kind":"Owner","name":"o","uid":")") + uid + "\"}";
  }
  const std::string labels = parts.cell.empty() ? "" : R"("labels":{"cell":")" + parts.cell + "\"},";
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{)" + labels + R"("name":")" + parts.name +
         R"(","namespace":")" + parts.namespace_ + R"(","uid":")" + parts.uid + R"(","resourceVersion":")" +
         parts.version + R"(","ownerReferences":[)" + owners + R"(]},"data":{"v":")" + parts.version + "\"}}";
}

inline WireObject object(const ObjectParts& parts) {
  return WireScanner().object(json_of(parts));
}

inline std::string frame(const std::string& type, const ObjectParts& parts) {
  return R"({"type":")" + type + R"(","object":)" + json_of(parts) + "}\n";
}

/// Returns the frame of a bookmark; `ends_initial`: of the one that ends the initial events of a watch.
inline std::string bookmark(const std::string& version, bool ends_initial = false) {
  const std::string mark = ends_initial ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "";
  return R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":")" + version + "\"" + mark + "}}}\n";
}
/// Returns that frame, parsed.
inline WireEvent bookmark_event(const std::string& version, bool ends_initial = false) {
  std::string line = bookmark(version, ends_initial);
  line.pop_back();
  return WireScanner().event(line);
}

/// Returns the body of a list of these objects.
inline std::string list_of(const std::vector<ObjectParts>& objects, const std::string& version,
                           const std::string& continue_token = "") {
  std::string items;
  for (const ObjectParts& parts : objects) items += (items.empty() ? "" : ",") + json_of(parts);
  return R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
         R"(","continue":")" + continue_token + R"("},"items":[)" + items + "]}";
}

}  // namespace evenkeel::tests
