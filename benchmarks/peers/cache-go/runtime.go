// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runtimeCache is controller-runtime's cache, read through its client.
type runtimeCache struct {
	client   client.Client
	all      []cache.Informer
	metadata bool
}

func startRuntime(ctx context.Context, s *settings) *runtimeCache {
	scheme := runtime.NewScheme()
	fail(clientgoscheme.AddToScheme(scheme))
	under, err := cache.New(s.config, cache.Options{Scheme: scheme, DefaultNamespaces: scope(s)})
	fail(err)
	c := &runtimeCache{metadata: s.metadata}
	c.client, err = client.New(s.config, client.Options{Scheme: scheme, Cache: &client.CacheOptions{Reader: under}})
	fail(err)
	for _, kind := range kinds(s) {
		if _, pods := kind.(*corev1.Pod); pods && s.namespaces == 0 {
			fail(under.IndexField(ctx, kind, "app", func(object client.Object) []string {
				return []string{object.GetLabels()["app"]}
			}))
		}
		informer, err := under.GetInformer(ctx, kind, cache.BlockUntilSynced(false))
		fail(err)
		c.all = append(c.all, informer)
	}
	if s.namespaces == 0 {
		_, err = c.all[0].AddEventHandler(handlers(s))
		fail(err)
	}
	go func() { fail(under.Start(ctx)) }()
	return c
}

func scope(s *settings) map[string]cache.Config {
	if s.namespaces == 0 && s.namespace == "" {
		return nil
	}
	namespaces := map[string]cache.Config{}
	if s.namespace != "" {
		namespaces[s.namespace] = cache.Config{}
	}
	for at := range s.namespaces {
		namespaces[fmt.Sprintf("idle-%d", at)] = cache.Config{}
	}
	return namespaces
}

func kinds(s *settings) []client.Object {
	if s.metadata {
		pods := &metav1.PartialObjectMetadata{}
		pods.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Pod"))
		return []client.Object{pods}
	}
	if s.namespaces == 0 {
		return []client.Object{&corev1.Pod{}}
	}
	return []client.Object{&corev1.Pod{}, &corev1.ConfigMap{}, &corev1.Secret{}, &corev1.Service{}, &corev1.ServiceAccount{},
		&corev1.PersistentVolumeClaim{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
		&appsv1.DaemonSet{}}
}

func (c *runtimeCache) hasSynced() bool {
	return !slices.ContainsFunc(c.all, func(one cache.Informer) bool { return !one.HasSynced() })
}

func (c *runtimeCache) keys() []string {
	informer, ok := c.all[0].(toolscache.SharedIndexInformer)
	if !ok {
		return nil // of several namespaces
	}
	keys := informer.GetStore().ListKeys()
	slices.Sort(keys)
	return keys
}

func (c *runtimeCache) get(key string) {
	namespace, name, err := toolscache.SplitMetaNamespaceKey(key)
	fail(err)
	var pod corev1.Pod
	fail(c.client.Get(context.Background(), types.NamespacedName{Namespace: namespace, Name: name}, &pod))
}

func (c *runtimeCache) list() int {
	var pods corev1.PodList
	fail(c.client.List(context.Background(), &pods, client.MatchingFields{"app": app}))
	return len(pods.Items)
}
