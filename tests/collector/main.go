// SPDX-License-Identifier: Apache-2.0

// An OpenTelemetry Collector with the receiver of OTLP, and with an exporter that writes the spans which it gets into a
// file and refuses them when it is configured to. scripts/collector builds it; tests/real/collector_test.cpp runs it:
//
//	evenkeel-collector --config FILE
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/confmap/provider/fileprovider"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/otelcol"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/collector/service/telemetry"
	"go.uber.org/zap"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
)

type config struct {
	// Path is the file to which a line is added for each request: {"authorization":[...],"traces":{...}}.
	Path string `mapstructure:"path"`
	// Refuse is the number of requests that are refused before those that are written.
	Refuse int `mapstructure:"refuse"`
	// Error is the error of these: unavailable, exhausted, invalid or permanent.
	Error string `mapstructure:"error"`
	// RetryAfter goes with exhausted and unavailable.
	RetryAfter time.Duration `mapstructure:"retry_after"`
}

func (c *config) refusal() error {
	switch c.Error {
	case "unavailable", "exhausted":
		code := codes.Unavailable
		if c.Error == "exhausted" {
			code = codes.ResourceExhausted
		}
		refusal := status.New(code, "the pipeline is full")
		if c.RetryAfter == 0 {
			return refusal.Err()
		}
		detailed, err := refusal.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(c.RetryAfter)})
		if err != nil {
			return err
		}
		return detailed.Err()
	case "invalid":
		return status.Error(codes.InvalidArgument, "these spans are not wanted")
	case "permanent":
		return consumererror.NewPermanent(errors.New("the disk is full"))
	}
	return fmt.Errorf("unknown error %q", c.Error)
}

// sink writes the spans of one pipeline.
type sink struct {
	component.StartFunc
	component.ShutdownFunc
	config *config

	mutex   sync.Mutex
	refused int
}

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

func (s *sink) ConsumeTraces(ctx context.Context, traces ptrace.Traces) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.refused < s.config.Refuse {
		s.refused++
		return s.config.refusal()
	}
	document, err := (&ptrace.JSONMarshaler{}).MarshalTraces(traces)
	if err != nil {
		return err
	}
	line, err := json.Marshal(map[string]any{
		"authorization": client.FromContext(ctx).Metadata.Get("authorization"),
		"traces":        json.RawMessage(document),
	})
	if err != nil {
		return err
	}
	file, err := os.OpenFile(s.config.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = file.Write(append(line, '\n'))
	return err
}

func newSink(_ context.Context, _ exporter.Settings, configured component.Config) (exporter.Traces, error) {
	return &sink{config: configured.(*config)}, nil
}

// logger writes the Collector's own log as text to standard error.
func logger(_ context.Context, _ telemetry.LoggerSettings, _ component.Config) (*zap.Logger, component.ShutdownFunc, error) {
	made, err := zap.NewDevelopment()
	return made, nil, err
}

func factories() (otelcol.Factories, error) {
	receivers, err := otelcol.MakeFactoryMap[receiver.Factory](otlpreceiver.NewFactory())
	if err != nil {
		return otelcol.Factories{}, err
	}
	exporters, err := otelcol.MakeFactoryMap[exporter.Factory](exporter.NewFactory(component.MustNewType("spans"),
		func() component.Config { return &config{} }, exporter.WithTraces(newSink, component.StabilityLevelDevelopment)))
	if err != nil {
		return otelcol.Factories{}, err
	}
	return otelcol.Factories{
		Receivers: receivers,
		Exporters: exporters,
		Telemetry: telemetry.NewFactory(func() component.Config { return &struct{}{} }, telemetry.WithCreateLogger(logger)),
	}, nil
}

func main() {
	command := otelcol.NewCommand(otelcol.CollectorSettings{
		BuildInfo: component.BuildInfo{Command: "evenkeel-collector", Description: "A Collector for tests", Version: "1"},
		Factories: factories,
		ConfigProviderSettings: otelcol.ConfigProviderSettings{
			ResolverSettings: confmap.ResolverSettings{
				ProviderFactories: []confmap.ProviderFactory{fileprovider.NewFactory()},
				DefaultScheme:     "file",
			},
		},
	})
	if err := command.Execute(); err != nil {
		os.Exit(1)
	}
}
