// SPDX-License-Identifier: Apache-2.0
// Written by scripts/generate_kinds.py from the OpenAPI documents of Kubernetes; do not edit.
#include <evenkeel/api/kinds/pods.hpp>

namespace evenkeel {
inline namespace v0 {
namespace core_v1 {

EVENKEEL_DEFINE_FIELDS(NodeSelectorRequirement, key, operator_, values)
EVENKEEL_DEFINE_FIELDS(NodeSelectorTerm, match_expressions, match_fields)
EVENKEEL_DEFINE_FIELDS(PreferredSchedulingTerm, preference, weight)
EVENKEEL_DEFINE_FIELDS(NodeSelector, node_selector_terms)
EVENKEEL_DEFINE_FIELDS(NodeAffinity, preferred_during_scheduling_ignored_during_execution,
                       required_during_scheduling_ignored_during_execution)
EVENKEEL_DEFINE_FIELDS(PodAffinityTerm, label_selector, match_label_keys, mismatch_label_keys,
                       namespace_selector, namespaces, topology_key)
EVENKEEL_DEFINE_FIELDS(WeightedPodAffinityTerm, pod_affinity_term, weight)
EVENKEEL_DEFINE_FIELDS(PodAffinity, preferred_during_scheduling_ignored_during_execution,
                       required_during_scheduling_ignored_during_execution)
EVENKEEL_DEFINE_FIELDS(PodAntiAffinity, preferred_during_scheduling_ignored_during_execution,
                       required_during_scheduling_ignored_during_execution)
EVENKEEL_DEFINE_FIELDS(Affinity, node_affinity, pod_affinity, pod_anti_affinity)
EVENKEEL_DEFINE_FIELDS(ConfigMapKeySelector, name, key, optional)
EVENKEEL_DEFINE_FIELDS(ObjectFieldSelector, api_version, field_path)
EVENKEEL_DEFINE_FIELDS(FileKeySelector, key, optional, path, volume_name)
EVENKEEL_DEFINE_FIELDS(ResourceFieldSelector, container_name, divisor, resource)
EVENKEEL_DEFINE_FIELDS(SecretKeySelector, name, key, optional)
EVENKEEL_DEFINE_FIELDS(EnvVarSource, config_map_key_ref, field_ref, file_key_ref, resource_field_ref,
                       secret_key_ref)
EVENKEEL_DEFINE_FIELDS(EnvVar, name, value, value_from)
EVENKEEL_DEFINE_FIELDS(ConfigMapEnvSource, name, optional)
EVENKEEL_DEFINE_FIELDS(SecretEnvSource, name, optional)
EVENKEEL_DEFINE_FIELDS(EnvFromSource, config_map_ref, prefix, secret_ref)
EVENKEEL_DEFINE_FIELDS(ExecAction, command)
EVENKEEL_DEFINE_FIELDS(HTTPHeader, name, value)
EVENKEEL_DEFINE_FIELDS(HTTPGetAction, host, http_headers, path, port, scheme)
EVENKEEL_DEFINE_FIELDS(SleepAction, seconds)
EVENKEEL_DEFINE_FIELDS(TCPSocketAction, host, port)
EVENKEEL_DEFINE_FIELDS(LifecycleHandler, exec, http_get, sleep, tcp_socket)
EVENKEEL_DEFINE_FIELDS(Lifecycle, post_start, pre_stop, stop_signal)
EVENKEEL_DEFINE_FIELDS(GRPCAction, port, service)
EVENKEEL_DEFINE_FIELDS(Probe, exec, failure_threshold, grpc, http_get, initial_delay_seconds, period_seconds,
                       success_threshold, tcp_socket, termination_grace_period_seconds, timeout_seconds)
EVENKEEL_DEFINE_FIELDS(ContainerPort, name, container_port, (host_ip, wire("hostIP")), host_port, protocol)
EVENKEEL_DEFINE_FIELDS(ContainerResizePolicy, resource_name, restart_policy)
EVENKEEL_DEFINE_FIELDS(ResourceClaim, name, request)
EVENKEEL_DEFINE_FIELDS(ResourceRequirements, (claims, list_map("name")), limits, requests)
EVENKEEL_DEFINE_FIELDS(ContainerRestartRuleOnExitCodes, operator_, (values, list_set))
EVENKEEL_DEFINE_FIELDS(ContainerRestartRule, action, exit_codes)
EVENKEEL_DEFINE_FIELDS(AppArmorProfile, localhost_profile, type)
EVENKEEL_DEFINE_FIELDS(Capabilities, add, drop)
EVENKEEL_DEFINE_FIELDS(SELinuxOptions, level, role, type, user)
EVENKEEL_DEFINE_FIELDS(SeccompProfile, localhost_profile, type)
EVENKEEL_DEFINE_FIELDS(WindowsSecurityContextOptions, gmsa_credential_spec, gmsa_credential_spec_name,
                       host_process, run_as_user_name)
EVENKEEL_DEFINE_FIELDS(SecurityContext, allow_privilege_escalation, app_armor_profile, capabilities,
                       privileged, proc_mount, read_only_root_filesystem, run_as_group, run_as_non_root,
                       run_as_user, se_linux_options, seccomp_profile, windows_options)
EVENKEEL_DEFINE_FIELDS(VolumeDevice, name, device_path)
EVENKEEL_DEFINE_FIELDS(VolumeMount, name, mount_path, mount_propagation, read_only, recursive_read_only,
                       sub_path, sub_path_expr)
EVENKEEL_DEFINE_FIELDS(Container, name, args, command, (env, list_map("name")), env_from, image,
                       image_pull_policy, lifecycle, liveness_probe,
                       (ports, list_map("containerPort", "protocol")), readiness_probe, resize_policy,
                       resources, restart_policy, restart_policy_rules, security_context, startup_probe,
                       stdin, stdin_once, termination_message_path, termination_message_policy, tty,
                       (volume_devices, list_map("devicePath")), (volume_mounts, list_map("mountPath")),
                       working_dir)
EVENKEEL_DEFINE_FIELDS(PodDNSConfigOption, name, value)
EVENKEEL_DEFINE_FIELDS(PodDNSConfig, nameservers, options, searches)
EVENKEEL_DEFINE_FIELDS(EphemeralContainer, name, args, command, (env, list_map("name")), env_from, image,
                       image_pull_policy, lifecycle, liveness_probe,
                       (ports, list_map("containerPort", "protocol")), readiness_probe, resize_policy,
                       resources, restart_policy, restart_policy_rules, security_context, startup_probe,
                       stdin, stdin_once, target_container_name, termination_message_path,
                       termination_message_policy, tty, (volume_devices, list_map("devicePath")),
                       (volume_mounts, list_map("mountPath")), working_dir)
EVENKEEL_DEFINE_FIELDS(HostAlias, hostnames, ip)
EVENKEEL_DEFINE_FIELDS(PodOS, name)
EVENKEEL_DEFINE_FIELDS(PodReadinessGate, condition_type)
EVENKEEL_DEFINE_FIELDS(PodResourceClaim, name, resource_claim_name, resource_claim_template_name)
EVENKEEL_DEFINE_FIELDS(PodSchedulingGate, name)
EVENKEEL_DEFINE_FIELDS(PodSchedulingGroup, pod_group_name)
EVENKEEL_DEFINE_FIELDS(Sysctl, name, value)
EVENKEEL_DEFINE_FIELDS(PodSecurityContext, app_armor_profile, fs_group, fs_group_change_policy, run_as_group,
                       run_as_non_root, run_as_user, se_linux_change_policy, se_linux_options,
                       seccomp_profile, supplemental_groups, supplemental_groups_policy, sysctls,
                       windows_options)
EVENKEEL_DEFINE_FIELDS(Toleration, effect, key, operator_, toleration_seconds, value)
EVENKEEL_DEFINE_FIELDS(TopologySpreadConstraint, label_selector, match_label_keys, max_skew, min_domains,
                       node_affinity_policy, node_taints_policy, topology_key, when_unsatisfiable)
EVENKEEL_DEFINE_FIELDS(AWSElasticBlockStoreVolumeSource, fs_type, partition, read_only,
                       (volume_id, wire("volumeID")))
EVENKEEL_DEFINE_FIELDS(AzureDiskVolumeSource, caching_mode, disk_name, (disk_uri, wire("diskURI")), fs_type,
                       kind, read_only)
EVENKEEL_DEFINE_FIELDS(AzureFileVolumeSource, read_only, secret_name, share_name)
EVENKEEL_DEFINE_FIELDS(CephFSVolumeSource, monitors, path, read_only, secret_file, secret_ref, user)
EVENKEEL_DEFINE_FIELDS(CinderVolumeSource, fs_type, read_only, secret_ref, (volume_id, wire("volumeID")))
EVENKEEL_DEFINE_FIELDS(KeyToPath, key, mode, path)
EVENKEEL_DEFINE_FIELDS(ConfigMapVolumeSource, name, default_mode, items, optional)
EVENKEEL_DEFINE_FIELDS(CSIVolumeSource, driver, fs_type, node_publish_secret_ref, read_only,
                       volume_attributes)
EVENKEEL_DEFINE_FIELDS(DownwardAPIVolumeFile, field_ref, mode, path, resource_field_ref)
EVENKEEL_DEFINE_FIELDS(DownwardAPIVolumeSource, default_mode, items)
EVENKEEL_DEFINE_FIELDS(EmptyDirVolumeSource, medium, size_limit)
EVENKEEL_DEFINE_FIELDS(TypedLocalObjectReference, name, api_group, kind)
EVENKEEL_DEFINE_FIELDS(TypedObjectReference, name, api_group, kind, namespace_)
EVENKEEL_DEFINE_FIELDS(VolumeResourceRequirements, limits, requests)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaimSpec, access_modes, data_source, data_source_ref, resources,
                       selector, storage_class_name, volume_attributes_class_name, volume_mode, volume_name)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaimTemplate, metadata, spec)
EVENKEEL_DEFINE_FIELDS(EphemeralVolumeSource, volume_claim_template)
EVENKEEL_DEFINE_FIELDS(FCVolumeSource, fs_type, lun, read_only, (target_wwns, wire("targetWWNs")), wwids)
EVENKEEL_DEFINE_FIELDS(FlexVolumeSource, driver, fs_type, options, read_only, secret_ref)
EVENKEEL_DEFINE_FIELDS(FlockerVolumeSource, dataset_name, (dataset_uuid, wire("datasetUUID")))
EVENKEEL_DEFINE_FIELDS(GCEPersistentDiskVolumeSource, fs_type, partition, pd_name, read_only)
EVENKEEL_DEFINE_FIELDS(GitRepoVolumeSource, directory, repository, revision)
EVENKEEL_DEFINE_FIELDS(GlusterfsVolumeSource, endpoints, path, read_only)
EVENKEEL_DEFINE_FIELDS(HostPathVolumeSource, path, type)
EVENKEEL_DEFINE_FIELDS(ImageVolumeSource, pull_policy, reference)
EVENKEEL_DEFINE_FIELDS(ISCSIVolumeSource, chap_auth_discovery, chap_auth_session, fs_type, initiator_name,
                       iqn, iscsi_interface, lun, portals, read_only, secret_ref, target_portal)
EVENKEEL_DEFINE_FIELDS(NFSVolumeSource, path, read_only, server)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaimVolumeSource, claim_name, read_only)
EVENKEEL_DEFINE_FIELDS(PhotonPersistentDiskVolumeSource, fs_type, (pd_id, wire("pdID")))
EVENKEEL_DEFINE_FIELDS(PortworxVolumeSource, fs_type, read_only, (volume_id, wire("volumeID")))
EVENKEEL_DEFINE_FIELDS(ClusterTrustBundleProjection, name, label_selector, optional, path, signer_name)
EVENKEEL_DEFINE_FIELDS(ConfigMapProjection, name, items, optional)
EVENKEEL_DEFINE_FIELDS(DownwardAPIProjection, items)
EVENKEEL_DEFINE_FIELDS(PodCertificateProjection, certificate_chain_path, credential_bundle_path, key_path,
                       key_type, max_expiration_seconds, signer_name, user_annotations)
