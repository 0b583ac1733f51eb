//go:build go1.21

package slessruntime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const (
	headMax     = 64 << 10
	idleTimeout = 75 * time.Second
	headTimeout = 60 * time.Second
	lastWords   = 500 * time.Millisecond
)

type server struct {
	settings settings
	handler  *handler
	http     *http.Server
	replaced chan struct{} // closed when a call that cannot be stopped takes the replica with it
	replace  sync.Once
}

// serve listens until SIGTERM, lets the calls in flight end, and ends the process.
func serve(settings settings, handler *handler) {
	server := &server{settings: settings, handler: handler, replaced: make(chan struct{})}
	server.http = &http.Server{Handler: server, MaxHeaderBytes: headMax, IdleTimeout: idleTimeout, ReadHeaderTimeout: headTimeout}
	listener, err := net.Listen("tcp", net.JoinHostPort(settings.host, strconv.FormatInt(settings.port, 10)))
	if err != nil {
		refuse(fmt.Sprintf("port %d cannot be listened on: %v", settings.port, err))
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		if err := server.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			refuse(err.Error())
		}
	}()
	server.notify(listener.Addr().(*net.TCPAddr).Port)
	<-signals
	go func() {
		<-signals
		os.Exit(exitTerminated)
	}()
	deadline, cancel := context.WithTimeout(context.Background(), settings.drain)
	defer cancel()
	server.http.SetKeepAlivesEnabled(false)
	if server.http.Shutdown(deadline) != nil {
		os.Exit(exitTerminated)
	}
	os.Exit(0)
}

func (server *server) notify(port int) {
	if server.settings.notifyFD < 0 {
		return
	}
	pipe := os.NewFile(uintptr(server.settings.notifyFD), "notify")
	fmt.Fprintf(pipe, "sless-listening %d\n", port)
	pipe.Close()
}

func (server *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// A call of the gateway carries its deadline, also at /health.
	if r.URL.EscapedPath() == "/health" && r.Header["X-Sless-Timeout-Ms"] == nil {
		w.Header().Set("content-type", jsonType)
		_, _ = io.WriteString(w, `{"status":"ok"}`)
		return
	}
	call := &call{requestID: requestID(r), timeout: server.timeout(r), done: make(chan struct{})}
	if call.timeout > 0 {
		call.expires = time.Now().Add(call.timeout)
		// A client that does not take its answer is no reason to wait beyond the deadline.
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(call.expires.Add(grace))
		defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	}
	w.Header().Set("x-request-id", call.requestID)
	server.answerCall(w, r, call)
}

// timeout is the smaller of what is left of the gateway's budget and the function's own limit; 0 = no limit.
func (server *server) timeout(r *http.Request) time.Duration {
	limit := server.settings.timeout
	milliseconds, err := strconv.ParseUint(r.Header.Get("x-sless-timeout-ms"), 10, 40)
	if budget := time.Duration(milliseconds) * time.Millisecond; err == nil && budget > 0 && (limit == 0 || budget < limit) {
		limit = budget
	}
	return limit
}

func requestID(r *http.Request) string {
	text := r.Header.Get("x-request-id")
	if len(text) == 0 || len(text) > 128 {
		return newRequestID()
	}
	for _, char := range []byte(text) {
		isLetter := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9'
		if !isLetter && !bytes.ContainsRune([]byte("-_.:/+="), rune(char)) {
			return newRequestID()
		}
	}
	return text
}

// readAll waits for the body no longer than the call's deadline. After a failure the connection's read deadline stays
// over, so that the server does not wait for the rest of the body either.
func readAll(w http.ResponseWriter, r *http.Request, call *call) (body []byte, err error) {
	control := http.NewResponseController(w)
	if !call.expires.IsZero() {
		_ = control.SetReadDeadline(call.expires)
	}
	if r.ContentLength > 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(r.Body, body)
	} else {
		body, err = io.ReadAll(r.Body)
	}
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
	}
	return body, err
}

// requestWithBody is the request for the handler: its body can be read although the event was made of it.
func requestWithBody(r *http.Request, body []byte) *http.Request {
	request := r.Clone(r.Context())
	request.Body = io.NopCloser(bytes.NewReader(body))
	return request
}

// watch ends the replica when the handler of a call still runs a second after its deadline.
func (server *server) watch(call *call) {
	if call.expires.IsZero() {
		return
	}
	time.AfterFunc(time.Until(call.expires)+grace, func() {
		if !call.hasEnded() {
			server.replaceReplica(call)
		}
	})
}

func (server *server) replaceReplica(stuck *call) {
	server.replace.Do(func() {
		writeError(stuck.requestID, "the handler still runs after its deadline and cannot be stopped: the replica is replaced; it stands at", stuck.stack())
		close(server.replaced)
		deadline, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		_ = server.http.Shutdown(deadline)
		os.Exit(exitStuck)
	})
}
