// SPDX-License-Identifier: Apache-2.0

// The operator of benchmarks/webhook on controller-runtime: the same flags as benchmarks/webhook/operator.cpp,
// which documents them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"evenkeel.dev/benchmarks/peers/measure"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

const mostReplicas = 100

type shops struct{}

func (shops) Default(ctx context.Context, shop *Shop) error {
	request, err := admission.RequestFromContext(ctx)
	if err != nil {
		return err
	}
	if shop.Spec.Replicas == nil {
		shop.Spec.Replicas = new(int64(2))
	}
	if shop.Spec.PullPolicy == nil {
		shop.Spec.PullPolicy = new("IfNotPresent")
	}
	for i := range shop.Spec.Ports {
		if shop.Spec.Ports[i].Protocol == nil {
			shop.Spec.Ports[i].Protocol = new("TCP")
		}
	}
	if _, found := shop.Annotations["bench.evenkeel.dev/author"]; !found {
		if shop.Annotations == nil {
			shop.Annotations = map[string]string{}
		}
		shop.Annotations["bench.evenkeel.dev/author"] = request.UserInfo.Username
	}
	return nil
}

func check(old, shop *Shop) (admission.Warnings, error) {
	var problems field.ErrorList
	if shop.Spec.Image == "" {
		problems = append(problems, field.Required(field.NewPath("spec", "image"), "it has no default"))
	}
	if shop.Spec.Replicas != nil && *shop.Spec.Replicas > mostReplicas {
		problems = append(problems, field.Invalid(field.NewPath("spec", "replicas"), *shop.Spec.Replicas, "must be at most 100"))
	}
	if len(problems) > 0 {
		return nil, apierrors.NewInvalid(groupVersion.WithKind("Shop").GroupKind(), shop.Name, problems)
	}
	if old != nil && old.Spec.Image != shop.Spec.Image {
		return admission.Warnings{"all pods restart"}, nil
	}
	return nil, nil
}

func (shops) ValidateCreate(_ context.Context, shop *Shop) (admission.Warnings, error) {
	return check(nil, shop)
}

func (shops) ValidateUpdate(_ context.Context, old, shop *Shop) (admission.Warnings, error) {
	return check(old, shop)
}

func (shops) ValidateDelete(context.Context, *Shop) (admission.Warnings, error) { return nil, nil }

func main() {
	kubeconfig := flag.String("server", "", "kubeconfig file")
	port := flag.Int("port", 9443, "port of 127.0.0.1")
	certificates := flag.String("certificates", "", "folder with tls.crt and tls.key")
	asked := flag.Bool("versions", false, "print the versions of what is compared and end")
	flag.Parse()
	if *asked {
		measure.Versions()
		return
	}
	if err := run(*kubeconfig, *port, *certificates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig string, port int, certificates string) error {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	addShops(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certificates})})
	if err != nil {
		return err
	}
	if err := ctrl.NewWebhookManagedBy(manager, &Shop{}).WithDefaulter(shops{}).WithValidator(shops{}).Complete(); err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
