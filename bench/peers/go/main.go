// A peer of the benchmarks: Go's net/http, with github.com/gorilla/websocket.
// Usage: go --port P [--threads N] [--tls-cert FILE --tls-key FILE] [--files FOLDER]
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"runtime"
	"strconv"
	"sync"

	"github.com/gorilla/websocket"
)

const (
	bodyLimit    = 16 << 20
	messageLimit = 1 << 20
)

var (
	plainFields = http.Header{"Content-Type": {"text/plain"}, "Content-Length": {"13"}}
	jsonFields  = http.Header{
		"Content-Type":                {"application/json"},
		"Content-Length":              {"27"},
		"Cache-Control":               {"no-cache, private"},
		"Etag":                        {`"33a64df551425fcc55e4d42a1"`},
		"Vary":                        {"Accept-Encoding"},
		"X-Request-Id":                {"9f86d081884c7d659a2feaa0"},
		"Access-Control-Allow-Origin": {"https://example.com"},
	}
	octets    = []string{"application/octet-stream"}
	plainBody = []byte("Hello, World!")
	jsonBody  = []byte(`{"message":"Hello, World!"}`)

	upgrader    = websocket.Upgrader{}
	mutex       sync.Mutex
	subscribers = map[*websocket.Conn]bool{}
)

func plain(writer http.ResponseWriter, _ *http.Request) {
	maps.Copy(writer.Header(), plainFields)
	writer.Write(plainBody)
}

func json(writer http.ResponseWriter, _ *http.Request) {
	maps.Copy(writer.Header(), jsonFields)
	writer.Write(jsonBody)
}

func item(writer http.ResponseWriter, request *http.Request) {
	writer.Header()["Content-Type"] = plainFields["Content-Type"]
	io.WriteString(writer, request.PathValue("id"))
}

func readAll(request *http.Request) ([]byte, error) {
	if request.ContentLength < 0 || request.ContentLength > bodyLimit {
		return io.ReadAll(request.Body)
	}
	body := make([]byte, request.ContentLength)
	_, err := io.ReadFull(request.Body, body)
	return body, err
}

func echo(writer http.ResponseWriter, request *http.Request) {
	request.Body = http.MaxBytesReader(writer, request.Body, bodyLimit)
	body, err := readAll(request)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	header := writer.Header()
	header["Content-Type"] = octets
	header["Content-Length"] = []string{strconv.Itoa(len(body))}
	writer.Write(body)
}

func upload(writer http.ResponseWriter, request *http.Request) {
	count, err := io.Copy(io.Discard, request.Body)
	if err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	writer.Header()["Content-Type"] = plainFields["Content-Type"]
	io.WriteString(writer, strconv.FormatInt(count, 10))
}

// Calls `take` with every message until the connection ends.
func each(writer http.ResponseWriter, request *http.Request, take func(socket *websocket.Conn, kind int, body []byte) error) {
	socket, err := upgrader.Upgrade(writer, request, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	socket.SetReadLimit(messageLimit)
	for {
		kind, body, err := socket.ReadMessage()
		if err != nil || take(socket, kind, body) != nil {
			return
		}
	}
}

func echoMessages(writer http.ResponseWriter, request *http.Request) {
	each(writer, request, func(socket *websocket.Conn, kind int, body []byte) error { return socket.WriteMessage(kind, body) })
}

func publish(writer http.ResponseWriter, request *http.Request) {
	each(writer, request, func(_ *websocket.Conn, kind int, body []byte) error {
		message, err := websocket.NewPreparedMessage(kind, body)
		mutex.Lock()
		defer mutex.Unlock()
		for socket := range subscribers {
			socket.WritePreparedMessage(message)
		}
		return err
	})
}

func subscribe(writer http.ResponseWriter, request *http.Request) {
	mutex.Lock() // so that no message is missed after the handshake
	socket, err := upgrader.Upgrade(writer, request, nil)
	if err == nil {
		subscribers[socket] = true
	}
	mutex.Unlock()
	if err != nil {
		return
	}
	socket.ReadMessage() // returns at the end: subscribers send nothing
	mutex.Lock()
	delete(subscribers, socket)
	mutex.Unlock()
	socket.Close()
}

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1")
	threads := flag.Int("threads", 1, "threads that run Go code")
	certificate := flag.String("tls-cert", "", "certificate chain (PEM); HTTPS instead of HTTP")
	key := flag.String("tls-key", "", "private key (PEM)")
	files := flag.String("files", "", "folder to serve at /files/")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", plain)
	mux.HandleFunc("GET /json", json)
	for number := range 200 {
		mux.HandleFunc(fmt.Sprintf("GET /r%d/items/{id}", number), item)
	}
	mux.HandleFunc("POST /echo", echo)
	mux.HandleFunc("POST /upload", upload)
	mux.HandleFunc("GET /ws", echoMessages)
	mux.HandleFunc("GET /subscribe", subscribe)
	mux.HandleFunc("GET /publish", publish)
	if *files != "" {
		mux.Handle("GET /files/", http.StripPrefix("/files/", http.FileServer(http.Dir(*files))))
	}

	server := http.Server{Addr: fmt.Sprintf("127.0.0.1:%d", *port), Handler: mux, Protocols: new(http.Protocols)}
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetHTTP2(true)
	server.Protocols.SetUnencryptedHTTP2(true)
	if *certificate != "" {
		log.Fatal(server.ListenAndServeTLS(*certificate, *key))
	}
	log.Fatal(server.ListenAndServe())
}
