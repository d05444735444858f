// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
// The kinds of the core group v1, complete in fields. Order of members: metadata, name, spec,
// status, then by name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/api/int_or_string.hpp>
#include <evenkeel/api/kinds/core.hpp>
#include <evenkeel/api/metadata.hpp>
#include <evenkeel/api/quantity.hpp>
#include <evenkeel/api/selector.hpp>
#include <evenkeel/api/time.hpp>

namespace evenkeel {
inline namespace v0 {
namespace core_v1 {

struct NodeSelectorRequirement {
  std::string key = {};
  std::string operator_ = {};  ///< "DoesNotExist", "Exists", "Gt", "In", "Lt", "NotIn".
  std::vector<std::string> values = {};

  bool operator==(const NodeSelectorRequirement&) const = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions = {};
  std::vector<NodeSelectorRequirement> match_fields = {};

  bool operator==(const NodeSelectorTerm&) const = default;
};

struct PreferredSchedulingTerm {
  NodeSelectorTerm preference = {};
  std::int32_t weight = 0;

  bool operator==(const PreferredSchedulingTerm&) const = default;
};

struct NodeSelector {
  std::vector<NodeSelectorTerm> node_selector_terms = {};

  bool operator==(const NodeSelector&) const = default;
};

struct NodeAffinity {
  std::vector<PreferredSchedulingTerm> preferred_during_scheduling_ignored_during_execution = {};
  std::optional<NodeSelector> required_during_scheduling_ignored_during_execution = {};

  bool operator==(const NodeAffinity&) const = default;
};

struct PodAffinityTerm {
  std::optional<LabelSelector> label_selector = {};
  std::vector<std::string> match_label_keys = {};
  std::vector<std::string> mismatch_label_keys = {};
  std::optional<LabelSelector> namespace_selector = {};
  std::vector<std::string> namespaces = {};
  std::optional<std::string> topology_key = {};

  bool operator==(const PodAffinityTerm&) const = default;
};

struct WeightedPodAffinityTerm {
  PodAffinityTerm pod_affinity_term = {};
  std::int32_t weight = 0;

  bool operator==(const WeightedPodAffinityTerm&) const = default;
};

struct PodAffinity {
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution = {};
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution = {};

  bool operator==(const PodAffinity&) const = default;
};

struct PodAntiAffinity {
  std::vector<WeightedPodAffinityTerm> preferred_during_scheduling_ignored_during_execution = {};
  std::vector<PodAffinityTerm> required_during_scheduling_ignored_during_execution = {};

  bool operator==(const PodAntiAffinity&) const = default;
};

struct Affinity {
  std::optional<NodeAffinity> node_affinity = {};
  std::optional<PodAffinity> pod_affinity = {};
  std::optional<PodAntiAffinity> pod_anti_affinity = {};

  bool operator==(const Affinity&) const = default;
};

struct ConfigMapKeySelector {
  std::optional<std::string> name = {};
  std::string key = {};
  std::optional<bool> optional = {};

  bool operator==(const ConfigMapKeySelector&) const = default;
};

struct ObjectFieldSelector {
  std::optional<std::string> api_version = {};
  std::string field_path = {};

  bool operator==(const ObjectFieldSelector&) const = default;
};

struct FileKeySelector {
  std::string key = {};
  std::optional<bool> optional = {};
  std::string path = {};
  std::string volume_name = {};

  bool operator==(const FileKeySelector&) const = default;
};

struct ResourceFieldSelector {
  std::optional<std::string> container_name = {};
  std::optional<Quantity> divisor = {};
  std::string resource = {};

  bool operator==(const ResourceFieldSelector&) const = default;
};

struct SecretKeySelector {
  std::optional<std::string> name = {};
  std::string key = {};
  std::optional<bool> optional = {};

  bool operator==(const SecretKeySelector&) const = default;
};

struct EnvVarSource {
  std::optional<ConfigMapKeySelector> config_map_key_ref = {};
  std::optional<ObjectFieldSelector> field_ref = {};
  std::optional<FileKeySelector> file_key_ref = {};
  std::optional<ResourceFieldSelector> resource_field_ref = {};
  std::optional<SecretKeySelector> secret_key_ref = {};

  bool operator==(const EnvVarSource&) const = default;
};

struct EnvVar {
  std::string name = {};
  std::optional<std::string> value = {};
  std::optional<EnvVarSource> value_from = {};

  bool operator==(const EnvVar&) const = default;
};

struct ConfigMapEnvSource {
  std::optional<std::string> name = {};
  std::optional<bool> optional = {};

  bool operator==(const ConfigMapEnvSource&) const = default;
};

struct SecretEnvSource {
  std::optional<std::string> name = {};
  std::optional<bool> optional = {};

  bool operator==(const SecretEnvSource&) const = default;
};

struct EnvFromSource {
  std::optional<ConfigMapEnvSource> config_map_ref = {};
  std::optional<std::string> prefix = {};
  std::optional<SecretEnvSource> secret_ref = {};

  bool operator==(const EnvFromSource&) const = default;
};

struct ExecAction {
  std::vector<std::string> command = {};

  bool operator==(const ExecAction&) const = default;
};

struct HTTPHeader {
  std::string name = {};
  std::string value = {};

  bool operator==(const HTTPHeader&) const = default;
};

struct HTTPGetAction {
  std::optional<std::string> host = {};
  std::vector<HTTPHeader> http_headers = {};
  std::optional<std::string> path = {};
  IntOrString port = {};
  std::optional<std::string> scheme = {};  ///< "HTTP", "HTTPS".

  bool operator==(const HTTPGetAction&) const = default;
};

struct SleepAction {
  std::int64_t seconds = 0;

  bool operator==(const SleepAction&) const = default;
};

struct TCPSocketAction {
  std::optional<std::string> host = {};
  IntOrString port = {};

  bool operator==(const TCPSocketAction&) const = default;
};

struct LifecycleHandler {
  std::optional<ExecAction> exec = {};
  std::optional<HTTPGetAction> http_get = {};
  std::optional<SleepAction> sleep = {};
  std::optional<TCPSocketAction> tcp_socket = {};

  bool operator==(const LifecycleHandler&) const = default;
};

struct Lifecycle {
  std::optional<LifecycleHandler> post_start = {};
  std::optional<LifecycleHandler> pre_stop = {};
  std::optional<std::string> stop_signal =
      {};  ///< "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL",
           ///< "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT",
           ///< "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
           ///< "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6",
           ///< "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10",
           ///< "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
           ///< "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8",
           ///< "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
           ///< "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU",
           ///< "SIGXFSZ".

  bool operator==(const Lifecycle&) const = default;
};

struct GRPCAction {
  std::int32_t port = 0;
  std::optional<std::string> service = {};

  bool operator==(const GRPCAction&) const = default;
};

struct Probe {
  std::optional<ExecAction> exec = {};
  std::optional<std::int32_t> failure_threshold = {};
  std::optional<GRPCAction> grpc = {};
  std::optional<HTTPGetAction> http_get = {};
  std::optional<std::int32_t> initial_delay_seconds = {};
  std::optional<std::int32_t> period_seconds = {};
  std::optional<std::int32_t> success_threshold = {};
  std::optional<TCPSocketAction> tcp_socket = {};
  std::optional<std::int64_t> termination_grace_period_seconds = {};
  std::optional<std::int32_t> timeout_seconds = {};

  bool operator==(const Probe&) const = default;
};

struct ContainerPort {
  std::optional<std::string> name = {};
  std::int32_t container_port = 0;
  std::optional<std::string> host_ip = {};
  std::optional<std::int32_t> host_port = {};
  std::optional<std::string> protocol = {};  ///< "SCTP", "TCP", "UDP".

  bool operator==(const ContainerPort&) const = default;
};

struct ContainerResizePolicy {
  std::string resource_name = {};
  std::string restart_policy = {};

  bool operator==(const ContainerResizePolicy&) const = default;
};

struct ResourceClaim {
  std::string name = {};
  std::optional<std::string> request = {};

  bool operator==(const ResourceClaim&) const = default;
};

struct ResourceRequirements {
  std::vector<ResourceClaim> claims = {};
  std::map<std::string, Quantity> limits = {};
  std::map<std::string, Quantity> requests = {};

  bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerRestartRuleOnExitCodes {
  std::string operator_ = {};
  std::vector<std::int32_t> values = {};

  bool operator==(const ContainerRestartRuleOnExitCodes&) const = default;
};

struct ContainerRestartRule {
  std::string action = {};
  std::optional<ContainerRestartRuleOnExitCodes> exit_codes = {};

  bool operator==(const ContainerRestartRule&) const = default;
};

struct AppArmorProfile {
  std::optional<std::string> localhost_profile = {};
  std::string type = {};  ///< "Localhost", "RuntimeDefault", "Unconfined".

  bool operator==(const AppArmorProfile&) const = default;
};

struct Capabilities {
  std::vector<std::string> add = {};
  std::vector<std::string> drop = {};

  bool operator==(const Capabilities&) const = default;
};

struct SELinuxOptions {
  std::optional<std::string> level = {};
  std::optional<std::string> role = {};
  std::optional<std::string> type = {};
  std::optional<std::string> user = {};

  bool operator==(const SELinuxOptions&) const = default;
};

struct SeccompProfile {
  std::optional<std::string> localhost_profile = {};
  std::string type = {};  ///< "Localhost", "RuntimeDefault", "Unconfined".

  bool operator==(const SeccompProfile&) const = default;
};

struct WindowsSecurityContextOptions {
  std::optional<std::string> gmsa_credential_spec = {};
  std::optional<std::string> gmsa_credential_spec_name = {};
  std::optional<bool> host_process = {};
  std::optional<std::string> run_as_user_name = {};

  bool operator==(const WindowsSecurityContextOptions&) const = default;
};

struct SecurityContext {
  std::optional<bool> allow_privilege_escalation = {};
  std::optional<AppArmorProfile> app_armor_profile = {};
  std::optional<Capabilities> capabilities = {};
  std::optional<bool> privileged = {};
  std::optional<std::string> proc_mount = {};  ///< "Default", "Unmasked".
  std::optional<bool> read_only_root_filesystem = {};
  std::optional<std::int64_t> run_as_group = {};
  std::optional<bool> run_as_non_root = {};
  std::optional<std::int64_t> run_as_user = {};
  std::optional<SELinuxOptions> se_linux_options = {};
  std::optional<SeccompProfile> seccomp_profile = {};
  std::optional<WindowsSecurityContextOptions> windows_options = {};

  bool operator==(const SecurityContext&) const = default;
};

struct VolumeDevice {
  std::string name = {};
  std::string device_path = {};

  bool operator==(const VolumeDevice&) const = default;
};

struct VolumeMount {
  std::string name = {};
  std::string mount_path = {};
  std::optional<std::string> mount_propagation = {};  ///< "Bidirectional", "HostToContainer", "None".
  std::optional<bool> read_only = {};
  std::optional<std::string> recursive_read_only = {};
  std::optional<std::string> sub_path = {};
  std::optional<std::string> sub_path_expr = {};

  bool operator==(const VolumeMount&) const = default;
};

struct Container {
  std::string name = {};
  std::vector<std::string> args = {};
  std::vector<std::string> command = {};
  std::vector<EnvVar> env = {};
  std::vector<EnvFromSource> env_from = {};
  std::optional<std::string> image = {};
  std::optional<std::string> image_pull_policy = {};  ///< "Always", "IfNotPresent", "Never".
  std::optional<Lifecycle> lifecycle = {};
  std::optional<Probe> liveness_probe = {};
  std::vector<ContainerPort> ports = {};
  std::optional<Probe> readiness_probe = {};
  std::vector<ContainerResizePolicy> resize_policy = {};
  ResourceRequirements resources = {};
  std::optional<std::string> restart_policy = {};
  std::vector<ContainerRestartRule> restart_policy_rules = {};
  std::optional<SecurityContext> security_context = {};
  std::optional<Probe> startup_probe = {};
  std::optional<bool> stdin = {};
  std::optional<bool> stdin_once = {};
  std::optional<std::string> termination_message_path = {};
  std::optional<std::string> termination_message_policy = {};  ///< "FallbackToLogsOnError", "File".
  std::optional<bool> tty = {};
  std::vector<VolumeDevice> volume_devices = {};
  std::vector<VolumeMount> volume_mounts = {};
  std::optional<std::string> working_dir = {};

  bool operator==(const Container&) const = default;
};

struct PodDNSConfigOption {
  std::optional<std::string> name = {};
  std::optional<std::string> value = {};

  bool operator==(const PodDNSConfigOption&) const = default;
};

struct PodDNSConfig {
  std::vector<std::string> nameservers = {};
  std::vector<PodDNSConfigOption> options = {};
  std::vector<std::string> searches = {};

  bool operator==(const PodDNSConfig&) const = default;
};

struct EphemeralContainer {
  std::string name = {};
  std::vector<std::string> args = {};
  std::vector<std::string> command = {};
  std::vector<EnvVar> env = {};
  std::vector<EnvFromSource> env_from = {};
  std::optional<std::string> image = {};
  std::optional<std::string> image_pull_policy = {};  ///< "Always", "IfNotPresent", "Never".
  std::optional<Lifecycle> lifecycle = {};
  std::optional<Probe> liveness_probe = {};
  std::vector<ContainerPort> ports = {};
  std::optional<Probe> readiness_probe = {};
  std::vector<ContainerResizePolicy> resize_policy = {};
  ResourceRequirements resources = {};
  std::optional<std::string> restart_policy = {};
  std::vector<ContainerRestartRule> restart_policy_rules = {};
  std::optional<SecurityContext> security_context = {};
  std::optional<Probe> startup_probe = {};
  std::optional<bool> stdin = {};
  std::optional<bool> stdin_once = {};
  std::optional<std::string> target_container_name = {};
  std::optional<std::string> termination_message_path = {};
  std::optional<std::string> termination_message_policy = {};  ///< "FallbackToLogsOnError", "File".
  std::optional<bool> tty = {};
  std::vector<VolumeDevice> volume_devices = {};
  std::vector<VolumeMount> volume_mounts = {};
  std::optional<std::string> working_dir = {};

  bool operator==(const EphemeralContainer&) const = default;
};

struct HostAlias {
  std::vector<std::string> hostnames = {};
  std::string ip = {};

  bool operator==(const HostAlias&) const = default;
};

struct PodOS {
  std::string name = {};

  bool operator==(const PodOS&) const = default;
};

struct PodReadinessGate {
  std::string condition_type = {};

  bool operator==(const PodReadinessGate&) const = default;
};

struct PodResourceClaim {
  std::string name = {};
  std::optional<std::string> resource_claim_name = {};
  std::optional<std::string> resource_claim_template_name = {};

  bool operator==(const PodResourceClaim&) const = default;
};

struct PodSchedulingGate {
  std::string name = {};

  bool operator==(const PodSchedulingGate&) const = default;
};

struct PodSchedulingGroup {
  std::optional<std::string> pod_group_name = {};

  bool operator==(const PodSchedulingGroup&) const = default;
};

struct Sysctl {
  std::string name = {};
  std::string value = {};

  bool operator==(const Sysctl&) const = default;
};

struct PodSecurityContext {
  std::optional<AppArmorProfile> app_armor_profile = {};
  std::optional<std::int64_t> fs_group = {};
  std::optional<std::string> fs_group_change_policy = {};  ///< "Always", "OnRootMismatch".
  std::optional<std::int64_t> run_as_group = {};
  std::optional<bool> run_as_non_root = {};
  std::optional<std::int64_t> run_as_user = {};
  std::optional<std::string> se_linux_change_policy = {};
  std::optional<SELinuxOptions> se_linux_options = {};
  std::optional<SeccompProfile> seccomp_profile = {};
  std::vector<std::int64_t> supplemental_groups = {};
  std::optional<std::string> supplemental_groups_policy = {};  ///< "Merge", "Strict".
  std::vector<Sysctl> sysctls = {};
  std::optional<WindowsSecurityContextOptions> windows_options = {};

  bool operator==(const PodSecurityContext&) const = default;
};

struct Toleration {
  std::optional<std::string> effect = {};  ///< "NoExecute", "NoSchedule", "PreferNoSchedule".
  std::optional<std::string> key = {};
  std::optional<std::string> operator_ = {};  ///< "Equal", "Exists", "Gt", "Lt".
  std::optional<std::int64_t> toleration_seconds = {};
  std::optional<std::string> value = {};

  bool operator==(const Toleration&) const = default;
};

struct TopologySpreadConstraint {
  std::optional<LabelSelector> label_selector = {};
  std::vector<std::string> match_label_keys = {};
  std::int32_t max_skew = 0;
  std::optional<std::int32_t> min_domains = {};
  std::optional<std::string> node_affinity_policy = {};  ///< "Honor", "Ignore".
  std::optional<std::string> node_taints_policy = {};    ///< "Honor", "Ignore".
  std::string topology_key = {};
  std::string when_unsatisfiable = {};  ///< "DoNotSchedule", "ScheduleAnyway".

  bool operator==(const TopologySpreadConstraint&) const = default;
};

struct AWSElasticBlockStoreVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<std::int32_t> partition = {};
  std::optional<bool> read_only = {};
  std::string volume_id = {};

  bool operator==(const AWSElasticBlockStoreVolumeSource&) const = default;
};

struct AzureDiskVolumeSource {
  std::optional<std::string> caching_mode = {};  ///< "None", "ReadOnly", "ReadWrite".
  std::string disk_name = {};
  std::string disk_uri = {};
  std::optional<std::string> fs_type = {};
  std::optional<std::string> kind = {};  ///< "Dedicated", "Managed", "Shared".
  std::optional<bool> read_only = {};

  bool operator==(const AzureDiskVolumeSource&) const = default;
};

struct AzureFileVolumeSource {
  std::optional<bool> read_only = {};
  std::string secret_name = {};
  std::string share_name = {};

  bool operator==(const AzureFileVolumeSource&) const = default;
};

struct CephFSVolumeSource {
  std::vector<std::string> monitors = {};
  std::optional<std::string> path = {};
  std::optional<bool> read_only = {};
  std::optional<std::string> secret_file = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::optional<std::string> user = {};

  bool operator==(const CephFSVolumeSource&) const = default;
};

struct CinderVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::string volume_id = {};

  bool operator==(const CinderVolumeSource&) const = default;
};

struct KeyToPath {
  std::string key = {};
  std::optional<std::int32_t> mode = {};
  std::string path = {};

  bool operator==(const KeyToPath&) const = default;
};

struct ConfigMapVolumeSource {
  std::optional<std::string> name = {};
  std::optional<std::int32_t> default_mode = {};
  std::vector<KeyToPath> items = {};
  std::optional<bool> optional = {};

  bool operator==(const ConfigMapVolumeSource&) const = default;
};

struct CSIVolumeSource {
  std::string driver = {};
  std::optional<std::string> fs_type = {};
  std::optional<LocalObjectReference> node_publish_secret_ref = {};
  std::optional<bool> read_only = {};
  std::map<std::string, std::string> volume_attributes = {};

  bool operator==(const CSIVolumeSource&) const = default;
};

struct DownwardAPIVolumeFile {
  std::optional<ObjectFieldSelector> field_ref = {};
  std::optional<std::int32_t> mode = {};
  std::string path = {};
  std::optional<ResourceFieldSelector> resource_field_ref = {};

  bool operator==(const DownwardAPIVolumeFile&) const = default;
};

struct DownwardAPIVolumeSource {
  std::optional<std::int32_t> default_mode = {};
  std::vector<DownwardAPIVolumeFile> items = {};

  bool operator==(const DownwardAPIVolumeSource&) const = default;
};

struct EmptyDirVolumeSource {
  std::optional<std::string> medium = {};
  std::optional<Quantity> size_limit = {};

  bool operator==(const EmptyDirVolumeSource&) const = default;
};

struct TypedLocalObjectReference {
  std::string name = {};
  std::optional<std::string> api_group = {};
  std::string kind = {};

  bool operator==(const TypedLocalObjectReference&) const = default;
};

struct TypedObjectReference {
  std::string name = {};
  std::optional<std::string> api_group = {};
  std::string kind = {};
  std::optional<std::string> namespace_ = {};

  bool operator==(const TypedObjectReference&) const = default;
};

struct VolumeResourceRequirements {
  std::map<std::string, Quantity> limits = {};
  std::map<std::string, Quantity> requests = {};

  bool operator==(const VolumeResourceRequirements&) const = default;
};

struct PersistentVolumeClaimSpec {
  std::vector<std::string> access_modes = {};
  std::optional<TypedLocalObjectReference> data_source = {};
  std::optional<TypedObjectReference> data_source_ref = {};
  VolumeResourceRequirements resources = {};
  std::optional<LabelSelector> selector = {};
  std::optional<std::string> storage_class_name = {};
  std::optional<std::string> volume_attributes_class_name = {};
  std::optional<std::string> volume_mode = {};  ///< "Block", "Filesystem".
  std::optional<std::string> volume_name = {};

  bool operator==(const PersistentVolumeClaimSpec&) const = default;
};

struct PersistentVolumeClaimTemplate {
  ObjectMeta metadata = {};
  PersistentVolumeClaimSpec spec = {};

  bool operator==(const PersistentVolumeClaimTemplate&) const = default;
};

struct EphemeralVolumeSource {
  std::optional<PersistentVolumeClaimTemplate> volume_claim_template = {};

  bool operator==(const EphemeralVolumeSource&) const = default;
};

struct FCVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<std::int32_t> lun = {};
  std::optional<bool> read_only = {};
  std::vector<std::string> target_wwns = {};
  std::vector<std::string> wwids = {};

  bool operator==(const FCVolumeSource&) const = default;
};

struct FlexVolumeSource {
  std::string driver = {};
  std::optional<std::string> fs_type = {};
  std::map<std::string, std::string> options = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};

