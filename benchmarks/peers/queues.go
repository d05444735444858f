// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
)

// queue is the common interface of both peers. Resyncs have a priority below zero; client-go has no priorities and
// ignores it.
type queue interface {
	add(key string)
	addWithPriority(key string, priority int)
	addAfter(key string, delay time.Duration)
	get() (key string, shutDown bool)
	done(key string)
	// settled blocks until all added keys are in the queue itself, and returns the number of ready keys.
	settled() int
	shutDown()
	hasPriorities() bool
}

// peers maps names to constructors. A queue with a name has metrics: for both peers those of controller-runtime, as in
// its managers.
var peers = map[string]func(name string) queue{
	"client-go":          newClientGo,
	"controller-runtime": newControllerRuntime,
}

type clientGo struct {
	q workqueue.TypedDelayingInterface[string]
}

func newClientGo(name string) queue {
	return &clientGo{workqueue.NewTypedDelayingQueueWithConfig(workqueue.TypedDelayingQueueConfig[string]{Name: name})}
}

func (c *clientGo) add(key string)                           { c.q.Add(key) }
func (c *clientGo) addWithPriority(key string, _ int)        { c.q.Add(key) }
func (c *clientGo) addAfter(key string, delay time.Duration) { c.q.AddAfter(key, delay) }
func (c *clientGo) get() (string, bool)                      { return c.q.Get() }
func (c *clientGo) done(key string)                          { c.q.Done(key) }
func (c *clientGo) settled() int                             { return c.q.Len() }
func (c *clientGo) shutDown()                                { c.q.ShutDown() }
func (c *clientGo) hasPriorities() bool                      { return false }

// controllerRuntime wraps controller-runtime's queue, which adds keys to a buffer; another goroutine moves them to its
// trees. Len flushes the buffer first. It is the default of controller-runtime's controllers.
type controllerRuntime struct {
	q priorityqueue.PriorityQueue[string]
}

func newControllerRuntime(name string) queue {
	return &controllerRuntime{priorityqueue.New[string](name)}
}

func (c *controllerRuntime) add(key string) { c.q.Add(key) }
func (c *controllerRuntime) addWithPriority(key string, priority int) {
	c.q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, key)
}
func (c *controllerRuntime) addAfter(key string, delay time.Duration) { c.q.AddAfter(key, delay) }
func (c *controllerRuntime) get() (string, bool)                      { return c.q.Get() }
func (c *controllerRuntime) done(key string)                          { c.q.Done(key) }
func (c *controllerRuntime) settled() int                             { return c.q.Len() }
func (c *controllerRuntime) shutDown()                                { c.q.ShutDown() }
func (c *controllerRuntime) hasPriorities() bool                      { return true }

func makeKeys(count int) []string {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace0/deployment-with-a-long-name-%08d", i)
	}
	return keys
}
