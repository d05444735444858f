// SPDX-License-Identifier: Apache-2.0
// Coexistence: our library beside gRPC, the program's own spdlog and its own nlohmann_json in one process.
#include <cstdio>
#include <grpcpp/grpcpp.h>
#include <string>

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <evenkeel/evenkeel.hpp>

int main() {
  const auto tree = nlohmann::json::parse(R"({"image": "web:1"})");
  spdlog::set_level(spdlog::level::off);
  spdlog::info("beside {}", grpc::Version());

  evenkeel::ConfigMap map;
  map.metadata.name = "web";
  map.data["image"] = tree["image"].get<std::string>();
  const std::string text = evenkeel::to_json(map);
  const auto back = nlohmann::json::parse(text);

  const auto channel = grpc::CreateChannel("127.0.0.1:1", grpc::InsecureChannelCredentials());
  std::printf("%s grpc state %d\n", text.c_str(), static_cast<int>(channel->GetState(false)));
  return back["data"]["image"] == "web:1" ? 0 : 1;
}
