// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// informerCache is client-go's shared informers.
type informerCache struct {
	all    []cache.SharedIndexInformer
	lister corelisters.PodLister
}

func startInformers(ctx context.Context, s *settings) *informerCache {
	if s.metadata {
		return startMetadata(ctx, s)
	}
	client, err := kubernetes.NewForConfig(s.config)
	fail(err)
	if s.namespaces > 0 {
		return startIdle(ctx, s, client)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(s.namespace))
	pods := factory.Core().V1().Pods()
	fail(pods.Informer().AddIndexers(cache.Indexers{"app": func(object any) ([]string, error) {
		return []string{object.(*corev1.Pod).Labels["app"]}, nil
	}}))
	c := &informerCache{all: []cache.SharedIndexInformer{pods.Informer()}, lister: pods.Lister()}
	c.listen(s)
	factory.Start(ctx.Done())
	return c
}

func startMetadata(ctx context.Context, s *settings) *informerCache {
	client, err := metadata.NewForConfig(s.config)
	fail(err)
	factory := metadatainformer.NewSharedInformerFactory(client, 0)
	c := &informerCache{all: []cache.SharedIndexInformer{
		factory.ForResource(corev1.SchemeGroupVersion.WithResource("pods")).Informer().(cache.SharedIndexInformer)}}
	c.listen(s)
	factory.Start(ctx.Done())
	return c
}

func startIdle(ctx context.Context, s *settings, client kubernetes.Interface) *informerCache {
	c := &informerCache{}
	for at := range s.namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(fmt.Sprintf("idle-%d", at)))
		core, apps := factory.Core().V1(), factory.Apps().V1()
		c.all = append(c.all, core.Pods().Informer(), core.ConfigMaps().Informer(), core.Secrets().Informer(),
			core.Services().Informer(), core.ServiceAccounts().Informer(), core.PersistentVolumeClaims().Informer(),
			apps.Deployments().Informer(), apps.ReplicaSets().Informer(), apps.StatefulSets().Informer(),
			apps.DaemonSets().Informer())
		factory.Start(ctx.Done())
	}
	return c
}

func (c *informerCache) listen(s *settings) {
	_, err := c.all[0].AddEventHandler(handlers(s))
	fail(err)
}

func handlers(s *settings) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { s.told.event() },
		UpdateFunc: func(any, any) { s.told.event() },
		DeleteFunc: func(any) { s.told.event() },
	}
}

func (c *informerCache) hasSynced() bool {
	return !slices.ContainsFunc(c.all, func(one cache.SharedIndexInformer) bool { return !one.HasSynced() })
}

func (c *informerCache) keys() []string {
	keys := c.all[0].GetStore().ListKeys()
	slices.Sort(keys)
	return keys
}

func (c *informerCache) get(key string) {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	fail(err)
	_, err = c.lister.Pods(namespace).Get(name)
	fail(err)
}

func (c *informerCache) list() int {
	found, err := c.all[0].GetIndexer().ByIndex("app", app)
	fail(err)
	return len(found)
}
