// SPDX-License-Identifier: Apache-2.0

// Calls webhooks as kube-apiserver does: with client-go's transport, configured as in k8s.io/apiserver
// pkg/util/webhook/client.go, hookClientConfig: HTTP/1.1 for a Service and for a URL of another machine, HTTP/2
// if it is agreed on for a URL of this one.
//
//	webhook-load -url URL -ca FILE -protocol http1|http2 -verb mutate|validate (-rate R | -callers N) -seconds S
//
// With -rate, calls begin R times a second, however long the answers take; with -callers, each of N callers begins its
// next call when it has its answer. Before that, every review is sent once, and its answer has to be right: the patch
// applied makes the expected object. Of the measured answers the status, uid and verdict are checked, and every 16th as a
// whole. It prints {"event":"begins"} before the measured calls and {"event":"done",...} at the end.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"evenkeel.dev/benchmarks/peers/measure"
	"k8s.io/client-go/rest"
)

const checkedWhole = 16

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

type caller struct {
	client      *http.Client
	url         string
	connections atomic.Int64
	protocol    atomic.Value
}

func newCaller(url, ca, protocol string) *caller {
	pem, err := os.ReadFile(ca)
	fail(err)
	c := &caller{url: url}
	config := &rest.Config{Host: url, QPS: -1, Timeout: 30 * time.Second}
	config.TLSClientConfig.CAData = pem
	if protocol == "http1" {
		config.NextProtos = []string{"http/1.1"}
	}
	config.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		c.connections.Add(1)
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	c.client, err = rest.HTTPClientFor(config)
	fail(err)
	return c
}

func (c *caller) call(body []byte) ([]byte, error) {
	request, err := http.NewRequest(http.MethodPost, c.url+"?timeout=10s", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, */*")
	answer, err := c.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	c.protocol.Store(answer.Proto)
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", answer.Status, text)
	}
	return text, err
}

// kept is an answer that is checked at the end.
type kept struct {
	number int64
	body   []byte
}

// load makes the measured calls.
type load struct {
	*caller
	questions []question
	mutex     sync.Mutex
	took      []int64
	kept      []kept
	failure   atomic.Pointer[error]
}

func (l *load) one(number int64) {
	asked := l.questions[number%int64(len(l.questions))]
	begun := measure.Now()
	text, err := l.call(asked.body)
	took := measure.Now() - begun
	if err == nil && !(bytes.Contains(text, []byte(`"allowed":true`)) && bytes.Contains(text, []byte(asked.uid))) {
		err = fmt.Errorf("not the answer to %s: %s", asked.uid, text)
	}
	if err != nil {
		l.failure.CompareAndSwap(nil, &err)
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.took = append(l.took, took)
	if number%checkedWhole == 0 {
		l.kept = append(l.kept, kept{number, text})
	}
}

// atRate returns the longest delay behind the schedule.
func (l *load) atRate(rate int64, length time.Duration) (late int64) {
	var running sync.WaitGroup
	begun := measure.Now() + int64(time.Millisecond)
	for number := range rate * int64(length) / int64(time.Second) {
		due := begun + number*int64(time.Second)/rate
		time.Sleep(time.Duration(due - measure.Now()))
		late = max(late, measure.Now()-due)
		running.Go(func() { l.one(number) })
	}
	running.Wait()
	return late
}

func (l *load) closed(callers int, length time.Duration) {
	var running sync.WaitGroup
	var next atomic.Int64
	end := measure.Now() + int64(length)
	for range callers {
		running.Go(func() {
			for measure.Now() < end && l.failure.Load() == nil {
				l.one(next.Add(1))
			}
		})
	}
	running.Wait()
}

// checkEach sends every review once.
func checkEach(c *caller, questions []question) {
	for _, asked := range questions {
		text, err := c.call(asked.body)
		fail(err)
		if problem := asked.problem(text); problem != "" {
			fail(fmt.Errorf("the answer to %s is wrong: %s\n%s", asked.uid, problem, text))
		}
	}
}

func (l *load) report(begun int64, late int64) {
	if failure := l.failure.Load(); failure != nil {
		fail(*failure)
	}
	seconds := float64(measure.Now()-begun) / 1e9
	for _, one := range l.kept {
		asked := l.questions[one.number%int64(len(l.questions))]
		if problem := asked.problem(one.body); problem != "" {
			fail(fmt.Errorf("a measured answer to %s is wrong: %s\n%s", asked.uid, problem, one.body))
		}
	}
	slices.Sort(l.took)
	quantile := func(share float64) float64 { return float64(l.took[int(float64(len(l.took)-1)*share)]) / 1e3 }
	measure.Say(map[string]any{"event": "done", "calls": len(l.took), "seconds": seconds, "p50_us": quantile(0.5), "p99_us": quantile(0.99),
		"p999_us": quantile(0.999), "late_ms": float64(late) / 1e6, "checked": len(l.kept), "connections": l.connections.Load(),
		"protocol": l.protocol.Load()})
}

func main() {
	url := flag.String("url", "", "URL of the webhook")
	ca := flag.String("ca", "", "file with the authority of its certificate")
	protocol := flag.String("protocol", "http1", "http1 or http2")
	verb := flag.String("verb", "mutate", "mutate or validate")
	rate := flag.Int64("rate", 0, "calls per second")
	callers := flag.Int("callers", 1, "callers at once, without a rate")
	seconds := flag.Float64("seconds", 1, "how long")
	flag.Parse()
	length := time.Duration(*seconds * float64(time.Second))
	questions := toComplete()
	c := newCaller(*url, *ca, *protocol)
	if *verb == "validate" {
		questions = toValidate()
		checkEach(c, []question{toDeny()})
	}
	checkEach(c, questions)

	l := &load{caller: c, questions: questions}
	var late int64
	l.closed(max(*callers, 1), length/8) // warms both programs up
	l.took, l.kept = nil, nil
	measure.Say(map[string]any{"event": "begins"})
	begun := measure.Now()
	if *rate > 0 {
		late = l.atRate(*rate, length)
	} else {
		l.closed(*callers, length)
	}
	l.report(begun, late)
}
