// A server that a reverse proxy stands in front of, on Go's net/http: POST is answered with its content, in chunks, and a
// trailer with its size; GET with the request's head as JSON.
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
)

func answer(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		headers := map[string]string{"host": r.Host}
		for name, values := range r.Header {
			headers[strings.ToLower(name)] = strings.Join(values, ", ")
		}
		json.NewEncoder(w).Encode(map[string]any{"url": r.RequestURI, "headers": headers})
		return
	}
	w.Header().Set("Trailer", "X-Size")
	http.NewResponseController(w).EnableFullDuplex()
	size, _ := io.Copy(w, r.Body)
	w.Header().Set("X-Size", fmt.Sprint(size))
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Printf("listening on http://%s\n", listener.Addr())
	go http.Serve(listener, http.HandlerFunc(answer))
	<-end
}
