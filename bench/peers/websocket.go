// A peer for bench/websocket using github.com/gorilla/websocket: an echo, and /subscribe with /publish.
// Usage: websocket PORT
package main

import (
	"log"
	"net/http"
	"os"
	"sync"

	"github.com/gorilla/websocket"
)

var (
	upgrader    = websocket.Upgrader{EnableCompression: true}
	mutex       sync.Mutex
	subscribers = map[*websocket.Conn]bool{}
)

// Calls `take` with every message until the connection ends.
func each(writer http.ResponseWriter, request *http.Request, take func(socket *websocket.Conn, kind int, body []byte) error) {
	socket, err := upgrader.Upgrade(writer, request, nil)
	if err != nil {
		return
	}
	defer socket.Close()
	for {
		kind, body, err := socket.ReadMessage()
		if err != nil || take(socket, kind, body) != nil {
			return
		}
	}
}

func echo(writer http.ResponseWriter, request *http.Request) {
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
	http.HandleFunc("/publish", publish)
	http.HandleFunc("/subscribe", subscribe)
	http.HandleFunc("/", echo)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], nil))
}