  bool operator==(const FlexVolumeSource&) const = default;
};

struct FlockerVolumeSource {
  std::optional<std::string> dataset_name = {};
  std::optional<std::string> dataset_uuid = {};

  bool operator==(const FlockerVolumeSource&) const = default;
};

struct GCEPersistentDiskVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<std::int32_t> partition = {};
  std::string pd_name = {};
  std::optional<bool> read_only = {};

  bool operator==(const GCEPersistentDiskVolumeSource&) const = default;
};

struct GitRepoVolumeSource {
  std::optional<std::string> directory = {};
  std::string repository = {};
  std::optional<std::string> revision = {};

  bool operator==(const GitRepoVolumeSource&) const = default;
};

struct GlusterfsVolumeSource {
  std::string endpoints = {};
  std::string path = {};
  std::optional<bool> read_only = {};

  bool operator==(const GlusterfsVolumeSource&) const = default;
};

struct HostPathVolumeSource {
  std::string path = {};
  std::optional<std::string> type = {};  ///< "", "BlockDevice", "CharDevice", "Directory",
                                         ///< "DirectoryOrCreate", "File", "FileOrCreate", "Socket".

  bool operator==(const HostPathVolumeSource&) const = default;
};

struct ImageVolumeSource {
  std::optional<std::string> pull_policy = {};  ///< "Always", "IfNotPresent", "Never".
  std::optional<std::string> reference = {};