EVENKEEL_DEFINE_FIELDS(SecretProjection, name, items, optional)
EVENKEEL_DEFINE_FIELDS(ServiceAccountTokenProjection, audience, expiration_seconds, path)
EVENKEEL_DEFINE_FIELDS(VolumeProjection, cluster_trust_bundle, config_map,
                       (downward_api, wire("downwardAPI")), pod_certificate, secret, service_account_token)
EVENKEEL_DEFINE_FIELDS(ProjectedVolumeSource, default_mode, sources)
EVENKEEL_DEFINE_FIELDS(QuobyteVolumeSource, group, read_only, registry, tenant, user, volume)
EVENKEEL_DEFINE_FIELDS(RBDVolumeSource, fs_type, image, keyring, monitors, pool, read_only, secret_ref, user)
EVENKEEL_DEFINE_FIELDS(ScaleIOVolumeSource, fs_type, gateway, protection_domain, read_only, secret_ref,
                       ssl_enabled, storage_mode, storage_pool, system, volume_name)
EVENKEEL_DEFINE_FIELDS(SecretVolumeSource, default_mode, items, optional, secret_name)
EVENKEEL_DEFINE_FIELDS(StorageOSVolumeSource, fs_type, read_only, secret_ref, volume_name, volume_namespace)
EVENKEEL_DEFINE_FIELDS(VsphereVirtualDiskVolumeSource, fs_type, (storage_policy_id, wire("storagePolicyID")),
                       storage_policy_name, volume_path)
