// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const million = 1_000_000

func perItem(took time.Duration, count int) float64 {
	return float64(took.Nanoseconds()) / float64(count)
}

// scattered is a pseudo-random permutation of the numbers below count.
func scattered(index, count int) int { return index * 7919 % count }

// delayOf is between 1,000 and 2,000 seconds, in random order.
func delayOf(index int) time.Duration {
	random := (uint64(index) + 1) * 6364136223846793005
	return 1000*time.Second + time.Duration((random>>32)%1_000_000_000)*time.Microsecond
}

// measure runs the work of n steps with growing n until it takes long enough for a reliable result.
func measure(step func(index int)) figures {
	n := 1000
	for {
		start := time.Now()
		for i := range n {
			step(i)
		}
		took := time.Since(start)
		if took > 200*time.Millisecond {
			return figures{"time_ns": perItem(took, n)}
		}
		n *= 4
	}
}

func addGetDone(newQueue func() queue) figures {
	keys := makeKeys(1024)
	q := newQueue()
	return measure(func(i int) {
		q.add(keys[i%len(keys)])
		key, _ := q.get()
		q.done(key)
	})
}

// The second add uses a separate copy of the string, as an event does: equal strings at the same address compare
// equal without reading them. Ends with settled, so that deferred work of a queue is included in the result.
func duplicateAdd(newQueue func() queue, queued int) figures {
	q := newQueue()
	for _, key := range makeKeys(queued) {
		q.add(key)
	}
	keys := makeKeys(queued)
	q.settled()
	const rounds = 2_000_000
	start := time.Now()
	index := 0
	for range rounds {
		q.add(keys[index])
		if index++; index == queued {
			index = 0
		}
	}
	if q.settled() != queued {
		fail("duplicates were queued")
	}
	return figures{"time_ns": perItem(time.Since(start), rounds)}
}

func millionQueued(newQueue func() queue) figures {
	keys := makeKeys(million)
	q := newQueue()
	start := time.Now()
	for _, key := range keys {
		q.add(key)
	}
	returned := time.Since(start)
	if q.settled() != million {
		fail("keys are missing")
	}
	added := time.Since(start)
	start = time.Now()
	for range million {
		key, _ := q.get()
		q.done(key)
	}
	taken := time.Since(start)
	return figures{
		"add_ns":          perItem(added, million),
		"add_returned_ns": perItem(returned, million),
		"get_done_ns":     perItem(taken, million),
	}
}

func millionRaised(newQueue func() queue) figures {
	q := newQueue()
	if !q.hasPriorities() {
		return figures{}
	}
	keys := makeKeys(million)
	start := time.Now()
	for i := range keys {
		q.addWithPriority(keys[scattered(i, million)], -100)
	}
	q.settled()
	added := time.Since(start)
	keys = makeKeys(million)
	const raises = million / 4
	start = time.Now()
	for i := range raises {
		q.addWithPriority(keys[scattered(i+1, million)], 0)
	}
	q.settled()
	raised := time.Since(start)
	return figures{"add_ns": perItem(added, million), "raise_ns": perItem(raised, raises)}
}

func heapBytes() float64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

func bytesQueued(newQueue func() queue) figures {
	keys := makeKeys(million)
	q := newQueue()
	before := heapBytes()
	for _, key := range keys {
		q.add(key)
	}
	q.settled()
	after := heapBytes()
	runtime.KeepAlive(keys)
	runtime.KeepAlive(q)
	return figures{"bytes_per_key": (after - before) / million}
}

// client-go passes delayed keys to a goroutine through a channel of 1,000; the benchmark does not wait for those left
// in it at the end, a thousandth of the work.
func millionWaiting(newQueue func() queue) figures {
	keys := makeKeys(million)
	q := newQueue()
	start := time.Now()
	for i, key := range keys {
		q.addAfter(key, delayOf(i))
	}
	q.settled()
	added := time.Since(start)
	const moved = million / 4
	keys = makeKeys(million)
	start = time.Now()
	for i := range moved {
		q.addAfter(keys[i*4], delayOf(i*4)-500*time.Second)
	}
	q.settled()
	earlier := time.Since(start)
	return figures{"add_after_ns": perItem(added, million), "earlier_ns": perItem(earlier, moved)}
}

func bytesWaiting(newQueue func() queue) figures {
	keys := makeKeys(million)
	q := newQueue()
	before := heapBytes()
	for i, key := range keys {
		q.addAfter(key, delayOf(i))
	}
	q.settled()
	time.Sleep(50 * time.Millisecond)
	after := heapBytes()
	runtime.KeepAlive(keys)
	runtime.KeepAlive(q)
	return figures{"bytes_per_key": (after - before) / million}
}

// workers run step until it returns false.
func startWorkers(count int, step func() bool) *sync.WaitGroup {
	var group sync.WaitGroup
	for range count {
		group.Go(func() {
			for step() {
			}
		})
	}
	return &group
}

func waitUntilEmpty(q queue) {
	for q.settled() > 0 {
		time.Sleep(100 * time.Microsecond)
	}
}