  bool operator==(const ImageVolumeSource&) const = default;
};

struct ISCSIVolumeSource {
  std::optional<bool> chap_auth_discovery = {};
  std::optional<bool> chap_auth_session = {};
  std::optional<std::string> fs_type = {};
  std::optional<std::string> initiator_name = {};
  std::string iqn = {};
  std::optional<std::string> iscsi_interface = {};
  std::int32_t lun = 0;
  std::vector<std::string> portals = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::string target_portal = {};

  bool operator==(const ISCSIVolumeSource&) const = default;
};

struct NFSVolumeSource {
  std::string path = {};
  std::optional<bool> read_only = {};
  std::string server = {};

  bool operator==(const NFSVolumeSource&) const = default;
};

struct PersistentVolumeClaimVolumeSource {
  std::string claim_name = {};
  std::optional<bool> read_only = {};

  bool operator==(const PersistentVolumeClaimVolumeSource&) const = default;
};

struct PhotonPersistentDiskVolumeSource {
  std::optional<std::string> fs_type = {};
  std::string pd_id = {};

  bool operator==(const PhotonPersistentDiskVolumeSource&) const = default;
};

struct PortworxVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<bool> read_only = {};
  std::string volume_id = {};

  bool operator==(const PortworxVolumeSource&) const = default;
};

