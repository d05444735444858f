// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <evenkeel/base/stop.hpp>
#include <evenkeel/base/text_hash.hpp>
#include <evenkeel/clusters/kubeconfig_directory.hpp>

#include "base/files.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

namespace fs = std::filesystem;

std::string cluster_of_file(std::string file) {
  for (const std::string_view suffix : {".kubeconfig", ".yaml", ".yml", ".conf"}) {
    if (file.size() > suffix.size() && file.ends_with(suffix)) {
      file.resize(file.size() - suffix.size());
      break;
    }
  }
  return file;
}

/// Looks at the directory again and again; used by the thread of run().
class KubeconfigDirectory final : public ClusterProvider {
 public:
  KubeconfigDirectory(std::string directory, KubeconfigDirectoryOptions options)
      : directory_(std::move(directory)), options_(std::move(options)) {
    if (directory_.empty()) throw std::invalid_argument("kubeconfig_directory: the directory has no name");
    if (options_.period <= Duration::zero())
      throw std::invalid_argument("kubeconfig_directory: period must be greater than 0");
  }

  const std::string& name() const noexcept override { return directory_; }
  void run(ClusterSink& sink, std::stop_token stop) override {
    do {
      look(sink);
    } while (sleep_until(*options_.clock, deadline_after(options_.clock->now(), options_.period), stop));
  }

 private:
  struct Seen {
    std::string version = {};  // of the text that was offered; empty if the last one was refused
    std::string cluster = {};  // that it offers; empty: none
  };

  void look(ClusterSink& sink);
  bool list(std::set<std::string>& files);
  void look_at(const std::string& file, ClusterSink& sink);
  void refuse(const std::string& file, const std::string& problem);
  void complain(const std::string& about, const std::string& problem);

  const std::string directory_;
  const KubeconfigDirectoryOptions options_;
  std::map<std::string, Seen> seen_;             // by file
  std::map<std::string, std::string> problems_;  // the last of each file, or of the directory ("")
};

void KubeconfigDirectory::complain(const std::string& about, const std::string& problem) {
  std::string& last = problems_[about];
  if (std::exchange(last, problem) == problem || problem.empty()) return;
  options_.log.error("clusters: a kubeconfig cannot be used", {{"error", problem}});
}

// Returns false if the directory cannot be read.
bool KubeconfigDirectory::list(std::set<std::string>& files) {
  std::error_code error;
  for (fs::directory_iterator at(directory_, error), end; !error && at != end; at.increment(error)) {
    const std::string file = at->path().filename().string();
    std::error_code ignored;
    const fs::file_status status = fs::status(at->path(), ignored);
    const bool can_block =
        fs::exists(status) && !fs::is_regular_file(status);  // as a pipe does, or a directory
    if (!file.starts_with('.') && !can_block) files.insert(file);
  }
  complain("", error ? directory_ + ": " + error.message() : std::string());
  return !error;
}

void KubeconfigDirectory::look(ClusterSink& sink) {
  std::set<std::string> files;
  if (!list(files)) return;
  for (auto at = seen_.begin(); at != seen_.end();) {
    if (files.contains(at->first)) {
      ++at;
      continue;
    }
    if (!at->second.cluster.empty()) sink.withdraw(at->second.cluster);
    problems_.erase(at->first);
    at = seen_.erase(at);
  }
  for (const std::string& file : files) look_at(file, sink);
}

// The file is looked at again next time: another file, or one that it names, may have been the reason.
void KubeconfigDirectory::refuse(const std::string& file, const std::string& problem) {
  if (const auto seen = seen_.find(file); seen != seen_.end()) seen->second.version.clear();
  complain(file, problem);
}

void KubeconfigDirectory::look_at(const std::string& file, ClusterSink& sink) {
  const std::string path = (fs::path(directory_) / file).string();
  try {
    const std::string text = detail::read_file(path, detail::FileRule::regular);
    const std::string version = std::to_string(text_hash(text));
    Seen& seen = seen_[file];
    if (seen.version == version) return;
    const std::string cluster = cluster_of_file(file);
    for (const auto& [other, known] : seen_) {
      if (other != file && known.cluster == cluster)
        throw Error(path + ": the cluster " + cluster + " is that of " + other + " already");
    }
    sink.offer({.name = cluster, .config = parse_kubeconfig(text, path), .version = version});
    seen.version = version;
    seen.cluster = cluster;
    complain(file, {});
  } catch (const std::invalid_argument& error) {
    refuse(file, path + ": " + error.what());
  } catch (const Error& error) {
    refuse(file, error.what());
  }
}

}  // namespace

std::shared_ptr<ClusterProvider> kubeconfig_directory(std::string directory,
                                                      KubeconfigDirectoryOptions options) {
  return std::make_shared<KubeconfigDirectory>(std::move(directory), std::move(options));
}

}  // namespace v0
}  // namespace evenkeel
