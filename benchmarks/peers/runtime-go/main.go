// SPDX-License-Identifier: Apache-2.0

// The operator of benchmarks/runtime on controller-runtime: the same modes, flags and lines of output as
// benchmarks/runtime/operator.cpp, which documents them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"evenkeel.dev/benchmarks/peers/measure"
	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const wait = 100 * time.Millisecond

// stretch measures the time from the first reconcile to the one that completes the work.
type stretch struct {
	wanted int64
	count  atomic.Int64
	once   sync.Once
	start  int64
	cpu    float64
}

func (s *stretch) begin() {
	s.once.Do(func() {
		s.start, s.cpu = measure.Now(), measure.CPUSeconds()
		measure.Say(map[string]any{"event": "first", "at_ns": s.start})
	})
}

func (s *stretch) step() {
	if s.count.Add(1) == s.wanted {
		measure.Say(map[string]any{"event": "done", "reconciles": s.wanted,
			"seconds": float64(measure.Now()-s.start) / 1e9, "cpu_s": measure.CPUSeconds() - s.cpu})
	}
}

// samples are the samples of mode latency.
type samples struct {
	mutex     sync.Mutex
	values    [][2]int64
	seen      map[string]int64
	first     float64
	last      float64
	objects   int
	saidReady bool
}

func (s *samples) take(name string, sent, at int64) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	before, known := s.seen[name]
	s.seen[name] = sent
	if !s.saidReady && len(s.seen) == s.objects {
		s.saidReady = true
		measure.Say(map[string]any{"event": "ready"})
	}
	if !known || before == sent {
		return
	}
	if len(s.values) == 0 {
		s.first = measure.CPUSeconds()
	}
	s.values = append(s.values, [2]int64{sent, at})
	s.last = measure.CPUSeconds()
}

func (s *samples) report() {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.values) == 0 {
		return
	}
	measure.Say(map[string]any{"event": "latency", "seen": s.values, "cpu_s": s.last - s.first})
}

type operator struct {
	client.Client
	mode    string
	rounds  int64
	token   int64
	begins  time.Time
	stretch *stretch
	samples *samples
	runs    sync.Map
}

func (o *operator) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if o.mode == "status" {
		time.Sleep(time.Until(o.begins))
	}
	o.stretch.begin()
	switch o.mode {
	case "latency":
		var gadget Gadget
		if err := o.Get(ctx, request.NamespacedName, &gadget); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		o.samples.take(gadget.Name, gadget.Spec.SentAt, measure.Now())
	case "empty":
		o.stretch.step()
		if o.again(request) {
			return reconcile.Result{RequeueAfter: time.Millisecond}, nil
		}
	case "status":
		return reconcile.Result{}, o.patchStatus(ctx, request)
	case "wait":
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		o.stretch.step()
	}
	return reconcile.Result{}, nil
}

func (o *operator) again(request reconcile.Request) bool {
	if o.rounds == 1 {
		return false
	}
	value, _ := o.runs.LoadOrStore(request.NamespacedName, new(atomic.Int64))
	return value.(*atomic.Int64).Add(1) < o.rounds
}

func (o *operator) patchStatus(ctx context.Context, request reconcile.Request) error {
	var gadget Gadget
	if err := o.Get(ctx, request.NamespacedName, &gadget); err != nil {
		return client.IgnoreNotFound(err)
	}
	if gadget.Status.Observed == o.token {
		return nil
	}
	before := client.MergeFrom(gadget.DeepCopy())
	gadget.Status.Observed = o.token
	gadget.Status.Phase = "Ready"
	if err := o.Status().Patch(ctx, &gadget, before); err != nil {
		return err
	}
	o.stretch.step()
	return nil
}

func main() {
	kubeconfig := flag.String("server", "", "kubeconfig file")
	mode := flag.String("mode", "start", "start, latency, empty, status or wait")
	workers := flag.Int("workers", 1, "reconciles at once")
	objects := flag.Int64("objects", 1, "objects that there are")
	rounds := flag.Int64("rounds", 1, "reconciles of each object in mode empty")
	token := flag.Int64("token", 1, "what mode status writes")
	watches := flag.Int("watches", 0, "empty namespaces whose Secrets are watched beside it")
	after := flag.Int64("after-ms", 0, "when mode status begins, after the program")
	asked := flag.Bool("versions", false, "print the versions of what is compared and end")
	flag.Parse()
	if *asked {
		measure.Versions()
		return
	}
	if err := run(*kubeconfig, *mode, *workers, *watches, *objects, *rounds, *token, time.Duration(*after)*time.Millisecond); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// silentNamespaces returns the scope of the cache for Secrets.
func silentNamespaces(watches int) cache.Options {
	if watches == 0 {
		return cache.Options{}
	}
	namespaces := map[string]cache.Config{}
	for at := range watches {
		namespaces[fmt.Sprintf("silent-%d", at)] = cache.Config{}
	}
	return cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.Secret{}: {Namespaces: namespaces}}}
}

func run(kubeconfig, mode string, workers, watches int, objects, rounds, token int64, after time.Duration) error {
	ctrl.SetLogger(logr.Discard())
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.QPS = -1 // the value set by controller-runtime's own configuration loader
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	addGadgets(scheme)
	manager, err := ctrl.NewManager(config, ctrl.Options{Scheme: scheme, Cache: silentNamespaces(watches),
		Metrics: metricsserver.Options{BindAddress: "0"}})
	if err != nil {
		return err
	}
	if watches > 0 {
		if _, err := manager.GetCache().GetInformer(context.Background(), &corev1.Secret{}, cache.BlockUntilSynced(false)); err != nil {
			return err
		}
	}
	operator := &operator{Client: manager.GetClient(), mode: mode, rounds: rounds, token: token, begins: time.Now().Add(after),
		stretch: &stretch{wanted: objects * rounds},
		samples: &samples{seen: map[string]int64{}, objects: int(objects)}}
	var kind client.Object = &Gadget{}
	if mode == "start" {
		kind = &corev1.ConfigMap{}
	}
	err = ctrl.NewControllerManagedBy(manager).For(kind).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(operator)
	if err != nil {
		return err
	}
	err = manager.Start(ctrl.SetupSignalHandler())
	operator.samples.report()
	return err
}