struct ClusterTrustBundleProjection {
  std::optional<std::string> name = {};
  std::optional<LabelSelector> label_selector = {};
  std::optional<bool> optional = {};
  std::string path = {};
  std::optional<std::string> signer_name = {};

  bool operator==(const ClusterTrustBundleProjection&) const = default;
};

struct ConfigMapProjection {
  std::optional<std::string> name = {};
  std::vector<KeyToPath> items = {};
  std::optional<bool> optional = {};

  bool operator==(const ConfigMapProjection&) const = default;
};

struct DownwardAPIProjection {
  std::vector<DownwardAPIVolumeFile> items = {};

  bool operator==(const DownwardAPIProjection&) const = default;
};

struct PodCertificateProjection {
  std::optional<std::string> certificate_chain_path = {};
  std::optional<std::string> credential_bundle_path = {};
  std::optional<std::string> key_path = {};
  std::string key_type = {};
  std::optional<std::int32_t> max_expiration_seconds = {};
  std::string signer_name = {};
  std::map<std::string, std::string> user_annotations = {};

  bool operator==(const PodCertificateProjection&) const = default;
};

struct SecretProjection {
  std::optional<std::string> name = {};
  std::vector<KeyToPath> items = {};
  std::optional<bool> optional = {};

  bool operator==(const SecretProjection&) const = default;
};

struct ServiceAccountTokenProjection {
  std::optional<std::string> audience = {};
  std::optional<std::int64_t> expiration_seconds = {};
  std::string path = {};

  bool operator==(const ServiceAccountTokenProjection&) const = default;
};

struct VolumeProjection {
  std::optional<ClusterTrustBundleProjection> cluster_trust_bundle = {};
  std::optional<ConfigMapProjection> config_map = {};
  std::optional<DownwardAPIProjection> downward_api = {};
  std::optional<PodCertificateProjection> pod_certificate = {};
  std::optional<SecretProjection> secret = {};
  std::optional<ServiceAccountTokenProjection> service_account_token = {};

  bool operator==(const VolumeProjection&) const = default;
};

struct ProjectedVolumeSource {
  std::optional<std::int32_t> default_mode = {};
  std::vector<VolumeProjection> sources = {};

  bool operator==(const ProjectedVolumeSource&) const = default;
};

struct QuobyteVolumeSource {
  std::optional<std::string> group = {};
  std::optional<bool> read_only = {};
  std::string registry = {};
  std::optional<std::string> tenant = {};
  std::optional<std::string> user = {};
  std::string volume = {};

  bool operator==(const QuobyteVolumeSource&) const = default;
};

struct RBDVolumeSource {
  std::optional<std::string> fs_type = {};
  std::string image = {};
  std::optional<std::string> keyring = {};
  std::vector<std::string> monitors = {};
  std::optional<std::string> pool = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::optional<std::string> user = {};

  bool operator==(const RBDVolumeSource&) const = default;
};

struct ScaleIOVolumeSource {
  std::optional<std::string> fs_type = {};
  std::string gateway = {};
  std::optional<std::string> protection_domain = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::optional<bool> ssl_enabled = {};
  std::optional<std::string> storage_mode = {};
  std::optional<std::string> storage_pool = {};
  std::string system = {};
  std::optional<std::string> volume_name = {};

  bool operator==(const ScaleIOVolumeSource&) const = default;
};

struct SecretVolumeSource {
  std::optional<std::int32_t> default_mode = {};
  std::vector<KeyToPath> items = {};
  std::optional<bool> optional = {};
  std::optional<std::string> secret_name = {};

  bool operator==(const SecretVolumeSource&) const = default;
};

struct StorageOSVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<bool> read_only = {};
  std::optional<LocalObjectReference> secret_ref = {};
  std::optional<std::string> volume_name = {};
  std::optional<std::string> volume_namespace = {};

  bool operator==(const StorageOSVolumeSource&) const = default;
};

struct VsphereVirtualDiskVolumeSource {
  std::optional<std::string> fs_type = {};
  std::optional<std::string> storage_policy_id = {};
  std::optional<std::string> storage_policy_name = {};
  std::string volume_path = {};

  bool operator==(const VsphereVirtualDiskVolumeSource&) const = default;
};

