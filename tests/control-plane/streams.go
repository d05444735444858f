// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"k8s.io/cri-streaming/pkg/streaming/portforward"
	"k8s.io/cri-streaming/pkg/streaming/remotecommand"
	utilexec "k8s.io/utils/exec"
)

// machine is a Pod whose containers and ports are those of this machine.
type machine struct{}

func (machine) ExecInContainer(ctx context.Context, _, _, _ string, words []string, in io.Reader,
	out, err io.WriteCloser, tty bool, resize <-chan remotecommand.TerminalSize, _ time.Duration) error {
	if words[0] == "print-size" {
		size := <-resize
		fmt.Fprintf(out, "%dx%d\n", size.Width, size.Height)
		return nil
	}
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Stdout, command.Stderr = out, err
	if tty {
		command.Stderr = out
	}
	if in != nil {
		// Not command.Stdin: the end of the process would wait for that of the input.
		pipe, failure := command.StdinPipe()
		if failure != nil {
			return failure
		}
		go func() {
			io.Copy(pipe, in)
			pipe.Close()
		}()
	}
	failure := command.Run()
	var exit *exec.ExitError
	if errors.As(failure, &exit) {
		return utilexec.CodeExitError{Err: failure, Code: exit.ExitCode()}
	}
	return failure
}

func (machine) AttachContainer(_ context.Context, _, _, _ string, in io.Reader, out, _ io.WriteCloser, _ bool,
	_ <-chan remotecommand.TerminalSize) error {
	fmt.Fprintln(out, "attached")
	if in == nil {
		return nil
	}
	_, failure := io.Copy(out, in)
	return failure
}

func (machine) PortForward(_ context.Context, _, _ string, port int32, stream io.ReadWriteCloser) error {
	peer, failure := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if failure != nil {
		return failure
	}
	defer peer.Close()
	ended := make(chan struct{}, 2)
	go func() { io.Copy(peer, stream); ended <- struct{}{} }()
	go func() { io.Copy(stream, peer); ended <- struct{}{} }()
	<-ended
	return nil
}

// serve handles /exec/NAMESPACE/POD/CONTAINER, /attach/... and /portForward/NAMESPACE/POD as a kubelet does.
func serve(writer http.ResponseWriter, request *http.Request) {
	const idle, creation = time.Hour, 30 * time.Second
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	if len(parts) < 3 {
		http.NotFound(writer, request)
		return
	}
	pod := parts[2]
	if parts[0] == "portForward" {
		options, failure := portforward.NewV4Options(request)
		if failure != nil {
			http.Error(writer, failure.Error(), http.StatusBadRequest)
			return
		}
		portforward.ServePortForward(writer, request, machine{}, pod, "", options, idle, creation,
			portforward.SupportedProtocols)
		return
	}
	options, failure := remotecommand.NewOptions(request)
	if failure != nil || len(parts) < 4 {
		http.Error(writer, fmt.Sprint(failure), http.StatusBadRequest)
		return
	}
	protocols := remotecommand.SupportedStreamingProtocols
	if parts[0] == "attach" {
		remotecommand.ServeAttach(writer, request, machine{}, pod, "", parts[3], options, idle, creation, protocols)
	} else {
		remotecommand.ServeExec(writer, request, machine{}, pod, "", parts[3], request.URL.Query()["command"],
			options, idle, creation, protocols)
	}
}

// serveStreams is the part of a kubelet that runs commands and forwards ports, for tests: what it runs is a
// process of this machine. It prints its port, and ends with its standard input.
func serveStreams() {
	server := httptest.NewTLSServer(http.HandlerFunc(serve))
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	fmt.Println(port)
	io.Copy(io.Discard, os.Stdin)
}