EVENKEEL_DEFINE_FIELDS(Volume, name, aws_elastic_block_store, azure_disk, azure_file, cephfs, cinder,
                       config_map, csi, (downward_api, wire("downwardAPI")), empty_dir, ephemeral, fc,
                       flex_volume, flocker, gce_persistent_disk, git_repo, glusterfs, host_path, image,
                       iscsi, nfs, persistent_volume_claim, photon_persistent_disk, portworx_volume,
                       projected, quobyte, rbd, (scale_io, wire("scaleIO")), secret, storageos,
                       vsphere_volume)
EVENKEEL_DEFINE_FIELDS(PodSpec, active_deadline_seconds, affinity, automount_service_account_token,
                       (containers, list_map("name")), dns_config, dns_policy, enable_service_links,
                       (ephemeral_containers, list_map("name")), (host_aliases, list_map("ip")),
                       (host_ipc, wire("hostIPC")), host_network, (host_pid, wire("hostPID")), host_users,
                       hostname, hostname_override, (image_pull_secrets, list_map("name")),
                       (init_containers, list_map("name")), node_name, node_selector, os, overhead,
                       preemption_policy, priority, priority_class_name, readiness_gates,
                       (resource_claims, list_map("name")), resources, restart_policy, runtime_class_name,
                       scheduler_name, (scheduling_gates, list_map("name")), scheduling_group,
                       security_context, service_account, service_account_name,
                       (set_hostname_as_fqdn, wire("setHostnameAsFQDN")), share_process_namespace, subdomain,
                       termination_grace_period_seconds, tolerations,
                       (topology_spread_constraints, list_map("topologyKey", "whenUnsatisfiable")),
                       (volumes, list_map("name")))
