// SPDX-License-Identifier: Apache-2.0
// Pods as clusters have them, 3 to 6 KB of JSON each.
#pragma once

#include <random>
#include <string>

namespace evenkeel::benchmarks {

/// Place of a generated pod.
struct PodPlace {
  std::string namespace_ = {};
  std::string app = "web";  ///< Value of the label app.
  std::string owner = {};   ///< Name of its ReplicaSet.
  std::string owner_uid = {};
};

inline std::string pod_name(int number) {
  return "web-7c6d5b4f9d-" + std::to_string(100'000 + number);
}

namespace detail {

inline std::string pod_containers(std::mt19937& random) {
  std::string containers;
  for (int i = 0; i < 2; ++i) {
    containers += (i > 0 ? "," : "") + std::string(R"({"name":"c)") + std::to_string(i) +
                  R"(","image":"registry.example.com/team/app:v1.)" + std::to_string(random() % 100) +
                  R"(","env":[)";
    for (int e = 0; e < 10; ++e) {
      containers += (e > 0 ? "," : "") + std::string(R"({"name":"SETTING_)") + std::to_string(e) +
                    R"(","value":"https://service-)" + std::to_string(random() % 1000) +
                    R"(.default.svc:8443/path"})";
    }
    containers +=
        R"(],"resources":{"limits":{"cpu":"500m","memory":"256Mi"},"requests":{"cpu":"100m","memory":"128Mi"}},)"
        R"("volumeMounts":[{"name":"kube-api-access","readOnly":true,)"
        R"("mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}],"imagePullPolicy":"IfNotPresent"})";
  }
  return containers;
}

}  // namespace detail

/// Returns the members of the metadata that a client writes, without braces.
inline std::string pod_metadata(int number, const PodPlace& place) {
  return R"("name":")" + pod_name(number) + R"(","namespace":")" + place.namespace_ +
         R"(","labels":{"app":")" + place.app +
         R"(","pod-template-hash":"7c6d5b4f9d","app.kubernetes.io/name":"web",)"
         R"("app.kubernetes.io/part-of":"shop"},"annotations":{"prometheus.io/scrape":"true"},)"
         R"("ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":")" +
         place.owner + R"(","uid":")" + place.owner_uid +
         R"(","controller":true,"blockOwnerDeletion":true}])";
}

inline std::string pod_spec(std::mt19937& random) {
  return R"({"containers":[)" + detail::pod_containers(random) + R"(],"nodeName":"node-)" +
         std::to_string(random() % 200) +
         R"(","restartPolicy":"Always","serviceAccountName":"default","automountServiceAccountToken":false,)"
         R"("volumes":[{"name":"kube-api-access","emptyDir":{}}]})";
}

inline std::string pod_status(std::mt19937& random) {
  return R"({"phase":"Running","podIP":"10.1.2.)" + std::to_string(random() % 250) +
         R"(","conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-01-01T00:00:05Z"},)"
         R"({"type":"Initialized","status":"True","lastTransitionTime":"2026-01-01T00:00:01Z"}]})";
}

}  // namespace evenkeel::benchmarks