struct Volume {
  std::string name = {};
  std::optional<AWSElasticBlockStoreVolumeSource> aws_elastic_block_store = {};
  std::optional<AzureDiskVolumeSource> azure_disk = {};
  std::optional<AzureFileVolumeSource> azure_file = {};
  std::optional<CephFSVolumeSource> cephfs = {};
  std::optional<CinderVolumeSource> cinder = {};
  std::optional<ConfigMapVolumeSource> config_map = {};
  std::optional<CSIVolumeSource> csi = {};
  std::optional<DownwardAPIVolumeSource> downward_api = {};
  std::optional<EmptyDirVolumeSource> empty_dir = {};
  std::optional<EphemeralVolumeSource> ephemeral = {};
  std::optional<FCVolumeSource> fc = {};
  std::optional<FlexVolumeSource> flex_volume = {};
  std::optional<FlockerVolumeSource> flocker = {};
  std::optional<GCEPersistentDiskVolumeSource> gce_persistent_disk = {};
  std::optional<GitRepoVolumeSource> git_repo = {};
  std::optional<GlusterfsVolumeSource> glusterfs = {};
  std::optional<HostPathVolumeSource> host_path = {};
  std::optional<ImageVolumeSource> image = {};
  std::optional<ISCSIVolumeSource> iscsi = {};
  std::optional<NFSVolumeSource> nfs = {};
  std::optional<PersistentVolumeClaimVolumeSource> persistent_volume_claim = {};
  std::optional<PhotonPersistentDiskVolumeSource> photon_persistent_disk = {};
  std::optional<PortworxVolumeSource> portworx_volume = {};
  std::optional<ProjectedVolumeSource> projected = {};
  std::optional<QuobyteVolumeSource> quobyte = {};
  std::optional<RBDVolumeSource> rbd = {};
  std::optional<ScaleIOVolumeSource> scale_io = {};
  std::optional<SecretVolumeSource> secret = {};
  std::optional<StorageOSVolumeSource> storageos = {};
  std::optional<VsphereVirtualDiskVolumeSource> vsphere_volume = {};

  bool operator==(const Volume&) const = default;
};

struct PodSpec {
  std::optional<std::int64_t> active_deadline_seconds = {};
  std::optional<Affinity> affinity = {};
  std::optional<bool> automount_service_account_token = {};
  std::vector<Container> containers = {};
  std::optional<PodDNSConfig> dns_config = {};
  std::optional<std::string> dns_policy =
      {};  ///< "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None".
  std::optional<bool> enable_service_links = {};
  std::vector<EphemeralContainer> ephemeral_containers = {};
  std::vector<HostAlias> host_aliases = {};
  std::optional<bool> host_ipc = {};
  std::optional<bool> host_network = {};
  std::optional<bool> host_pid = {};
  std::optional<bool> host_users = {};
  std::optional<std::string> hostname = {};
  std::optional<std::string> hostname_override = {};
  std::vector<LocalObjectReference> image_pull_secrets = {};
  std::vector<Container> init_containers = {};
  std::optional<std::string> node_name = {};
  std::map<std::string, std::string> node_selector = {};
  std::optional<PodOS> os = {};
  std::map<std::string, Quantity> overhead = {};
  std::optional<std::string> preemption_policy = {};  ///< "Never", "PreemptLowerPriority".
  std::optional<std::int32_t> priority = {};
  std::optional<std::string> priority_class_name = {};
  std::vector<PodReadinessGate> readiness_gates = {};
  std::vector<PodResourceClaim> resource_claims = {};
  std::optional<ResourceRequirements> resources = {};
  std::optional<std::string> restart_policy = {};  ///< "Always", "Never", "OnFailure".
  std::optional<std::string> runtime_class_name = {};
  std::optional<std::string> scheduler_name = {};
  std::vector<PodSchedulingGate> scheduling_gates = {};
  std::optional<PodSchedulingGroup> scheduling_group = {};
  std::optional<PodSecurityContext> security_context = {};
  std::optional<std::string> service_account = {};
  std::optional<std::string> service_account_name = {};
  std::optional<bool> set_hostname_as_fqdn = {};
  std::optional<bool> share_process_namespace = {};
  std::optional<std::string> subdomain = {};
  std::optional<std::int64_t> termination_grace_period_seconds = {};
  std::vector<Toleration> tolerations = {};
  std::vector<TopologySpreadConstraint> topology_spread_constraints = {};
  std::vector<Volume> volumes = {};

  bool operator==(const PodSpec&) const = default;
};

struct PodCondition {
  std::string status = {};
  std::optional<Time> last_probe_time = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const PodCondition&) const = default;
};

struct ResourceHealth {
  std::optional<std::string> health = {};
  std::optional<std::string> message = {};
  std::string resource_id = {};

  bool operator==(const ResourceHealth&) const = default;
};

struct ResourceStatus {
  std::string name = {};
  std::vector<ResourceHealth> resources = {};

  bool operator==(const ResourceStatus&) const = default;
};

struct ContainerStateRunning {
  std::optional<Time> started_at = {};

  bool operator==(const ContainerStateRunning&) const = default;
};

struct ContainerStateTerminated {
  std::optional<std::string> container_id = {};
  std::int32_t exit_code = 0;
  std::optional<Time> finished_at = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::optional<std::int32_t> signal = {};
  std::optional<Time> started_at = {};

  bool operator==(const ContainerStateTerminated&) const = default;
};

struct ContainerStateWaiting {
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};

  bool operator==(const ContainerStateWaiting&) const = default;
};

struct ContainerState {
  std::optional<ContainerStateRunning> running = {};
  std::optional<ContainerStateTerminated> terminated = {};
  std::optional<ContainerStateWaiting> waiting = {};

  bool operator==(const ContainerState&) const = default;
};

struct LinuxContainerUser {
  std::int64_t gid = 0;
  std::vector<std::int64_t> supplemental_groups = {};
  std::int64_t uid = 0;

  bool operator==(const LinuxContainerUser&) const = default;
};

struct ContainerUser {
  std::optional<LinuxContainerUser> linux_ = {};

  bool operator==(const ContainerUser&) const = default;
};

struct ImageVolumeStatus {
  std::string image_ref = {};

  bool operator==(const ImageVolumeStatus&) const = default;
};

struct VolumeStatus {
  std::optional<ImageVolumeStatus> image = {};

  bool operator==(const VolumeStatus&) const = default;
};

struct VolumeMountStatus {
  std::string name = {};
  std::string mount_path = {};
  std::optional<bool> read_only = {};
  std::optional<std::string> recursive_read_only = {};
  std::optional<VolumeStatus> volume_status = {};

  bool operator==(const VolumeMountStatus&) const = default;
};

