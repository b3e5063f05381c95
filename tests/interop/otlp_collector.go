// The parser of the OpenTelemetry Collector (go.opentelemetry.io/collector/pdata), behind an HTTP server. It prints a line of
// JSON for each span that it takes.
// Usage: otlp_collector
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"
)

func line(service any, span ptrace.Span) {
	text, err := json.Marshal(map[string]any{
		"service":    service,
		"name":       span.Name(),
		"kind":       span.Kind().String(),
		"trace":      span.TraceID().String(),
		"span":       span.SpanID().String(),
		"parent":     span.ParentSpanID().String(),
		"start":      span.StartTimestamp(),
		"end":        span.EndTimestamp(),
		"status":     span.Status().Code().String(),
		"attributes": span.Attributes().AsRaw(),
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
}

func take(writer http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	export := ptraceotlp.NewExportRequest()
	if err == nil {
		err = export.UnmarshalJSON(body)
	}
	if err != nil || request.Header.Get("Content-Type") != "application/json" || request.URL.Path != "/v1/traces" {
		fmt.Fprintln(os.Stderr, "refused:", request.URL.Path, err)
		http.Error(writer, "refused", http.StatusBadRequest)
		return
	}
	resources := export.Traces().ResourceSpans()
	for i := 0; i < resources.Len(); i++ {
		service, _ := resources.At(i).Resource().Attributes().Get("service.name")
		scopes := resources.At(i).ScopeSpans()
		for j := 0; j < scopes.Len(); j++ {
			for k := 0; k < scopes.At(j).Spans().Len(); k++ {
				line(service.AsString(), scopes.At(j).Spans().At(k))
			}
		}
	}
	answer, err := ptraceotlp.NewExportResponse().MarshalJSON()
	if err != nil {
		panic(err)
	}
	writer.Header().Set("Content-Type", "application/json")
	_, _ = writer.Write(answer)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("listening on http://%s\n", listener.Addr())
	panic(http.Serve(listener, http.HandlerFunc(take)))
}
