// SPDX-License-Identifier: Apache-2.0

// Package measure has the common parts of the peers' programs: clock, CPU, lines of JSON, versions.
package measure

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Now returns nanoseconds of CLOCK_MONOTONIC, which is the same for all processes of a machine.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// CPUSeconds returns the processor time of this process.
func CPUSeconds() float64 {
	var usage unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

var output sync.Mutex

// Say prints a line; it may be called concurrently.
func Say(what map[string]any) {
	line, err := json.Marshal(what)
	if err != nil {
		panic(err)
	}
	output.Lock()
	defer output.Unlock()
	fmt.Println(string(line))
}

// Versions prints the versions of Go and of what is compared.
func Versions() {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return
	}
	fmt.Println(strings.Replace(info.GoVersion, "go", "go ", 1))
	for _, module := range info.Deps {
		if module.Path == "k8s.io/client-go" || module.Path == "sigs.k8s.io/controller-runtime" {
			fmt.Println(module.Path, module.Version)
		}
	}
}
