// SPDX-License-Identifier: Apache-2.0

// The program of benchmarks/cache on client-go's informers and on controller-runtime's cache: the same flags, commands
// and lines of output as benchmarks/cache/client.cpp, which documents them, and a flag for which of both.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"evenkeel.dev/benchmarks/peers/measure"
	"github.com/go-logr/logr"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	hot = 100 // pods that the paced reader reads
	app = "app-7"
)

type settings struct {
	config     *rest.Config
	metadata   bool
	namespace  string
	namespaces int
	told       told
}

// cacheUnderTest is an informer of pods, or a cache with one.
type cacheUnderTest interface {
	hasSynced() bool
	keys() []string
	get(key string) // as callers read: typed
	list() int      // pods of one value of the index
}

func main() {
	kubeconfig := flag.String("server", "", "kubeconfig file")
	client := flag.String("client", "informer", "informer, informer-json or runtime")
	form := flag.String("form", "whole", "whole or metadata")
	namespace := flag.String("namespace", "", "of the pods; empty: all")
	namespaces := flag.Int("namespaces", 0, "idle namespaces to watch instead of pods")
	asked := flag.Bool("versions", false, "print the versions of what is compared and end")
	flag.Parse()
	if *asked {
		measure.Versions()
		return
	}
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	fail(err)
	config.QPS = -1
	switch *client { // by default typed clients prefer protobuf, too
	case "informer":
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	case "informer-json":
		config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
	}
	s := &settings{config: config, metadata: *form == "metadata", namespace: *namespace, namespaces: *namespaces}
	ctx := context.Background()
	var under cacheUnderTest
	if *client == "runtime" {
		under = startRuntime(ctx, s)
	} else {
		under = startInformers(ctx, s)
	}
	for !under.hasSynced() {
		time.Sleep(time.Millisecond)
	}
	at, cpu := measure.Now(), measure.CPUSeconds()
	s.told.synced.Store(true)
	say("synced", map[string]any{"at_ns": at, "cpu_s": cpu, "objects": len(under.keys())})
	obey(s, under)
}

func obey(s *settings, under cacheUnderTest) {
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		words := strings.Fields(commands.Text())
		number := int64(0)
		if len(words) > 1 {
			number, _ = strconv.ParseInt(words[1], 10, 64)
		}
		switch words[0] {
		case "collect":
			runtime.GC()
			debug.FreeOSMemory()
			say("collected", nil)
		case "count":
			s.told.expect(number)
		case "told":
			say("told", map[string]any{"events": s.told.count.Load()})
		case "get":
			key := under.keys()[0]
			say("get", map[string]any{"ns": each(number, func() { under.get(key) })})
		case "list":
			say("list", map[string]any{"ns": each(number, func() { under.list() }), "objects": under.list()})
		case "read":
			keys := under.keys()[:hot]
			for _, key := range keys {
				under.get(key)
			}
			go paced(number, func(at int64) { under.get(keys[at*37%hot]) })
		default:
			fail(fmt.Errorf("unknown command %s", words[0]))
		}
	}
	select {}
}