func throughput(newQueue func() queue, producers, workers, duplicates int) figures {
	const adds = 300_000
	keys := makeKeys(adds)
	q := newQueue()
	for _, key := range keys {
		q.add(key)
		q.get()
		q.done(key)
	}
	var runs atomic.Int64
	group := startWorkers(workers, func() bool {
		key, over := q.get()
		if over {
			return false
		}
		q.done(key)
		runs.Add(1)
		return true
	})
	start := make(chan struct{})
	var adders sync.WaitGroup
	for p := range producers {
		adders.Go(func() {
			<-start
			for i := p; i < adds; i += producers {
				if i/producers%10*10 < duplicates {
					q.add(keys[i%4])
				} else {
					q.add(keys[i])
				}
			}
		})
	}
	time.Sleep(10 * time.Millisecond)
	began := time.Now()
	close(start)
	adders.Wait()
	waitUntilEmpty(q)
	for duplicates == 0 && runs.Load() < adds { // held keys are not in the queue any more
		runtime.Gosched()
	}
	took := time.Since(began)
	q.shutDown()
	group.Wait()
	if duplicates == 0 && runs.Load() != adds {
		fail("a key was lost or ran twice")
	}
	return figures{
		"items_per_second": adds / took.Seconds(),
		"runs_per_add":     float64(runs.Load()) / adds,
	}
}

func percentiles(samples []int64) figures {
	slices.Sort(samples)
	at := func(share float64) float64 { return float64(samples[int(share*float64(len(samples)-1))]) }
	return figures{"p50_ns": at(0.5), "p99_ns": at(0.99), "max_ns": at(1)}
}

func timeAdds(q queue, keys []string) []int64 {
	samples := make([]int64, len(keys))
	for i, key := range keys {
		start := time.Now()
		q.add(key)
		samples[i] = time.Since(start).Nanoseconds()
	}
	return samples
}

func addLatencyBusy(newQueue func() queue) figures {
	const depth, measured = 100_000, 50_000
	keys := makeKeys(depth + measured)
	q := newQueue()
	for _, key := range keys[:depth] {
		q.add(key)
	}
	q.settled()
	startWorkers(4, func() bool {
		key, over := q.get()
		if over {
			return false
		}
		q.add(key)
		q.done(key)
		return true
	})
	return percentiles(timeAdds(q, keys[depth:]))
}

func addLatencyThousandWorkers(newQueue func() queue) figures {
	const measured = 2000
	keys := makeKeys(million + measured)
	q := newQueue()
	for _, key := range keys[:million] {
		q.add(key)
	}
	q.settled()
	startWorkers(1000, func() bool {
		key, over := q.get()
		if over {
			return false
		}
		time.Sleep(time.Millisecond)
		q.done(key)
		return true
	})
	return percentiles(timeAdds(q, keys[million:]))
}

func wakeLatency(newQueue func() queue, workers int) figures {
	const measured = 2000
	keys := makeKeys(1024)
	q := newQueue()
	base := time.Now()
	taken := make(chan int64)
	startWorkers(workers, func() bool {
		key, over := q.get()
		if over {
			return false
		}
		at := time.Since(base).Nanoseconds()
		q.done(key)
		taken <- at
		return true
	})
	time.Sleep(50 * time.Millisecond)
	samples := make([]int64, measured)
	for i := range samples {
		time.Sleep(200 * time.Microsecond) // gives the worker time to park again
		start := time.Since(base).Nanoseconds()
		q.add(keys[i%len(keys)])
		samples[i] = <-taken - start
	}
	return percentiles(samples)
}

// numberIn returns the number after a label such as "VmRSS:" in a file of Linux.
func numberIn(file, label string) float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		fail(err.Error())
	}
	for line := range strings.Lines(string(text)) {
		var value float64
		if rest, found := strings.CutPrefix(line, label); found {
			if _, err := fmt.Sscan(rest, &value); err == nil {
				return value
			}
		}
	}
	fail(label + " is not in " + file)
	return 0
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		fail(err.Error())
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func idleWorkers(newQueue func() queue) figures {
	const count = 1000
	keys := makeKeys(count)
	q := newQueue()
	kernel := func() float64 {
		return numberIn("/proc/self/status", "VmPTE:") + numberIn("/proc/meminfo", "KernelStack:")
	}
	resident, kernelBefore := numberIn("/proc/self/status", "VmRSS:"), kernel()
	startWorkers(count, func() bool {
		key, over := q.get()
		if over {
			return false
		}
		q.done(key)
		return true
	})
	for _, key := range keys {
		q.add(key)
	}
	waitUntilEmpty(q)
	time.Sleep(200 * time.Millisecond)
	residentAfter, kernelAfter, cpu := numberIn("/proc/self/status", "VmRSS:"), kernel(), cpuTime()
	time.Sleep(time.Second)
	return figures{
		"resident_kb_each":  (residentAfter - resident) / count,
		"kernel_kb_each":    (kernelAfter - kernelBefore) / count,
		"cpu_ms_per_second": float64((cpuTime() - cpu).Microseconds()) / 1000,
	}
}

func fail(why string) {
	fmt.Fprintln(os.Stderr, "peers:", why)
	os.Exit(1)
}
