// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"evenkeel.dev/benchmarks/peers/measure"
)

func say(event string, what map[string]any) {
	line := map[string]any{"event": event}
	maps.Copy(line, what)
	measure.Say(line)
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// told counts the events of handlers after the first list.
type told struct {
	synced atomic.Bool
	count  atomic.Int64
	mutex  sync.Mutex
	from   int64 // count at which the stretch began
	wanted int64
	start  int64
	cpu    float64
}

func (t *told) event() {
	if !t.synced.Load() {
		return
	}
	count := t.count.Add(1)
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.wanted == 0 {
		return
	}
	if t.start == 0 {
		t.start = measure.Now()
	}
	if count >= t.from+t.wanted {
		say("counted", map[string]any{"events": t.wanted, "seconds": float64(measure.Now()-t.start) / 1e9,
			"cpu_s": measure.CPUSeconds() - t.cpu})
		t.wanted = 0
	}
}

func (t *told) expect(count int64) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.from, t.wanted, t.start, t.cpu = t.count.Load(), count, 0, measure.CPUSeconds()
	say("counting", nil)
}

// paced reads ten pods each millisecond, and reports quantiles of the time of one read.
func paced(count int64, read func(at int64)) {
	times := make([]int64, 0, count)
	next := time.Now()
	for at := range count {
		if at%10 == 0 {
			next = next.Add(time.Millisecond)
			time.Sleep(time.Until(next))
		}
		before := measure.Now()
		read(at)
		times = append(times, measure.Now()-before)
	}
	slices.Sort(times)
	quantile := func(share float64) float64 { return float64(times[int(float64(len(times)-1)*share)]) / 1e3 }
	say("read", map[string]any{"p50_us": quantile(0.5), "p99_us": quantile(0.99)})
}

// each returns the mean time of `call` in nanoseconds.
func each(count int64, call func()) float64 {
	call()
	before := measure.Now()
	for range count {
		call()
	}
	return float64(measure.Now()-before) / float64(count)
}
