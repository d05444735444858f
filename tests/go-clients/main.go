// SPDX-License-Identifier: Apache-2.0

// What client-go and controller-runtime make of a server: each scenario does what operators do and prints what
// came back, without what changes from run to run, so that two servers can be compared line by line.
//
//	go-clients [-content json|protobuf] [-only SCENARIO]     the server is that of KUBECONFIG
//
// Ends with 1 if a scenario failed.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// How long a scenario waits for what it waits for.
const patience = 20 * time.Second

type scenario struct {
	name string
	run  func(*tester)
}

var scenarios = []scenario{
	{"typed", typed}, {"conflicts", conflicts}, {"paging", paging}, {"patches", patches}, {"apply", apply},
	{"dynamic", dynamicClient}, {"custom", customResources}, {"discovery", discovered}, {"metadata", metadataOnly},
	{"watch", watches}, {"streaming list", streamingList}, {"informer", informer}, {"informer without streaming", informerWithoutStreaming},
	{"leader election", leaderElection}, {"events", events}, {"subresources", subresources}, {"deletion", deletion},
	{"limits", limits}, {"reconciler", reconciler},
}

// tester is what a scenario has to itself: a namespace and a place to print to.
type tester struct {
	context.Context
	namespace string
	config    *rest.Config
	clients   *kubernetes.Clientset
	out       io.Writer
}

var changing = []struct {
	pattern *regexp.Regexp
	by      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( \+0000 UTC|Z)`), "TIME"},
	{regexp.MustCompile(`(ResourceVersion in record \()\d+`), "${1}VERSION"},
	{regexp.MustCompile(`(resourceVersion"?: ?"?)\d+`), "${1}VERSION"},
}

func (t *tester) say(format string, values ...any) {
	text := strings.ReplaceAll(fmt.Sprintf(format, values...), t.namespace, "NS")
	for _, change := range changing {
		text = change.pattern.ReplaceAllString(text, change.by)
	}
	fmt.Fprintln(t.out, "  "+text)
}

type failure struct{ error }

// must ends the scenario with an error that it did not expect.
func (t *tester) must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// refused prints the error of a call that has to fail.
func (t *tester) refused(what string, err error) {
	if err == nil {
		panic(failure{fmt.Errorf("%s was not refused", what)})
	}
	t.say("%s: %T: %v", what, err, err)
}

func must[Value any](t *tester) func(Value, error) Value {
	return func(value Value, err error) Value {
		t.must(err)
		return value
	}
}

// eventually waits until the condition holds.
func (t *tester) eventually(what string, holds func() (bool, error)) {
	if err := wait.PollUntilContextTimeout(t, 20*time.Millisecond, patience, true,
		func(context.Context) (bool, error) { return holds() }); err != nil {
		panic(failure{fmt.Errorf("waited for %s: %w", what, err)})
	}
}

// next waits for something to come.
func next[Value any](t *tester, what string, from <-chan Value) Value {
	select {
	case value, open := <-from:
		if !open {
			panic(failure{fmt.Errorf("waited for %s: the channel was closed", what)})
		}
		return value
	case <-time.After(patience):
		panic(failure{fmt.Errorf("waited %s for %s", patience, what)})
	}
}

func run(one scenario, config *rest.Config) (err error) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	t := &tester{Context: ctx, config: config, clients: kubernetes.NewForConfigOrDie(config), out: os.Stdout}
	t.namespace = fmt.Sprintf("%s-%d", strings.ReplaceAll(one.name, " ", "-"), os.Getpid())
	defer func() {
		if problem := recover(); problem != nil {
			found, expected := problem.(failure)
			if !expected {
				panic(problem)
			}
			err = found.error
		}
	}()
	fmt.Println("== " + one.name)
	must[*corev1.Namespace](t)(t.clients.CoreV1().Namespaces().Create(ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: t.namespace}}, metav1.CreateOptions{}))
	one.run(t)
	return nil
}

func main() {
	content := flag.String("content", "json", "json or protobuf: how typed clients send and ask for built-in kinds")
	only := flag.String("only", "", "run this scenario alone")
	flag.Parse()
	klog.SetLogger(logr.Discard())

	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	config.QPS, config.Burst = 1000, 1000
	config.UserAgent = "go-clients" // who manages fields
	switch *content {
	case "json":
		config.ContentType = runtime.ContentTypeJSON
		config.AcceptContentTypes = runtime.ContentTypeJSON
	case "protobuf":
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	default:
		fmt.Fprintln(os.Stderr, "-content is json or protobuf")
		os.Exit(2)
	}
	failed := false
	for _, one := range scenarios {
		if *only != "" && *only != one.name {
			continue
		}
		begun := time.Now()
		if err := run(one, config); err != nil {
			fmt.Printf("FAILED %s: %v\n", one.name, err)
			failed = true
		}
		fmt.Fprintf(os.Stderr, "%-28s %6.2f s\n", one.name, time.Since(begun).Seconds())
	}
	if failed {
		os.Exit(1)
	}
}