struct ContainerStatus {
  std::string name = {};
  std::map<std::string, Quantity> allocated_resources = {};
  std::vector<ResourceStatus> allocated_resources_status = {};
  std::optional<std::string> container_id = {};
  std::string image = {};
  std::string image_id = {};
  ContainerState last_state = {};
  bool ready = false;
  std::optional<ResourceRequirements> resources = {};
  std::int32_t restart_count = 0;
  std::optional<bool> started = {};
  ContainerState state = {};
  std::optional<std::string> stop_signal =
      {};  ///< "SIGABRT", "SIGALRM", "SIGBUS", "SIGCHLD", "SIGCLD", "SIGCONT", "SIGFPE", "SIGHUP", "SIGILL",
           ///< "SIGINT", "SIGIO", "SIGIOT", "SIGKILL", "SIGPIPE", "SIGPOLL", "SIGPROF", "SIGPWR", "SIGQUIT",
           ///< "SIGRTMAX", "SIGRTMAX-1", "SIGRTMAX-10", "SIGRTMAX-11", "SIGRTMAX-12", "SIGRTMAX-13",
           ///< "SIGRTMAX-14", "SIGRTMAX-2", "SIGRTMAX-3", "SIGRTMAX-4", "SIGRTMAX-5", "SIGRTMAX-6",
           ///< "SIGRTMAX-7", "SIGRTMAX-8", "SIGRTMAX-9", "SIGRTMIN", "SIGRTMIN+1", "SIGRTMIN+10",
           ///< "SIGRTMIN+11", "SIGRTMIN+12", "SIGRTMIN+13", "SIGRTMIN+14", "SIGRTMIN+15", "SIGRTMIN+2",
           ///< "SIGRTMIN+3", "SIGRTMIN+4", "SIGRTMIN+5", "SIGRTMIN+6", "SIGRTMIN+7", "SIGRTMIN+8",
           ///< "SIGRTMIN+9", "SIGSEGV", "SIGSTKFLT", "SIGSTOP", "SIGSYS", "SIGTERM", "SIGTRAP", "SIGTSTP",
           ///< "SIGTTIN", "SIGTTOU", "SIGURG", "SIGUSR1", "SIGUSR2", "SIGVTALRM", "SIGWINCH", "SIGXCPU",
           ///< "SIGXFSZ".
  std::optional<ContainerUser> user = {};
  std::vector<VolumeMountStatus> volume_mounts = {};

  bool operator==(const ContainerStatus&) const = default;
};

struct ContainerExtendedResourceRequest {
  std::string container_name = {};
  std::string request_name = {};
  std::string resource_name = {};

  bool operator==(const ContainerExtendedResourceRequest&) const = default;
};

struct PodExtendedResourceClaimStatus {
  std::vector<ContainerExtendedResourceRequest> request_mappings = {};
  std::string resource_claim_name = {};

  bool operator==(const PodExtendedResourceClaimStatus&) const = default;
};

struct HostIP {
  std::string ip = {};

  bool operator==(const HostIP&) const = default;
};

struct NodeAllocatableResourceClaimStatus {
  std::vector<std::string> containers = {};
  std::string resource_claim_name = {};
  std::map<std::string, Quantity> resources = {};

  bool operator==(const NodeAllocatableResourceClaimStatus&) const = default;
};

struct PodIP {
  std::string ip = {};

  bool operator==(const PodIP&) const = default;
};

struct PodResourceClaimStatus {
  std::string name = {};
  std::optional<std::string> resource_claim_name = {};

  bool operator==(const PodResourceClaimStatus&) const = default;
};

struct PodStatus {
  std::map<std::string, Quantity> allocated_resources = {};
  std::vector<PodCondition> conditions = {};
  std::vector<ContainerStatus> container_statuses = {};
  std::vector<ContainerStatus> ephemeral_container_statuses = {};
  std::optional<PodExtendedResourceClaimStatus> extended_resource_claim_status = {};
  std::optional<std::string> host_ip = {};
  std::vector<HostIP> host_ips = {};
  std::vector<ContainerStatus> init_container_statuses = {};
  std::optional<std::string> message = {};
  std::vector<NodeAllocatableResourceClaimStatus> node_allocatable_resource_claim_statuses = {};
  std::optional<std::string> nominated_node_name = {};
  std::optional<std::int64_t> observed_generation = {};
  std::optional<std::string> phase = {};  ///< "Failed", "Pending", "Running", "Succeeded", "Unknown".
  std::optional<std::string> pod_ip = {};
  std::vector<PodIP> pod_ips = {};
  std::optional<std::string> qos_class = {};  ///< "BestEffort", "Burstable", "Guaranteed".
  std::optional<std::string> reason = {};
  std::optional<std::string> resize = {};
  std::vector<PodResourceClaimStatus> resource_claim_statuses = {};
  std::optional<ResourceRequirements> resources = {};
  std::optional<Time> start_time = {};

  bool operator==(const PodStatus&) const = default;
};

/// v1 Pod.
struct Pod {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "Pod", .plural = "pods", .short_name = "po"};
  ObjectMeta metadata = {};
  PodSpec spec = {};
  PodStatus status = {};

  bool operator==(const Pod&) const = default;
};

struct ConfigMapNodeConfigSource {
  std::string name = {};
  std::string kubelet_config_key = {};
  std::string namespace_ = {};
  std::optional<std::string> resource_version = {};
  std::optional<std::string> uid = {};

  bool operator==(const ConfigMapNodeConfigSource&) const = default;
};

struct NodeConfigSource {
  std::optional<ConfigMapNodeConfigSource> config_map = {};

  bool operator==(const NodeConfigSource&) const = default;
};

struct Taint {
  std::string effect = {};  ///< "NoExecute", "NoSchedule", "PreferNoSchedule".
  std::string key = {};
  std::optional<Time> time_added = {};
  std::optional<std::string> value = {};

  bool operator==(const Taint&) const = default;
};

struct NodeSpec {
  std::optional<NodeConfigSource> config_source = {};
  std::optional<std::string> external_id = {};
  std::optional<std::string> pod_cidr = {};
  std::vector<std::string> pod_cidrs = {};
  std::optional<std::string> provider_id = {};
  std::vector<Taint> taints = {};
  std::optional<bool> unschedulable = {};

  bool operator==(const NodeSpec&) const = default;
};

struct NodeAddress {
  std::string address = {};
  std::string type = {};

  bool operator==(const NodeAddress&) const = default;
};

struct NodeCondition {
  std::string status = {};
  std::optional<Time> last_heartbeat_time = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const NodeCondition&) const = default;
};

struct NodeConfigStatus {
  std::optional<NodeConfigSource> active = {};
  std::optional<NodeConfigSource> assigned = {};
  std::optional<std::string> error = {};
  std::optional<NodeConfigSource> last_known_good = {};

  bool operator==(const NodeConfigStatus&) const = default;
};

struct DaemonEndpoint {
  std::optional<std::int32_t> port = {};

  bool operator==(const DaemonEndpoint&) const = default;
};

struct NodeDaemonEndpoints {
  DaemonEndpoint kubelet_endpoint = {};

  bool operator==(const NodeDaemonEndpoints&) const = default;
};

struct NodeFeatures {
  std::optional<bool> supplemental_groups_policy = {};

  bool operator==(const NodeFeatures&) const = default;
};

struct ContainerImage {
  std::vector<std::string> names = {};
  std::optional<std::int64_t> size_bytes = {};

  bool operator==(const ContainerImage&) const = default;
};

struct NodeSwapStatus {
  std::optional<std::int64_t> capacity = {};

  bool operator==(const NodeSwapStatus&) const = default;
};

struct NodeSystemInfo {
  std::optional<std::string> architecture = {};
  std::optional<std::string> boot_id = {};
  std::optional<std::string> container_runtime_version = {};
  std::optional<std::string> kernel_version = {};
  std::optional<std::string> kube_proxy_version = {};
  std::optional<std::string> kubelet_version = {};
  std::optional<std::string> machine_id = {};
  std::optional<std::string> operating_system = {};
  std::optional<std::string> os_image = {};
  std::optional<NodeSwapStatus> swap = {};
  std::optional<std::string> system_uuid = {};

  bool operator==(const NodeSystemInfo&) const = default;
};

struct NodeRuntimeHandlerFeatures {
  std::optional<bool> recursive_read_only_mounts = {};
  std::optional<bool> user_namespaces = {};

