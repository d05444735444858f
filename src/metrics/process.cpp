// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <dirent.h>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <evenkeel/metrics/process.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back(word);
  return words;
}

double number(const std::string& word) {
  return std::strtod(word.c_str(), nullptr);
}

// Boot time of the machine in seconds since the epoch.
std::optional<double> boot_time() {
  std::ifstream file("/proc/stat");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("btime ")) return number(line.substr(6));
  }
  return std::nullopt;
}

// Reads fields 14, 15, 22, 23 and 24 of /proc/self/stat (proc(5)). The second field is the process name in
// parentheses, which may contain anything.
void collect_stat(MetricSink& sink) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t bracket = line.rfind(')');
  if (bracket == std::string::npos) return;
  const std::vector<std::string> words = words_of(line.substr(bracket + 1));
  constexpr std::size_t third = 3;  // field number of the first word in `words`
  if (words.size() <= 24 - third) return;
  const auto field = [&](std::size_t at) { return number(words[at - third]); };
  const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  sink.counter("process_cpu_seconds_total", "Total user and system CPU time spent in seconds.", {},
               (field(14) + field(15)) / ticks);
  sink.gauge("process_virtual_memory_bytes", "Virtual memory size in bytes.", {}, field(23));
  sink.gauge("process_resident_memory_bytes", "Resident memory size in bytes.", {},
             field(24) * static_cast<double>(sysconf(_SC_PAGESIZE)));
  if (const auto boot = boot_time()) {
    sink.gauge("process_start_time_seconds", "Start time of the process since unix epoch in seconds.", {},
               *boot + field(22) / ticks);
  }
}

void collect_descriptors(MetricSink& sink) {
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc/self/fd"), closedir);
  if (folder == nullptr) return;
  double open = 0;
  while (const dirent* entry = readdir(folder.get())) {
    if (entry->d_name[0] != '.') ++open;
  }
  sink.gauge("process_open_fds", "Number of open file descriptors.", {},
             open - 1);  // minus the directory itself
}

// An unlimited resource is reported as the largest number, as in Go's collector.
void collect_limit(MetricSink& sink, decltype(RLIMIT_AS) resource, std::string_view name,
                   std::string_view help) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  const double most = static_cast<double>(std::numeric_limits<std::uint64_t>::max());
  sink.gauge(name, help, {}, limit.rlim_cur == RLIM_INFINITY ? most : static_cast<double>(limit.rlim_cur));
}

// Reads the two lines "IpExt: ...": the names and the numbers.
void collect_network(MetricSink& sink) {
  std::ifstream file("/proc/self/net/netstat");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("IpExt:")) continue;
    std::vector<std::string> words = words_of(line);
    if (names.empty()) {
      names = std::move(words);
      continue;
    }
    for (std::size_t at = 0; at < names.size() && at < words.size(); ++at) {
      if (names[at] == "InOctets") {
        sink.counter("process_network_receive_bytes_total",
                     "Number of bytes received by the process over the network.", {}, number(words[at]));
      }
      if (names[at] == "OutOctets") {
        sink.counter("process_network_transmit_bytes_total",
                     "Number of bytes sent by the process over the network.", {}, number(words[at]));
      }
    }
    return;
  }
}

}  // namespace

void collect_process(MetricSink& sink) {
  collect_stat(sink);
  collect_descriptors(sink);
  collect_limit(sink, RLIMIT_NOFILE, "process_max_fds", "Maximum number of open file descriptors.");
  collect_limit(sink, RLIMIT_AS, "process_virtual_memory_max_bytes",
                "Maximum amount of virtual memory available in bytes.");
  collect_network(sink);
}

}  // namespace v0
}  // namespace evenkeel
