// A gRPC server (google.golang.org/grpc) without generated code: messages are plain bytes. Its calls:
// Unary answers with its request, "fail" with NOT_FOUND, "wait" never; Down answers five times; Up counts its
// requests and their bytes; Both answers each request. All send the client's field "x-ask" back, in a field and a trailer.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

type plain struct{}

func (plain) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (plain) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (plain) Name() string { return "plain" }

// Prints how the client or its deadline has ended a call, for the test.
func watch(server any, stream grpc.ServerStream) error {
	err := answer(server, stream)
	if errors.Is(stream.Context().Err(), context.DeadlineExceeded) {
		fmt.Println("deadline")
	} else if stream.Context().Err() != nil {
		fmt.Println("cancelled")
	}
	return err
}

func gone(ctx context.Context) error {
	<-ctx.Done()
	return status.FromContextError(ctx.Err()).Err()
}

func answer(_ any, stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	fields, _ := metadata.FromIncomingContext(stream.Context())
	asked := fields.Get("x-ask")
	for _, value := range asked {
		stream.SetHeader(metadata.Pairs("x-header", value))
		stream.SetTrailer(metadata.Pairs("x-trailer", value))
	}
	var message []byte
	switch method {
	case "/gull.Echo/Unary":
		if err := stream.RecvMsg(&message); err != nil {
			return err
		}
		switch string(message) {
		case "fail":
			return status.Error(codes.NotFound, "no such gull: Möwe")
		case "wait":
			return gone(stream.Context())
		}
		return stream.SendMsg(&message)
	case "/gull.Echo/Down":
		if err := stream.RecvMsg(&message); err != nil {
			return err
		}
		for i := 0; i < 5; i++ {
			piece := []byte(fmt.Sprintf("%d:%s", i, message))
			if err := stream.SendMsg(&piece); err != nil {
				return err
			}
		}
		return nil
	case "/gull.Echo/Up":
		count, size := 0, 0
		for {
			if err := stream.RecvMsg(&message); err == io.EOF {
				break
			} else if err != nil {
				return err
			}
			count, size = count+1, size+len(message)
		}
		result := []byte(fmt.Sprintf("%d %d", count, size))
		return stream.SendMsg(&result)
	case "/gull.Echo/Both":
		for {
			if err := stream.RecvMsg(&message); err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if string(message) == "wait" {
				return gone(stream.Context())
			}
			if err := stream.SendMsg(&message); err != nil {
				return err
			}
		}
	}
	return status.Error(codes.Unimplemented, method)
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(plain{}), grpc.UnknownServiceHandler(watch),
		grpc.MaxRecvMsgSize(64<<20))
	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM)
	fmt.Printf("listening on http://%s\n", listener.Addr())
	go server.Serve(listener)
	<-end
}
