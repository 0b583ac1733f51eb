//go:build go1.21

package slessruntime

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
	"time"
)

const grace = time.Second

// answerCall runs the handler in a goroutine of its own and answers, whatever that one does.
func (server *server) answerCall(w http.ResponseWriter, r *http.Request, call *call) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	var expired <-chan time.Time
	if call.timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithDeadline(ctx, call.expires)
		defer stop()
		timer := time.NewTimer(time.Until(call.expires))
		defer timer.Stop()
		expired = timer.C
	}
	guarded := newGuardedWriter(w, call)
	defer guarded.close()
	function, err := server.prepare(ctx, guarded, r, call)
	if err != nil {
		server.refuseEvent(w, call, err)
		return
	}
	ended := make(chan outcome, 1)
	go func() { ended <- call.run(function) }()
	select {
	case outcome := <-ended:
		if call.isLate() && !call.claimed.Load() {
			server.expire(w, call)
			return
		}
		server.finish(ctx, w, guarded, r, call, outcome)
	case <-expired:
		server.timeOut(w, guarded, call)
	case <-server.replaced:
		giveUp(w, call)
	case <-r.Context().Done():
		writeError(call.requestID, "the client went away (client_disconnect)", "")
		server.watch(call)
	}
}

// prepare reads the event; the returned function is the handler's part of the work.
func (server *server) prepare(ctx context.Context, guarded *guardedWriter, r *http.Request, call *call) (func() (interface{}, error), error) {
	trigger := r.Header.Get("x-sless-trigger")
	if trigger == "" {
		trigger = "http"
	}
	if r.ContentLength > server.settings.maxBody {
		return nil, &http.MaxBytesError{Limit: server.settings.maxBody}
	}
	r.Body = http.MaxBytesReader(guarded.under, r.Body, server.settings.maxBody)
	if server.handler.http != nil {
		request := r.WithContext(newContext(ctx, server.settings, call.requestID, trigger, r, nil))
		return func() (interface{}, error) {
			server.handler.http.ServeHTTP(guarded, request)
			return nil, nil
		}, nil
	}
	body, err := readAll(guarded.under, r, call)
	if err != nil {
		return nil, err
	}
	var event reflect.Value
	if server.handler.eventType != nil {
		if event, err = decodeEvent(server.handler.eventType, r.Header.Get("content-type"), body, r.URL.RawQuery); err != nil {
			return nil, err
		}
	}
	request := requestWithBody(r, body)
	callCtx := newContext(ctx, server.settings, call.requestID, trigger, request, body)
	return func() (interface{}, error) { return server.handler.call(callCtx, event) }, nil
}

func (server *server) refuseEvent(w http.ResponseWriter, call *call, err error) {
	var invalid invalidEvent
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &invalid):
		call.fail(w, http.StatusBadRequest, "invalid_event", invalid.message)
	case errors.As(err, &tooLarge):
		w.Header().Set("connection", "close")
		// Some of what still comes is taken, so that the client reads the answer rather than a reset; then no more.
		_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(grace))
		message := fmt.Sprintf("The body is larger than %d bytes; send less.", tooLarge.Limit)
		call.fail(w, http.StatusRequestEntityTooLarge, "body_too_large", message)
	case call.isLate():
		server.expire(w, call)
	default:
		w.Header().Set("connection", "close")
		call.fail(w, http.StatusBadRequest, "bad_request", "The body is malformed or not complete.")
	}
}

// finish answers with what the handler made of the call.
func (server *server) finish(ctx context.Context, w http.ResponseWriter, guarded *guardedWriter, r *http.Request, call *call, ended outcome) {
	if ended.abort {
		panic(http.ErrAbortHandler)
	}
	made := answer{}
	if ended.err == nil && server.handler.http == nil {
		made, ended.err = toAnswer(ended.result)
	}
	if ended.err != nil {
		server.handlerFailed(w, call, ended)
		return
	}
	if server.handler.http != nil {
		guarded.WriteHeader(http.StatusOK)
		return
	}
	if call.claim() {
		server.send(ctx, w, r, call, made)
	}
}

func (server *server) handlerFailed(w http.ResponseWriter, call *call, ended outcome) {
	writeError(call.requestID, "the handler failed (handler_error)", fmt.Sprintf("%v\n%s", ended.err, ended.stack))
	if call.claimed.Load() {
		panic(http.ErrAbortHandler)
	}
	call.fail(w, http.StatusInternalServerError, "handler_error", "The handler failed; its log has the stack under this request id.")
}

