// SPDX-License-Identifier: Apache-2.0
// kubectl of the control plane with an embedded API server whose node is played by the test.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evenkeel/apiserver/api_server.hpp>

#include "../support/temporary_directory.hpp"

namespace {

namespace ek = evenkeel;
using ek::apiserver::KubeletStreams;
using ::testing::HasSubstr;

/// Plays a shell that knows some words.
int run_command(const ek::ObjectKey& pod, const ek::ExecOptions& options, KubeletStreams& streams) {
  const std::string& word = options.command.front();
  if (word == "cat") {
    while (const auto bytes = streams.read()) streams.write(*bytes);
    return 0;
  }
  if (word != "greet") throw std::runtime_error("no such program: " + word);
  streams.write("I am " + pod.name + "/" + options.container + "\n");
  streams.write_error("and complain\n");
  return 3;
}

ek::apiserver::Kubelet kubelet() {
  return {.on_exec = run_command,
          .on_attach =
              [](const ek::ObjectKey&, const ek::AttachOptions&, KubeletStreams& streams) {
                streams.write("attached\n");
                return 0;
              },
          .on_logs =
              [](const ek::ObjectKey&, const ek::PodLogOptions& options, KubeletStreams& streams) {
                streams.write("line of " + options.container + (options.follow ? ", followed\n" : "\n"));
              }};
}

class RealKubectlWithKubelet : public ::testing::Test {
 protected:
  struct Result {
    int exit_code = -1;
    std::string out = {};  // stderr included
  };

  void SetUp() override {
    const char* const assets = std::getenv("KUBEBUILDER_ASSETS");
    kubectl_ = std::string(assets == nullptr ? "" : assets) + "/kubectl";
    ASSERT_EQ(::access(kubectl_.c_str(), X_OK), 0) << "no kubectl in $KUBEBUILDER_ASSETS";
    std::ofstream(directory_.path / "kubeconfig") << server_.kubeconfig();
    server_.install(
        "{apiVersion: v1, kind: Pod, metadata: {name: web, namespace: default}, "
        "spec: {nodeName: node-1, containers: [{name: main, image: i}]}}");
  }
  /// Runs kubectl with the words, behind a pipe from `input`.
  Result run(const std::string& words, const std::string& input = "true") const {
    const std::string directory = directory_.path.string();
    const std::string line = input + " | " + kubectl_ + " --kubeconfig " + directory +
                             "/kubeconfig --cache-dir " + directory + "/cache " + words + " 2>&1";
    Result result;
    std::FILE* const pipe = ::popen(line.c_str(), "r");
    char buffer[4096];
    while (const std::size_t size = std::fread(buffer, 1, sizeof buffer, pipe))
      result.out.append(buffer, size);
    const int status = ::pclose(pipe);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    return result;
  }

  ek::tests::TemporaryDirectory directory_;
  ek::apiserver::ApiServer server_{{.tls = true, .token = "secret", .kubelet = kubelet()}};
  std::string kubectl_;
};

TEST_F(RealKubectlWithKubelet, RunsCommands) {
  const Result greeting = run("exec web -- greet");
  EXPECT_EQ(greeting.exit_code, 3);
  EXPECT_THAT(greeting.out, HasSubstr("I am web/main\n"));
  EXPECT_THAT(greeting.out, HasSubstr("and complain\n"));
  EXPECT_THAT(greeting.out, HasSubstr("command terminated with exit code 3"));
  const Result failure = run("exec web -- fly");
  EXPECT_EQ(failure.exit_code, 1);
  EXPECT_THAT(failure.out, HasSubstr("Internal error occurred: no such program: fly"));
}

TEST_F(RealKubectlWithKubelet, PassesInput) {
  EXPECT_EQ(run("exec -i web -c main -- cat", "printf one").out, "one");
  EXPECT_EQ(run("exec -i web -- cat", "head -c 3000000 /dev/zero").out, std::string(3'000'000, '\0'));
}

TEST_F(RealKubectlWithKubelet, Attaches) {
  const Result attached = run("attach web");
  EXPECT_EQ(attached.exit_code, 0) << attached.out;
  EXPECT_THAT(attached.out, HasSubstr("attached\n"));
}

TEST_F(RealKubectlWithKubelet, ReadsLogs) {
  EXPECT_EQ(run("logs web").out, "line of main\n");
  EXPECT_EQ(run("logs --follow web").out, "line of main, followed\n");
}

}  // namespace