EVENKEEL_DEFINE_FIELDS(PodCondition, status, last_probe_time, last_transition_time, message,
                       observed_generation, reason, type)
EVENKEEL_DEFINE_FIELDS(ResourceHealth, health, message, (resource_id, wire("resourceID")))
EVENKEEL_DEFINE_FIELDS(ResourceStatus, name, (resources, list_map("resourceID")))
EVENKEEL_DEFINE_FIELDS(ContainerStateRunning, started_at)
EVENKEEL_DEFINE_FIELDS(ContainerStateTerminated, (container_id, wire("containerID")), exit_code, finished_at,
                       message, reason, signal, started_at)
EVENKEEL_DEFINE_FIELDS(ContainerStateWaiting, message, reason)
EVENKEEL_DEFINE_FIELDS(ContainerState, running, terminated, waiting)
EVENKEEL_DEFINE_FIELDS(LinuxContainerUser, gid, supplemental_groups, uid)
EVENKEEL_DEFINE_FIELDS(ContainerUser, linux_)
EVENKEEL_DEFINE_FIELDS(ImageVolumeStatus, image_ref)
EVENKEEL_DEFINE_FIELDS(VolumeStatus, image)
EVENKEEL_DEFINE_FIELDS(VolumeMountStatus, name, mount_path, read_only, recursive_read_only, volume_status)
EVENKEEL_DEFINE_FIELDS(ContainerStatus, name, allocated_resources,
                       (allocated_resources_status, list_map("name")), (container_id, wire("containerID")),
                       image, (image_id, wire("imageID")), last_state, ready, resources, restart_count,
                       started, state, stop_signal, user, (volume_mounts, list_map("mountPath")))
