// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include <evenkeel/clusters/kubeconfig_directory.hpp>
#include <evenkeel/testing/log_recorder.hpp>

#include "support/temporary_directory.hpp"

namespace evenkeel::kubeconfig_directory_tests {
namespace {

using namespace std::chrono_literals;

class Offers final : public ClusterSink {
 public:
  void offer(ClusterDescription description) override {
    check_cluster_name(description.name);
    said.push_back("offer " + description.name + " " + description.config.server);
  }
  void withdraw(std::string_view name) override { said.push_back("withdraw " + std::string(name)); }
  /// Returns what was reported since the last call.
  std::vector<std::string> take() { return std::exchange(said, {}); }

  std::vector<std::string> said;
};

std::string kubeconfig(const std::string& server) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: it\nclusters:\n- name: c\n  cluster:\n    server: " +
         server + "\ncontexts:\n- name: it\n  context:\n    cluster: c\n";
}

class KubeconfigDirectory : public ::testing::Test {
 protected:
  void write(const std::string& file, const std::string& text) const {
    std::ofstream(directory.path / file) << text;
  }
  void remove(const std::string& file) const { std::filesystem::remove(directory.path / file); }
  /// Lets the provider look once.
  std::vector<std::string> look() {
    std::stop_source stop;
    stop.request_stop();
    provider->run(offers, stop.get_token());
    return offers.take();
  }
  std::string path(const std::string& file) const { return (directory.path / file).string(); }
  std::vector<std::string> errors() const { return log->lines(); }

  using Said = std::vector<std::string>;
  tests::TemporaryDirectory directory;
  std::shared_ptr<testing::LogRecorder> log = std::make_shared<testing::LogRecorder>();
  std::shared_ptr<ClusterProvider> provider =
      kubeconfig_directory(directory.path.string(), {.log = Log(log)});
  Offers offers;
};

TEST_F(KubeconfigDirectory, OffersOneClusterForEachFile) {
  write("eu.kubeconfig", kubeconfig("https://eu"));
  write("us.yaml", kubeconfig("https://us"));
  write("asia", kubeconfig("https://asia"));
  write(".hidden", kubeconfig("https://hidden"));
  std::filesystem::create_directory(directory.path / "folder");
  EXPECT_EQ(look(), (Said{"offer asia https://asia", "offer eu https://eu", "offer us https://us"}));
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(errors(), Said{});
}

TEST_F(KubeconfigDirectory, FollowsChangesAndRemovals) {
  write("eu", kubeconfig("https://eu"));
  look();
  write("eu", kubeconfig("https://eu.example.com"));
  EXPECT_EQ(look(), Said{"offer eu https://eu.example.com"});
  remove("eu");
  EXPECT_EQ(look(), Said{"withdraw eu"});
  EXPECT_EQ(look(), Said{});
}

TEST_F(KubeconfigDirectory, KeepsAClusterWhoseFileIsBrokenAndReportsThatOnce) {
  write("eu", kubeconfig("https://eu"));
  look();
  write("eu", "current-context: it\n");
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(look(), Said{});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors().front().find(path("eu") + ": context \"it\": not found; there are none"),
            std::string::npos)
      << errors().front();
  write("eu", kubeconfig("https://eu"));
  EXPECT_EQ(look(), Said{"offer eu https://eu"});
}

TEST_F(KubeconfigDirectory, RefusesASecondFileOfTheSameCluster) {
  write("eu.conf", kubeconfig("https://eu"));
  write("eu.yaml", kubeconfig("https://other"));
  EXPECT_EQ(look(), Said{"offer eu https://eu"});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors().front().find(path("eu.yaml") + ": the cluster eu is that of eu.conf already"),
            std::string::npos)
      << errors().front();
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(errors().size(), 1U) << "told once";
  remove("eu.conf");
  EXPECT_EQ(look(), (Said{"withdraw eu", "offer eu https://other"}));
}

TEST_F(KubeconfigDirectory, LooksAgainAtAFileThatNamesOneThatComesLater) {
  const std::string text = kubeconfig("https://eu");
  const std::string named = "    server: https://eu\n";
  const std::string ca = "ca-of-eu.pem";
  write("eu", std::string(text).replace(text.find(named), named.size(),
                                        named + "    certificate-authority: ." + ca + "\n"));
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(look(), Said{});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors().front().find(path("." + ca) + " cannot be read: No such file or directory"),
            std::string::npos)
      << errors().front();
  write("." + ca, "PEM");
  EXPECT_EQ(look(), Said{"offer eu https://eu"});
  EXPECT_EQ(look(), Said{});
}

TEST_F(KubeconfigDirectory, KnowsTheSizeOfAFileBeforeItReadsIt) {
  write("eu", "");
  std::filesystem::resize_file(directory.path / "eu", std::uintmax_t{1} << 40);  // more than there is memory
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(errors(), Said{"ERROR clusters: a kubeconfig cannot be used error=" + path("eu") +
                           " cannot be read: longer than 8388608 bytes"});
}

TEST_F(KubeconfigDirectory, FollowsTheLinksOfAMountedSecret) {
  std::filesystem::create_directory(directory.path / "..2026");
  write("..2026/eu", kubeconfig("https://eu"));
  std::filesystem::create_symlink("..2026", directory.path / "..data");
  std::filesystem::create_symlink("..data/eu", directory.path / "eu");
  EXPECT_EQ(look(), Said{"offer eu https://eu"});
  EXPECT_EQ(errors(), Said{});
}

TEST_F(KubeconfigDirectory, WaitsForNoPipeThatAKubeconfigNames) {
  const std::string named = "    server: https://eu\n";
  std::string text = kubeconfig("https://eu");
  text.replace(text.find(named), named.size(), named + "    certificate-authority: .pipe\n");
  ASSERT_EQ(::mkfifo(path(".pipe").c_str(), 0600), 0);
  write("eu", text);
  EXPECT_EQ(look(), Said{});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors().front().find(path(".pipe") + " cannot be read: it is not a regular file"),
            std::string::npos)
      << errors().front();
}

TEST_F(KubeconfigDirectory, RefusesAFileWhoseNameIsNoneOfACluster) {
  write("e u", kubeconfig("https://eu"));
  EXPECT_EQ(look(), Said{});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(
      errors().front().find(path("e u") + ": the name of a cluster, \"e u\", must be up to 253 letters"),
      std::string::npos)
      << errors().front();
}

TEST_F(KubeconfigDirectory, KeepsAllClustersWhileTheDirectoryCannotBeRead) {
  write("eu", kubeconfig("https://eu"));
  look();
  const std::filesystem::path away = directory.path.string() + "-away";
  std::filesystem::rename(directory.path, away);
  EXPECT_EQ(look(), Said{});
  EXPECT_EQ(look(), Said{});
  ASSERT_EQ(errors().size(), 1U);
  EXPECT_NE(errors().front().find(directory.path.string() + ": No such file or directory"), std::string::npos)
      << errors().front();
  std::filesystem::rename(away, directory.path);
  EXPECT_EQ(look(), Said{});
}

TEST_F(KubeconfigDirectory, RefusesOptionsThatCannotBeRight) {
  const auto refused = [](const std::string& name, Duration period) -> std::string {
    try {
      kubeconfig_directory(name, {.period = period});
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refused("", 1s), "kubeconfig_directory: the directory has no name");
  EXPECT_EQ(refused("x", 0s), "kubeconfig_directory: period must be greater than 0");
}

}  // namespace
}  // namespace evenkeel::kubeconfig_directory_tests
