// A server of Go's net/http for client_servers_test.py: client_peer [CERTIFICATE KEY]
// In clear text it speaks HTTP/1.1, and HTTP/2 with prior knowledge.
package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func flush(writer http.ResponseWriter) { writer.(http.Flusher).Flush() }

func chunked(writer http.ResponseWriter, _ *http.Request) {
	for i := range 10 {
		fmt.Fprintf(writer, "%s\n", strings.Repeat(strconv.Itoa(i), i*i*100))
		flush(writer)
	}
}

func trailers(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Trailer", "X-Checksum")
	io.WriteString(writer, "with trailers\n")
	flush(writer)
	writer.Header().Set("X-Checksum", "abc")
	writer.Header().Set(http.TrailerPrefix+"X-Late", "def")
}

func early(writer http.ResponseWriter, _ *http.Request) {
	for i := range 3 {
		writer.Header().Set("Link", fmt.Sprintf("</style-%d.css>; rel=preload", i))
		writer.WriteHeader(http.StatusEarlyHints)
	}
	writer.Header().Del("Link")
	io.WriteString(writer, "late\n")
}

func echo(writer http.ResponseWriter, request *http.Request) {
	sum := sha256.New()
	size, err := io.Copy(sum, request.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	writer.Header().Set("Content-Type", "application/json")
	json.NewEncoder(writer).Encode(map[string]any{
		"method": request.Method, "size": size, "sha256": fmt.Sprintf("%x", sum.Sum(nil)), "length": request.ContentLength,
		"path": request.URL.RequestURI(), "type": request.Header.Get("Content-Type"), "protocol": request.Proto,
	})
}

// Sends less than Content-Length announces, or omits the last chunk.
func truncated(writer http.ResponseWriter, request *http.Request) {
	if request.URL.Query().Get("by") == "length" {
		writer.Header().Set("Content-Length", "100")
	}
	io.WriteString(writer, "the first part")
	flush(writer)
	panic(http.ErrAbortHandler)
}

func garbage(writer http.ResponseWriter, _ *http.Request) {
	connection, _, err := http.NewResponseController(writer).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	io.WriteString(connection, "no HTTP at all\r\n\r\n")
	connection.Close()
}

func slow(writer http.ResponseWriter, request *http.Request) {
	if request.URL.Query().Get("where") == "content" {
		io.WriteString(writer, "the first part")
		flush(writer)
	}
	select {
	case <-request.Context().Done():
	case <-time.After(30 * time.Second):
	}
}

// 307 and 308 preserve the method and the body, others do not.
func redirect(writer http.ResponseWriter, request *http.Request) {
	code, _ := strconv.Atoi(request.URL.Query().Get("status"))
	http.Redirect(writer, request, "../echo?from="+strconv.Itoa(code), code)
}

func refused(writer http.ResponseWriter, _ *http.Request) {
	writer.Header().Set("Connection", "close")
	http.Error(writer, "no body wanted", http.StatusForbidden)
}

func main() {
	handlers := http.NewServeMux()
	for path, handler := range map[string]http.HandlerFunc{"/chunked": chunked, "/trailers": trailers, "/early": early,
		"/echo": echo, "/truncated": truncated, "/garbage": garbage, "/slow": slow, "/redirect/": redirect, "/refused": refused} {
		handlers.HandleFunc(path, handler)
	}
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	server := http.Server{Handler: handlers, Protocols: protocols, ErrorLog: log.New(io.Discard, "", 0)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGTERM)
	go func() { <-signals; os.Exit(0) }()
	port := listener.Addr().(*net.TCPAddr).Port
	if len(os.Args) > 2 {
		fmt.Printf("listening on https://localhost:%d\n", port)
		err = server.ServeTLS(listener, os.Args[1], os.Args[2])
	} else {
		fmt.Printf("listening on http://localhost:%d\n", port)
		err = server.Serve(listener)
	}
	log.Fatal(err)
}
