// A Go WebSocket library (github.com/coder/websocket), as a client that checks echoes, and as an echo server.
// Usage: websocket_peer client URL [CERTIFICATE] | serve
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/coder/websocket"
)

const limit = 17 << 20

type message struct {
	kind websocket.MessageType
	body []byte
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "websocket_peer:", err)
		os.Exit(1)
	}
}

func messages() []message {
	all := []message{{websocket.MessageText, []byte("hello")}, {websocket.MessageText, []byte("Grüße, 世界 🐦")}}
	text := strings.Repeat("all work and no play ", 50000)
	for _, size := range []int{0, 1, 125, 126, 65535, 65536, 1 << 20} {
		noise := make([]byte, size)
		rand.Read(noise)
		all = append(all, message{websocket.MessageText, []byte(text[:size])}, message{websocket.MessageBinary, noise})
	}
	return all
}

// The library sends a frame for every Write, and an empty one for Close.
func inFrames(ctx context.Context, socket *websocket.Conn, one message) error {
	writer, err := socket.Writer(ctx, one.kind)
	if err != nil {
		return err
	}
	for _, piece := range [][]byte{one.body[:len(one.body)/2], one.body[len(one.body)/2:]} {
		if _, err := writer.Write(piece); err != nil {
			return err
		}
	}
	return writer.Close()
}

func echo(ctx context.Context, socket *websocket.Conn, one message, frames bool) error {
	sent := make(chan error, 1)
	go func() { // a large message may come back while it is still being sent
		if frames {
			sent <- inFrames(ctx, socket, one)
		} else {
			sent <- socket.Write(ctx, one.kind, one.body)
		}
	}()
	kind, body, err := socket.Read(ctx)
	if err := errors.Join(err, <-sent); err != nil {
		return err
	}
	if kind != one.kind || !bytes.Equal(body, one.body) {
		return fmt.Errorf("got %d of %d bytes back", len(body), len(one.body))
	}
	return nil
}

func check(url string, client *http.Client, compression websocket.CompressionMode) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	socket, response, err := websocket.Dial(ctx, url, &websocket.DialOptions{HTTPClient: client, CompressionMode: compression, CompressionThreshold: 1})
	if err != nil {
		return err
	}
	socket.SetReadLimit(limit)
	extensions := response.Header.Get("Sec-WebSocket-Extensions")
	if strings.Contains(extensions, "permessage-deflate") != (compression != websocket.CompressionDisabled) {
		return fmt.Errorf("the extensions are %q", extensions)
	}
	for _, one := range messages() {
		for _, frames := range []bool{false, true} {
			if err := echo(ctx, socket, one, frames); err != nil {
				return err
			}
		}
	}
	read := make(chan error, 1)
	go func() { // pongs are handled only during a Read
		_, _, err := socket.Read(ctx)
		read <- err
	}()
	if err := socket.Ping(ctx); err != nil {
		return fmt.Errorf("ping: %w", err)
	}
	if err := socket.Write(ctx, websocket.MessageText, []byte("the last")); err != nil {
		return err
	}
	if err := <-read; err != nil {
		return err
	}
	return socket.Close(4321, "enough ✓") // fails if the peer answers with another code
}

func client(url string, certificate []string) {
	transport := &http.Transport{}
	if len(certificate) > 0 {
		pem, err := os.ReadFile(certificate[0])
		must(err)
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	}
	modes := []websocket.CompressionMode{websocket.CompressionDisabled, websocket.CompressionContextTakeover, websocket.CompressionNoContextTakeover}
	for _, compression := range modes {
		if err := check(url, &http.Client{Transport: transport}, compression); err != nil {
			must(fmt.Errorf("compression mode %d: %w", compression, err))
		}
	}
}

func answer(writer http.ResponseWriter, request *http.Request) {
	socket, err := websocket.Accept(writer, request, &websocket.AcceptOptions{CompressionMode: websocket.CompressionContextTakeover})
	if err != nil {
		return
	}
	defer socket.CloseNow()
	socket.SetReadLimit(limit)
	for {
		kind, reader, err := socket.Reader(request.Context())
		if err != nil {
			fmt.Println("closed", int(websocket.CloseStatus(err)))
			return
		}
		body, err := io.ReadAll(reader)
		if err != nil || socket.Write(request.Context(), kind, body) != nil {
			return
		}
	}
}

func serve() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	fmt.Printf("listening on http://%s\n", listener.Addr())
	go func() { must(http.Serve(listener, http.HandlerFunc(answer))) }()
	<-ended
}

func main() {
	if os.Args[1] == "serve" {
		serve()
	} else {
		client(os.Args[2], os.Args[3:])
	}
}
