// SPDX-License-Identifier: Apache-2.0
// The fuzz targets: one for each type of external input. Each accepts any input and returns, or ends the
// process with the property that is violated.
#pragma once

#include <array>
#include <string_view>

namespace evenkeel::fuzz {

void api_server(std::string_view input);
void cel(std::string_view input);
void coordination(std::string_view input);
void election(std::string_view input);
void etcd(std::string_view input);
void exec_credential(std::string_view input);
void gzip(std::string_view input);
void http_session(std::string_view input);
void json(std::string_view input);
void json_path(std::string_view input);
void kubeconfig(std::string_view input);
void limiter(std::string_view input);
void manifest(std::string_view input);
void regular_expression(std::string_view input);
void reviews(std::string_view input);
void scalars(std::string_view input);
void selectors(std::string_view input);
void settings(std::string_view input);
void splitters(std::string_view input);
void types(std::string_view input);
void wire_object(std::string_view input);
void write_answer(std::string_view input);

struct Target {
  std::string_view name;
  void (*run)(std::string_view input);
};
inline constexpr std::array<Target, 22> targets{{{"api_server", api_server},
                                                 {"cel", cel},
                                                 {"coordination", coordination},
                                                 {"election", election},
                                                 {"etcd", etcd},
                                                 {"exec_credential", exec_credential},
                                                 {"gzip", gzip},
                                                 {"http_session", http_session},
                                                 {"json", json},
                                                 {"json_path", json_path},
                                                 {"kubeconfig", kubeconfig},
                                                 {"limiter", limiter},
                                                 {"manifest", manifest},
                                                 {"regular_expression", regular_expression},
                                                 {"reviews", reviews},
                                                 {"scalars", scalars},
                                                 {"selectors", selectors},
                                                 {"settings", settings},
                                                 {"splitters", splitters},
                                                 {"types", types},
                                                 {"wire_object", wire_object},
                                                 {"write_answer", write_answer}}};

}  // namespace evenkeel::fuzz
