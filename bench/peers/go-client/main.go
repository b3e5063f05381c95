// A peer for bench/client: the HTTP client of Go's standard library.
// Usage: client --url URL --connections N --requests N
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

var (
	url         = flag.String("url", "", "URL to request")
	connections = flag.Int("connections", 1, "connections, each always busy")
	requests    = flag.Int64("requests", 1000, "requests on all connections together")
	left, bytes atomic.Int64
)

func get(client *http.Client) {
	for left.Add(-1) >= 0 {
		response, err := client.Get(*url)
		if err != nil {
			log.Fatal(err)
		}
		if response.StatusCode != 200 {
			log.Fatal("a response was not 200")
		}
		count, err := io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if err != nil {
			log.Fatal(err)
		}
		bytes.Add(count)
	}
}

func used() (user, system float64) {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	return float64(usage.Utime.Nano()) * 1e-9, float64(usage.Stime.Nano()) * 1e-9
}

func main() {
	flag.Parse()
	runtime.GOMAXPROCS(1)
	client := &http.Client{Transport: &http.Transport{
		MaxConnsPerHost: *connections, MaxIdleConns: *connections, MaxIdleConnsPerHost: *connections, DisableCompression: true,
	}}
	left.Store(*requests)
	user, system := used()
	began := time.Now()
	var all sync.WaitGroup
	for i := 0; i < *connections; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			get(client)
		}()
	}
	all.Wait()
	lasted := time.Since(began).Seconds()
	userAfter, systemAfter := used()
	fmt.Printf("{\"requests\": %d, \"seconds\": %.6f, \"user\": %.6f, \"system\": %.6f, \"bytes\": %d}\n",
		*requests, lasted, userAfter-user, systemAfter-system, bytes.Load())
}
