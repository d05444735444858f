// SPDX-License-Identifier: Apache-2.0

// Command peers runs the workloads of workqueue_benchmark on the queues of client-go and controller-runtime, and
// prints the results as one line of JSON:
//
//	peers -peer client-go -workload add_get_done
//
// Each measurement is a separate process, so that no peer pays for the garbage of another. Queues are unnamed and
// therefore have no metrics, like ours, except in workloads called metered. The keys are the same, a namespace of 10
// and a name of 36 characters, made before the clock starts; Go's queues share their bytes, ours copy them.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"sort"
	"strings"
)

// figures have the names of the fields in our benchmarks' JSON.
type figures map[string]float64

var workloads = map[string]func(make func() queue) figures{
	"add_get_done":             addGetDone,
	"add_get_done_metered":     addGetDone,
	"duplicate_add_1000":       func(make func() queue) figures { return duplicateAdd(make, 1000) },
	"duplicate_add_100000":     func(make func() queue) figures { return duplicateAdd(make, 100_000) },
	"million_queued":           millionQueued,
	"million_raised":           millionRaised,
	"bytes_queued":             bytesQueued,
	"million_waiting":          millionWaiting,
	"bytes_waiting":            bytesWaiting,
	"throughput_1x1":           func(make func() queue) figures { return throughput(make, 1, 1, 0) },
	"throughput_4x1":           func(make func() queue) figures { return throughput(make, 4, 1, 0) },
	"throughput_1x4":           func(make func() queue) figures { return throughput(make, 1, 4, 0) },
	"throughput_4x4":           func(make func() queue) figures { return throughput(make, 4, 4, 0) },
	"throughput_4x4_90":        func(make func() queue) figures { return throughput(make, 4, 4, 90) },
	"add_latency_busy":         addLatencyBusy,
	"add_latency_1000_workers": addLatencyThousandWorkers,
	"wake_latency":             func(make func() queue) figures { return wakeLatency(make, 1) },
	"wake_latency_1000_idle":   func(make func() queue) figures { return wakeLatency(make, 1000) },
	"idle_workers":             idleWorkers,
}

func main() {
	peer := flag.String("peer", "client-go", "client-go or controller-runtime")
	workload := flag.String("workload", "", "what to measure; 'list' prints all")
	versions := flag.Bool("versions", false, "print what this was built of, and end")
	flag.Parse()
	if *versions {
		printVersions()
		return
	}
	if *workload == "list" {
		names := make([]string, 0, len(workloads))
		for name := range workloads {
			names = append(names, name)
		}
		sort.Strings(names)
		fmt.Println(strings.Join(names, "\n"))
		return
	}
	run, known := workloads[*workload]
	newQueue, peerKnown := peers[*peer]
	if !known || !peerKnown {
		fmt.Fprintf(os.Stderr, "peers: no workload %q of peer %q\n", *workload, *peer)
		os.Exit(2)
	}
	name := ""
	if strings.HasSuffix(*workload, "_metered") {
		name = "benchmark"
	}
	measured := run(func() queue { return newQueue(name) })
	line, err := json.Marshal(map[string]any{"peer": *peer, "workload": *workload, "figures": measured})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(string(line))
}

func printVersions() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	fmt.Println("go", strings.TrimPrefix(info.GoVersion, "go"))
	for _, module := range info.Deps {
		switch module.Path {
		case "k8s.io/client-go", "sigs.k8s.io/controller-runtime":
			fmt.Println(module.Path, module.Version)
		}
	}
}
