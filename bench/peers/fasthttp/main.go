// A peer of the benchmarks: fasthttp, with its usual router and WebSockets.
// Usage: fasthttp --port P [--threads N] [--tls-cert FILE --tls-key FILE] [--files FOLDER]
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"runtime"
	"strconv"
	"sync"

	"github.com/fasthttp/router"
	"github.com/fasthttp/websocket"
	"github.com/valyala/fasthttp"
)

const messageLimit = 1 << 20

var (
	upgrader    = websocket.FastHTTPUpgrader{}
	mutex       sync.Mutex
	subscribers = map[*websocket.Conn]bool{}
)

func plain(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain")
	ctx.SetBodyString("Hello, World!")
}

func json(ctx *fasthttp.RequestCtx) {
	header := &ctx.Response.Header
	header.SetContentType("application/json")
	header.Set("Cache-Control", "no-cache, private")
	header.Set("ETag", `"33a64df551425fcc55e4d42a1"`)
	header.Set("Vary", "Accept-Encoding")
	header.Set("X-Request-Id", "9f86d081884c7d659a2feaa0")
	header.Set("Access-Control-Allow-Origin", "https://example.com")
	ctx.SetBodyString(`{"message":"Hello, World!"}`)
}

func item(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("text/plain")
	ctx.SetBodyString(ctx.UserValue("id").(string))
}

func echo(ctx *fasthttp.RequestCtx) {
	ctx.SetContentType("application/octet-stream")
	ctx.Response.SetBodyRaw(ctx.PostBody())
}

func upload(ctx *fasthttp.RequestCtx) {
	count, err := io.Copy(io.Discard, ctx.RequestBodyStream())
	if err != nil {
		ctx.Error(err.Error(), fasthttp.StatusBadRequest)
		return
	}
	ctx.SetContentType("text/plain")
	ctx.SetBodyString(strconv.FormatInt(count, 10))
}

// Calls `take` with every message until the connection ends.
func each(ctx *fasthttp.RequestCtx, take func(socket *websocket.Conn, kind int, body []byte) error) {
	upgrader.Upgrade(ctx, func(socket *websocket.Conn) {
		defer socket.Close()
		socket.SetReadLimit(messageLimit)
		for {
			kind, body, err := socket.ReadMessage()
			if err != nil || take(socket, kind, body) != nil {
				return
			}
		}
	})
}

func echoMessages(ctx *fasthttp.RequestCtx) {
	each(ctx, func(socket *websocket.Conn, kind int, body []byte) error { return socket.WriteMessage(kind, body) })
}

func publish(ctx *fasthttp.RequestCtx) {
	each(ctx, func(_ *websocket.Conn, kind int, body []byte) error {
		message, err := websocket.NewPreparedMessage(kind, body)
		mutex.Lock()
		defer mutex.Unlock()
		for socket := range subscribers {
			socket.WritePreparedMessage(message)
		}
		return err
	})
}

func subscribe(ctx *fasthttp.RequestCtx) {
	upgrader.Upgrade(ctx, func(socket *websocket.Conn) {
		mutex.Lock()
		subscribers[socket] = true
		mutex.Unlock()
		socket.ReadMessage() // returns at the end: subscribers send nothing
		mutex.Lock()
		delete(subscribers, socket)
		mutex.Unlock()
		socket.Close()
	})
}

func main() {
	port := flag.Int("port", 0, "port on 127.0.0.1")
	threads := flag.Int("threads", 1, "threads that run Go code")
	certificate := flag.String("tls-cert", "", "certificate chain (PEM); HTTPS instead of HTTP")
	key := flag.String("tls-key", "", "private key (PEM)")
	files := flag.String("files", "", "folder to serve at /files/")
	flag.Parse()
	runtime.GOMAXPROCS(*threads)

	routes := router.New()
	routes.GET("/", plain)
	routes.GET("/json", json)
	for number := range 200 {
		routes.GET(fmt.Sprintf("/r%d/items/{id}", number), item)
	}
	routes.POST("/echo", echo)
	routes.POST("/upload", upload)
	routes.GET("/ws", echoMessages)
	routes.GET("/subscribe", subscribe)
	routes.GET("/publish", publish)
	if *files != "" {
		routes.ServeFilesCustom("/files/{filepath:*}", &fasthttp.FS{Root: *files, AcceptByteRange: true})
	}

	server := fasthttp.Server{
		Handler:            routes.Handler,
		ReadBufferSize:     64 << 10, // also the limit of a head
		MaxRequestBodySize: 16 << 20,
		StreamRequestBody:  true,
	}
	address := fmt.Sprintf("127.0.0.1:%d", *port)
	if *certificate != "" {
		log.Fatal(server.ListenAndServeTLS(address, *certificate, *key))
	}
	log.Fatal(server.ListenAndServe(address))
}
