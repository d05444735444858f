// SPDX-License-Identifier: Apache-2.0

// A control plane in one program: etcd, kube-apiserver, kube-controller-manager, kubectl or, of a kubelet,
// kubelet-streams, by the name it is called under. scripts/control-plane builds it and makes the links; its
// parts are pinned in go.mod.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

func main() {
	programs := map[string]func() *cobra.Command{
		"kube-apiserver":          apiserver.NewAPIServerCommand,
		"kube-controller-manager": controllermanager.NewControllerManagerCommand,
		"kubectl":                 func() *cobra.Command { return kubectl.NewDefaultKubectlCommand() },
	}
	name := filepath.Base(os.Args[0])
	if name == "etcd" {
		etcdmain.Main(os.Args)
		return
	}
	if name == "kubelet-streams" {
		serveStreams()
		return
	}
	newCommand, known := programs[name]
	if !known {
		fmt.Fprintf(os.Stderr, "%s: call me etcd, kube-apiserver, kube-controller-manager, kubectl or kubelet-streams\n", name)
		os.Exit(2)
	}
	os.Exit(cli.Run(newCommand()))
}
