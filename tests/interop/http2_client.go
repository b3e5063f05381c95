// Go's own HTTP/2 client against skua-bench-server's mode `echo`: one request, a large body both ways, many at once.
// Usage: go run http2_client.go URL [CERTIFICATE]
package main

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "http2_client:", err)
		os.Exit(1)
	}
}

func echo(client *http.Client, url string, body []byte) error {
	response, err := client.Post(url, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.ProtoMajor != 2 || response.StatusCode != 200 || !bytes.Equal(got, body) {
		return fmt.Errorf("%s %d: %d bytes of %d", response.Proto, response.StatusCode, len(got), len(body))
	}
	return nil
}

func main() {
	url := os.Args[1]
	protocols := new(http.Protocols)
	transport := &http.Transport{Protocols: protocols}
	if len(os.Args) > 2 {
		pem, err := os.ReadFile(os.Args[2])
		must(err)
		pool := x509.NewCertPool()
		pool.AppendCertsFromPEM(pem)
		transport.TLSClientConfig = &tls.Config{RootCAs: pool}
		protocols.SetHTTP2(true)
	} else {
		protocols.SetUnencryptedHTTP2(true)
	}
	client := &http.Client{Transport: transport, Timeout: 60 * time.Second}

	body := make([]byte, 20<<20)
	_, err := rand.Read(body)
	must(err)
	must(echo(client, url, []byte("hello")))
	must(echo(client, url, body))
	head, err := client.Head(url)
	must(err)
	if head.StatusCode != 200 {
		must(fmt.Errorf("HEAD: %d", head.StatusCode))
	}
	var group sync.WaitGroup
	errs := make(chan error, 500)
	for i := range 500 {
		group.Add(1)
		go func() {
			defer group.Done()
			errs <- echo(client, url, body[i:i+1000+i*20])
		}()
	}
	group.Wait()
	close(errs)
	for err := range errs {
		must(err)
	}
	fmt.Println("go: ok")
}
