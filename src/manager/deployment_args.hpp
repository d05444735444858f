// SPDX-License-Identifier: Apache-2.0
// The arguments of the operator's container, from those with which its manifests are printed.
#pragma once

#include <string>
#include <vector>

#include <evenkeel/manager/run.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the arguments, the program's name excepted. If they ask for manifests, followed by those that an
/// operator in a cluster needs and that neither they nor the program have: probes, metrics, an election
/// (unless there are shards), and a log for machines.
std::vector<std::string> completed_args(int argc, const char* const* argv, const RunOptions& program);

/// Returns the arguments without those that are for printing, and for a machine outside of the cluster.
std::vector<std::string> deployment_args(const std::vector<std::string>& completed);

/// Returns those of the arguments whose files or directories the Pod does not have by itself.
std::vector<std::string> args_with_files(const std::vector<std::string>& args);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