  bool operator==(const NodeRuntimeHandlerFeatures&) const = default;
};

struct NodeRuntimeHandler {
  std::optional<std::string> name = {};
  std::optional<NodeRuntimeHandlerFeatures> features = {};

  bool operator==(const NodeRuntimeHandler&) const = default;
};

struct AttachedVolume {
  std::string name = {};
  std::string device_path = {};

  bool operator==(const AttachedVolume&) const = default;
};

struct NodeStatus {
  std::vector<NodeAddress> addresses = {};
  std::map<std::string, Quantity> allocatable = {};
  std::map<std::string, Quantity> capacity = {};
  std::vector<NodeCondition> conditions = {};
  std::optional<NodeConfigStatus> config = {};
  NodeDaemonEndpoints daemon_endpoints = {};
  std::vector<std::string> declared_features = {};
  std::optional<NodeFeatures> features = {};
  std::vector<ContainerImage> images = {};
  NodeSystemInfo node_info = {};
  std::optional<std::string> phase = {};  ///< "Pending", "Running", "Terminated".
  std::vector<NodeRuntimeHandler> runtime_handlers = {};
  std::vector<AttachedVolume> volumes_attached = {};
  std::vector<std::string> volumes_in_use = {};

  bool operator==(const NodeStatus&) const = default;
};

/// v1 Node.
struct Node {
  static constexpr ResourceInfo resource{
      .version = "v1", .kind = "Node", .plural = "nodes", .scope = Scope::cluster, .short_name = "no"};
  ObjectMeta metadata = {};
  NodeSpec spec = {};
  NodeStatus status = {};

  bool operator==(const Node&) const = default;
};

struct PersistentVolumeClaimCondition {
  std::string status = {};
  std::optional<Time> last_probe_time = {};
  std::optional<Time> last_transition_time = {};
  std::optional<std::string> message = {};
  std::optional<std::string> reason = {};
  std::string type = {};

  bool operator==(const PersistentVolumeClaimCondition&) const = default;
};

struct ModifyVolumeStatus {
  std::string status = {};  ///< "InProgress", "Infeasible", "Pending".
  std::optional<std::string> target_volume_attributes_class_name = {};

  bool operator==(const ModifyVolumeStatus&) const = default;
};

struct PersistentVolumeClaimStatus {
  std::vector<std::string> access_modes = {};
  std::map<std::string, std::string> allocated_resource_statuses = {};
  std::map<std::string, Quantity> allocated_resources = {};
  std::map<std::string, Quantity> capacity = {};
  std::vector<PersistentVolumeClaimCondition> conditions = {};
  std::optional<std::string> current_volume_attributes_class_name = {};
  std::optional<ModifyVolumeStatus> modify_volume_status = {};
  std::optional<std::string> phase = {};  ///< "Bound", "Lost", "Pending".

  bool operator==(const PersistentVolumeClaimStatus&) const = default;
};

/// v1 PersistentVolumeClaim.
struct PersistentVolumeClaim {
  static constexpr ResourceInfo resource{.version = "v1",
                                         .kind = "PersistentVolumeClaim",
                                         .plural = "persistentvolumeclaims",
                                         .short_name = "pvc"};
  ObjectMeta metadata = {};
  PersistentVolumeClaimSpec spec = {};
  PersistentVolumeClaimStatus status = {};

  bool operator==(const PersistentVolumeClaim&) const = default;
};

struct PodTemplateSpec {
  ObjectMeta metadata = {};
  PodSpec spec = {};

  bool operator==(const PodTemplateSpec&) const = default;
};

