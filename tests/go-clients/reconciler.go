// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/go-logr/logr"
)

const finalizer = "example.com/clean-up"

// keeper keeps a ConfigMap beside each StatefulSet, counts it in the status, and cleans up by a finalizer.
type keeper struct {
	client.Client
	cleaned atomic.Int32
}

func (k *keeper) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	set := &appsv1.StatefulSet{}
	if err := k.Get(ctx, request.NamespacedName, set); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !set.DeletionTimestamp.IsZero() {
		if controllerutil.RemoveFinalizer(set, finalizer) {
			if err := k.Update(ctx, set); err != nil {
				return ctrl.Result{}, err
			}
			k.cleaned.Add(1)
		}
		return ctrl.Result{}, nil
	}
	if controllerutil.AddFinalizer(set, finalizer) {
		if err := k.Update(ctx, set); err != nil {
			return ctrl.Result{}, err
		}
	}
	beside := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: set.Name, Namespace: set.Namespace}}
	if _, err := controllerutil.CreateOrUpdate(ctx, k.Client, beside, func() error {
		beside.Data = map[string]string{"replicas": fmt.Sprint(*set.Spec.Replicas)}
		return controllerutil.SetControllerReference(set, beside, scheme.Scheme)
	}); err != nil {
		return ctrl.Result{}, err
	}
	before := set.DeepCopy()
	set.Status.ObservedGeneration = set.Generation
	set.Status.Replicas = *set.Spec.Replicas
	return ctrl.Result{}, k.Status().Patch(ctx, set, client.MergeFrom(before))
}

func reconciler(t *tester) {
	ctrllog.SetLogger(logr.Discard())
	manager := must[ctrl.Manager](t)(ctrl.NewManager(t.config, ctrl.Options{
		Scheme: scheme.Scheme, Metrics: server.Options{BindAddress: "0"}, Cache: cache.Options{DefaultNamespaces: map[string]cache.Config{t.namespace: {}}},
		LeaderElection: true, LeaderElectionID: "keeper", LeaderElectionNamespace: t.namespace, LeaderElectionReleaseOnCancel: true}))
	mine := &keeper{Client: manager.GetClient()}
	t.must(ctrl.NewControllerManagedBy(manager).For(&appsv1.StatefulSet{}).Owns(&corev1.ConfigMap{}).Complete(mine))
	ctx, stop := context.WithCancel(t)
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	select {
	case <-manager.Elected():
	case <-time.After(patience):
		t.must(fmt.Errorf("waited %s for the election", patience))
	}

	direct := must[client.Client](t)(client.New(t.config, client.Options{Scheme: scheme.Scheme}))
	set := statefulSet("s")
	set.Namespace = t.namespace
	t.must(direct.Create(t, set))
	key := client.ObjectKeyFromObject(set)
	beside := &corev1.ConfigMap{}
	kept := func(replicas string) func() (bool, error) {
		return func() (bool, error) {
			err := direct.Get(t, key, beside)
			if err == nil {
				err = direct.Get(t, key, set)
			}
			return err == nil && beside.Data["replicas"] == replicas && fmt.Sprint(set.Status.Replicas) == replicas &&
				set.Status.ObservedGeneration == set.Generation, client.IgnoreNotFound(err)
		}
	}
	t.eventually("the ConfigMap is there", kept("1"))
	t.say("kept %v, owner %s %t, finalizers %v", beside.Data, beside.OwnerReferences[0].Kind, *beside.OwnerReferences[0].Controller, set.Finalizers)
	t.must(direct.Patch(t, set, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"replicas":4}}`))))
	t.eventually("the change arrives", kept("4"))
	t.must(direct.Delete(t, beside))
	t.eventually("it comes back", func() (bool, error) {
		err := direct.Get(t, key, beside)
		return err == nil, client.IgnoreNotFound(err)
	})
	t.must(direct.Delete(t, set))
	t.eventually("both are gone", func() (bool, error) {
		first, second := direct.Get(t, key, set), direct.Get(t, key, beside)
		// The server removes the set before the reconciler counts.
		return apierrors.IsNotFound(first) && apierrors.IsNotFound(second) && mine.cleaned.Load() > 0, nil
	})
	t.say("cleaned up %d time", mine.cleaned.Load())
	stop()
	select {
	case err := <-ended:
		t.say("the manager ended: %v", err)
	case <-time.After(patience):
		t.must(fmt.Errorf("waited %s for the manager to end", patience))
	}
}