func (server *server) send(ctx context.Context, w http.ResponseWriter, r *http.Request, call *call, made answer) {
	for name, values := range made.header {
		w.Header()[name] = values
	}
	if made.stream != nil {
		server.sendStream(ctx, w, r, call, made)
		return
	}
	if !isBodyless(made.status) {
		w.Header().Set("content-length", strconv.Itoa(len(made.body)))
	}
	w.WriteHeader(made.status)
	if !isBodyless(made.status) {
		_, _ = w.Write(made.body)
	}
}

// sendStream copies a reader chunk by chunk until it ends, the client goes or the deadline is over.
func (server *server) sendStream(ctx context.Context, w http.ResponseWriter, r *http.Request, call *call, made answer) {
	if closer, ok := made.stream.(io.Closer); ok {
		defer closer.Close()
	}
	w.WriteHeader(made.status)
	if r.Method == http.MethodHead {
		return
	}
	chunks := readChunks(ctx, made.stream)
	for {
		select {
		case chunk, open := <-chunks:
			if !open {
				return
			}
			if chunk.err != nil {
				writeError(call.requestID, "the handler's stream failed (handler_error)", chunk.err.Error())
				panic(http.ErrAbortHandler)
			}
			if _, err := w.Write(chunk.bytes); err != nil {
				panic(http.ErrAbortHandler)
			}
			_ = http.NewResponseController(w).Flush()
		case <-server.replaced:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			panic(http.ErrAbortHandler)
		case <-ctx.Done():
			server.expire(w, call)
		}
	}
}

type chunk struct {
	bytes []byte
	err   error
}

// readChunks reads in a goroutine of its own, because a reader may wait for ever.
func readChunks(ctx context.Context, stream io.Reader) <-chan chunk {
	chunks := make(chan chunk)
	go func() {
		defer close(chunks)
		for {
			buffer := make([]byte, 32<<10)
			count, err := stream.Read(buffer)
			if count > 0 && !sendChunk(ctx, chunks, chunk{bytes: buffer[:count]}) || err == io.EOF {
				return
			}
			if err != nil {
				sendChunk(ctx, chunks, chunk{err: err})
				return
			}
		}
	}()
	return chunks
}

func sendChunk(ctx context.Context, chunks chan<- chunk, one chunk) bool {
	select {
	case chunks <- one:
		return true
	case <-ctx.Done():
		return false
	}
}

// timeOut ends a call at its deadline; a handler that then does not stop makes the replica be replaced.
func (server *server) timeOut(w http.ResponseWriter, guarded *guardedWriter, call *call) {
	server.watch(call)
	// A handler that still reads the body is let go.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
	guarded.closeHijacked()
	server.expire(w, call)
}

func (server *server) expire(w http.ResponseWriter, call *call) {
	shown := fmt.Sprintf("%g s", call.timeout.Seconds())
	if call.claimed.Load() {
		writeError(call.requestID, "the answer was cut off after "+shown+" (function_timeout)", "")
		panic(http.ErrAbortHandler)
	}
	writeError(call.requestID, "the handler did not answer within "+shown+" (function_timeout)", "")
	w.Header().Set("connection", "close")
	message := "The handler did not answer within " + shown + "; make it faster, or raise spec.timeoutSec."
	call.fail(w, http.StatusGatewayTimeout, "function_timeout", message)
}

func giveUp(w http.ResponseWriter, call *call) {
	w.Header().Set("connection", "close")
	message := "The replica was replaced because another call blocked it beyond its time limit; try again."
	if !call.fail(w, http.StatusServiceUnavailable, "replica_replaced", message) {
		panic(http.ErrAbortHandler)
	}
}

// failure is the body of an answer that the runtime itself gives.
type failure struct {
	Error     string `json:"error"`
	Component string `json:"component"`
	Reason    string `json:"reason"`
	RequestID string `json:"requestId"`
}

// fail writes a whole answer of the runtime itself.
func (call *call) fail(w http.ResponseWriter, status int, reason, message string) bool {
	if !call.claim() {
		return false
	}
	body, _ := json.Marshal(failure{message, "runtime", reason, call.requestID})
	w.Header().Set("content-type", jsonType)
	w.Header().Set("content-length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
	return true
}