EVENKEEL_DEFINE_FIELDS(ContainerExtendedResourceRequest, container_name, request_name, resource_name)
EVENKEEL_DEFINE_FIELDS(PodExtendedResourceClaimStatus, request_mappings, resource_claim_name)
EVENKEEL_DEFINE_FIELDS(HostIP, ip)
EVENKEEL_DEFINE_FIELDS(NodeAllocatableResourceClaimStatus, (containers, list_set), resource_claim_name,
                       resources)
EVENKEEL_DEFINE_FIELDS(PodIP, ip)
EVENKEEL_DEFINE_FIELDS(PodResourceClaimStatus, name, resource_claim_name)
EVENKEEL_DEFINE_FIELDS(PodStatus, allocated_resources, (conditions, list_map("type")), container_statuses,
                       ephemeral_container_statuses, extended_resource_claim_status,
                       (host_ip, wire("hostIP")), (host_ips, wire("hostIPs"), match_by("ip")),
                       init_container_statuses, message, node_allocatable_resource_claim_statuses,
                       nominated_node_name, observed_generation, phase, (pod_ip, wire("podIP")),
                       (pod_ips, wire("podIPs"), list_map("ip")), qos_class, reason, resize,
                       (resource_claim_statuses, list_map("name")), resources, start_time)
EVENKEEL_DEFINE_FIELDS(Pod, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(ConfigMapNodeConfigSource, name, kubelet_config_key, namespace_, resource_version, uid)
EVENKEEL_DEFINE_FIELDS(NodeConfigSource, config_map)
EVENKEEL_DEFINE_FIELDS(Taint, effect, key, time_added, value)
EVENKEEL_DEFINE_FIELDS(NodeSpec, config_source, (external_id, wire("externalID")),
                       (pod_cidr, wire("podCIDR")), (pod_cidrs, wire("podCIDRs"), list_set),
                       (provider_id, wire("providerID")), taints, unschedulable)
EVENKEEL_DEFINE_FIELDS(NodeAddress, address, type)
EVENKEEL_DEFINE_FIELDS(NodeCondition, status, last_heartbeat_time, last_transition_time, message, reason,
                       type)
EVENKEEL_DEFINE_FIELDS(NodeConfigStatus, active, assigned, error, last_known_good)
EVENKEEL_DEFINE_FIELDS(DaemonEndpoint, (port, wire("Port")))
EVENKEEL_DEFINE_FIELDS(NodeDaemonEndpoints, kubelet_endpoint)
EVENKEEL_DEFINE_FIELDS(NodeFeatures, supplemental_groups_policy)
EVENKEEL_DEFINE_FIELDS(ContainerImage, names, size_bytes)
EVENKEEL_DEFINE_FIELDS(NodeSwapStatus, capacity)
EVENKEEL_DEFINE_FIELDS(NodeSystemInfo, architecture, (boot_id, wire("bootID")), container_runtime_version,
                       kernel_version, kube_proxy_version, kubelet_version, (machine_id, wire("machineID")),
                       operating_system, os_image, swap, (system_uuid, wire("systemUUID")))
EVENKEEL_DEFINE_FIELDS(NodeRuntimeHandlerFeatures, recursive_read_only_mounts, user_namespaces)
EVENKEEL_DEFINE_FIELDS(NodeRuntimeHandler, name, features)
EVENKEEL_DEFINE_FIELDS(AttachedVolume, name, device_path)
EVENKEEL_DEFINE_FIELDS(NodeStatus, (addresses, list_map("type")), allocatable, capacity,
                       (conditions, list_map("type")), config, daemon_endpoints, declared_features, features,
                       images, node_info, phase, runtime_handlers, volumes_attached, volumes_in_use)
EVENKEEL_DEFINE_FIELDS(Node, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaimCondition, status, last_probe_time, last_transition_time, message,
                       reason, type)
EVENKEEL_DEFINE_FIELDS(ModifyVolumeStatus, status, target_volume_attributes_class_name)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaimStatus, access_modes, allocated_resource_statuses,
                       allocated_resources, capacity, (conditions, list_map("type")),
                       current_volume_attributes_class_name, modify_volume_status, phase)
EVENKEEL_DEFINE_FIELDS(PersistentVolumeClaim, metadata, spec, status)
EVENKEEL_DEFINE_FIELDS(PodTemplateSpec, metadata, spec)

}  // namespace core_v1
}  // namespace v0
}  // namespace evenkeel