EVENKEEL_DECLARE_FIELDS(NodeSelectorRequirement)
EVENKEEL_DECLARE_FIELDS(NodeSelectorTerm)
EVENKEEL_DECLARE_FIELDS(PreferredSchedulingTerm)
EVENKEEL_DECLARE_FIELDS(NodeSelector)
EVENKEEL_DECLARE_FIELDS(NodeAffinity)
EVENKEEL_DECLARE_FIELDS(PodAffinityTerm)
EVENKEEL_DECLARE_FIELDS(WeightedPodAffinityTerm)
EVENKEEL_DECLARE_FIELDS(PodAffinity)
EVENKEEL_DECLARE_FIELDS(PodAntiAffinity)
EVENKEEL_DECLARE_FIELDS(Affinity)
EVENKEEL_DECLARE_FIELDS(ConfigMapKeySelector)
EVENKEEL_DECLARE_FIELDS(ObjectFieldSelector)
EVENKEEL_DECLARE_FIELDS(FileKeySelector)
EVENKEEL_DECLARE_FIELDS(ResourceFieldSelector)
EVENKEEL_DECLARE_FIELDS(SecretKeySelector)
EVENKEEL_DECLARE_FIELDS(EnvVarSource)
EVENKEEL_DECLARE_FIELDS(EnvVar)
EVENKEEL_DECLARE_FIELDS(ConfigMapEnvSource)
EVENKEEL_DECLARE_FIELDS(SecretEnvSource)
EVENKEEL_DECLARE_FIELDS(EnvFromSource)
EVENKEEL_DECLARE_FIELDS(ExecAction)
EVENKEEL_DECLARE_FIELDS(HTTPHeader)
EVENKEEL_DECLARE_FIELDS(HTTPGetAction)
EVENKEEL_DECLARE_FIELDS(SleepAction)
EVENKEEL_DECLARE_FIELDS(TCPSocketAction)
EVENKEEL_DECLARE_FIELDS(LifecycleHandler)
EVENKEEL_DECLARE_FIELDS(Lifecycle)
EVENKEEL_DECLARE_FIELDS(GRPCAction)
EVENKEEL_DECLARE_FIELDS(Probe)
EVENKEEL_DECLARE_FIELDS(ContainerPort)
EVENKEEL_DECLARE_FIELDS(ContainerResizePolicy)
EVENKEEL_DECLARE_FIELDS(ResourceClaim)
EVENKEEL_DECLARE_FIELDS(ResourceRequirements)
EVENKEEL_DECLARE_FIELDS(ContainerRestartRuleOnExitCodes)
EVENKEEL_DECLARE_FIELDS(ContainerRestartRule)
EVENKEEL_DECLARE_FIELDS(AppArmorProfile)
EVENKEEL_DECLARE_FIELDS(Capabilities)
EVENKEEL_DECLARE_FIELDS(SELinuxOptions)
EVENKEEL_DECLARE_FIELDS(SeccompProfile)
EVENKEEL_DECLARE_FIELDS(WindowsSecurityContextOptions)
EVENKEEL_DECLARE_FIELDS(SecurityContext)
EVENKEEL_DECLARE_FIELDS(VolumeDevice)
EVENKEEL_DECLARE_FIELDS(VolumeMount)
EVENKEEL_DECLARE_FIELDS(Container)
EVENKEEL_DECLARE_FIELDS(PodDNSConfigOption)
EVENKEEL_DECLARE_FIELDS(PodDNSConfig)
EVENKEEL_DECLARE_FIELDS(EphemeralContainer)
EVENKEEL_DECLARE_FIELDS(HostAlias)
EVENKEEL_DECLARE_FIELDS(PodOS)
EVENKEEL_DECLARE_FIELDS(PodReadinessGate)
EVENKEEL_DECLARE_FIELDS(PodResourceClaim)
EVENKEEL_DECLARE_FIELDS(PodSchedulingGate)
EVENKEEL_DECLARE_FIELDS(PodSchedulingGroup)
EVENKEEL_DECLARE_FIELDS(Sysctl)
EVENKEEL_DECLARE_FIELDS(PodSecurityContext)
EVENKEEL_DECLARE_FIELDS(Toleration)
EVENKEEL_DECLARE_FIELDS(TopologySpreadConstraint)
EVENKEEL_DECLARE_FIELDS(AWSElasticBlockStoreVolumeSource)
EVENKEEL_DECLARE_FIELDS(AzureDiskVolumeSource)
EVENKEEL_DECLARE_FIELDS(AzureFileVolumeSource)
EVENKEEL_DECLARE_FIELDS(CephFSVolumeSource)
EVENKEEL_DECLARE_FIELDS(CinderVolumeSource)
EVENKEEL_DECLARE_FIELDS(KeyToPath)
EVENKEEL_DECLARE_FIELDS(ConfigMapVolumeSource)
EVENKEEL_DECLARE_FIELDS(CSIVolumeSource)
EVENKEEL_DECLARE_FIELDS(DownwardAPIVolumeFile)
EVENKEEL_DECLARE_FIELDS(DownwardAPIVolumeSource)
EVENKEEL_DECLARE_FIELDS(EmptyDirVolumeSource)
EVENKEEL_DECLARE_FIELDS(TypedLocalObjectReference)
EVENKEEL_DECLARE_FIELDS(TypedObjectReference)
EVENKEEL_DECLARE_FIELDS(VolumeResourceRequirements)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaimSpec)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaimTemplate)
EVENKEEL_DECLARE_FIELDS(EphemeralVolumeSource)
EVENKEEL_DECLARE_FIELDS(FCVolumeSource)
EVENKEEL_DECLARE_FIELDS(FlexVolumeSource)
EVENKEEL_DECLARE_FIELDS(FlockerVolumeSource)
EVENKEEL_DECLARE_FIELDS(GCEPersistentDiskVolumeSource)
EVENKEEL_DECLARE_FIELDS(GitRepoVolumeSource)
EVENKEEL_DECLARE_FIELDS(GlusterfsVolumeSource)
EVENKEEL_DECLARE_FIELDS(HostPathVolumeSource)
EVENKEEL_DECLARE_FIELDS(ImageVolumeSource)
EVENKEEL_DECLARE_FIELDS(ISCSIVolumeSource)
EVENKEEL_DECLARE_FIELDS(NFSVolumeSource)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaimVolumeSource)
EVENKEEL_DECLARE_FIELDS(PhotonPersistentDiskVolumeSource)
EVENKEEL_DECLARE_FIELDS(PortworxVolumeSource)
EVENKEEL_DECLARE_FIELDS(ClusterTrustBundleProjection)
EVENKEEL_DECLARE_FIELDS(ConfigMapProjection)
EVENKEEL_DECLARE_FIELDS(DownwardAPIProjection)
EVENKEEL_DECLARE_FIELDS(PodCertificateProjection)
EVENKEEL_DECLARE_FIELDS(SecretProjection)
EVENKEEL_DECLARE_FIELDS(ServiceAccountTokenProjection)
EVENKEEL_DECLARE_FIELDS(VolumeProjection)
EVENKEEL_DECLARE_FIELDS(ProjectedVolumeSource)
EVENKEEL_DECLARE_FIELDS(QuobyteVolumeSource)
EVENKEEL_DECLARE_FIELDS(RBDVolumeSource)
EVENKEEL_DECLARE_FIELDS(ScaleIOVolumeSource)
EVENKEEL_DECLARE_FIELDS(SecretVolumeSource)
EVENKEEL_DECLARE_FIELDS(StorageOSVolumeSource)
EVENKEEL_DECLARE_FIELDS(VsphereVirtualDiskVolumeSource)
EVENKEEL_DECLARE_FIELDS(Volume)
EVENKEEL_DECLARE_FIELDS(PodSpec)
EVENKEEL_DECLARE_FIELDS(PodCondition)
EVENKEEL_DECLARE_FIELDS(ResourceHealth)
EVENKEEL_DECLARE_FIELDS(ResourceStatus)
EVENKEEL_DECLARE_FIELDS(ContainerStateRunning)
EVENKEEL_DECLARE_FIELDS(ContainerStateTerminated)
EVENKEEL_DECLARE_FIELDS(ContainerStateWaiting)
EVENKEEL_DECLARE_FIELDS(ContainerState)
EVENKEEL_DECLARE_FIELDS(LinuxContainerUser)
EVENKEEL_DECLARE_FIELDS(ContainerUser)
EVENKEEL_DECLARE_FIELDS(ImageVolumeStatus)
EVENKEEL_DECLARE_FIELDS(VolumeStatus)
EVENKEEL_DECLARE_FIELDS(VolumeMountStatus)
EVENKEEL_DECLARE_FIELDS(ContainerStatus)
EVENKEEL_DECLARE_FIELDS(ContainerExtendedResourceRequest)
EVENKEEL_DECLARE_FIELDS(PodExtendedResourceClaimStatus)
EVENKEEL_DECLARE_FIELDS(HostIP)
EVENKEEL_DECLARE_FIELDS(NodeAllocatableResourceClaimStatus)
EVENKEEL_DECLARE_FIELDS(PodIP)
EVENKEEL_DECLARE_FIELDS(PodResourceClaimStatus)
EVENKEEL_DECLARE_FIELDS(PodStatus)
EVENKEEL_DECLARE_FIELDS(Pod)
EVENKEEL_DECLARE_FIELDS(ConfigMapNodeConfigSource)
EVENKEEL_DECLARE_FIELDS(NodeConfigSource)
EVENKEEL_DECLARE_FIELDS(Taint)
EVENKEEL_DECLARE_FIELDS(NodeSpec)
EVENKEEL_DECLARE_FIELDS(NodeAddress)
EVENKEEL_DECLARE_FIELDS(NodeCondition)
EVENKEEL_DECLARE_FIELDS(NodeConfigStatus)
EVENKEEL_DECLARE_FIELDS(DaemonEndpoint)
EVENKEEL_DECLARE_FIELDS(NodeDaemonEndpoints)
EVENKEEL_DECLARE_FIELDS(NodeFeatures)
EVENKEEL_DECLARE_FIELDS(ContainerImage)
EVENKEEL_DECLARE_FIELDS(NodeSwapStatus)
EVENKEEL_DECLARE_FIELDS(NodeSystemInfo)
EVENKEEL_DECLARE_FIELDS(NodeRuntimeHandlerFeatures)
EVENKEEL_DECLARE_FIELDS(NodeRuntimeHandler)
EVENKEEL_DECLARE_FIELDS(AttachedVolume)
EVENKEEL_DECLARE_FIELDS(NodeStatus)
EVENKEEL_DECLARE_FIELDS(Node)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaimCondition)
EVENKEEL_DECLARE_FIELDS(ModifyVolumeStatus)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaimStatus)
EVENKEEL_DECLARE_FIELDS(PersistentVolumeClaim)
EVENKEEL_DECLARE_FIELDS(PodTemplateSpec)

}  // namespace core_v1

using core_v1::Node;
using core_v1::PersistentVolumeClaim;
using core_v1::Pod;

}  // namespace v0
}  // namespace evenkeel
