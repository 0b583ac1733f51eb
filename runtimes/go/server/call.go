//go:build go1.21

package slessruntime

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// call is one call in flight. Whoever claims it first writes the head of its answer.
type call struct {
	requestID string
	timeout   time.Duration // 0: no limit
	expires   time.Time
	claimed   atomic.Bool
	goroutine atomic.Value  // the number of the handler's goroutine, as text
	done      chan struct{} // closed when the handler has ended
}

func (call *call) claim() bool { return call.claimed.CompareAndSwap(false, true) }

// isLate: the deadline is over, also when the timer that says so has not been heard yet. A context's end wakes the
// handler at that very moment.
func (call *call) isLate() bool { return !call.expires.IsZero() && !time.Now().Before(call.expires) }

// claimInTime is the handler's claim.
func (call *call) claimInTime() bool { return !call.isLate() && call.claim() }

// callContext answers ctx.Value("requestId") and the like: plain names, so that a handler needs no import for them.
type callContext struct {
	context.Context
	values map[string]interface{}
}

func (ctx callContext) Value(key interface{}) interface{} {
	if name, ok := key.(string); ok {
		if value, ok := ctx.values[name]; ok {
			return value
		}
	}
	return ctx.Context.Value(key)
}

func newContext(parent context.Context, settings settings, requestID, trigger string, request *http.Request, body []byte) context.Context {
	return callContext{parent, map[string]interface{}{
		"requestId": requestID,
		"function":  settings.function,
		"namespace": settings.namespace,
		"trigger":   trigger,
		"logger":    loggerFor(requestID),
		"request":   request,
		"body":      body,
	}}
}

// outcome is how a handler ended.
type outcome struct {
	result interface{}
	err    error
	stack  string // of a panic
	abort  bool   // it wants the connection broken
}

// run calls the function and turns a panic into an outcome.
func (call *call) run(function func() (interface{}, error)) (ended outcome) {
	defer close(call.done)
	defer func() {
		if reason := recover(); reason != nil {
			if reason == http.ErrAbortHandler {
				ended = outcome{abort: true}
				return
			}
			ended = outcome{err: fmt.Errorf("panic: %v", reason), stack: ownStack()}
		}
	}()
	call.goroutine.Store(goroutineNumber())
	result, err := function()
	return outcome{result: result, err: err}
}

func (call *call) hasEnded() bool {
	select {
	case <-call.done:
		return true
	default:
		return false
	}
}

// ownStack shows a panic from where it began.
func ownStack() string {
	buffer := make([]byte, 64<<10)
	return string(buffer[:runtime.Stack(buffer, false)])
}

func goroutineNumber() string {
	buffer := make([]byte, 64)
	fields := bytes.Fields(buffer[:runtime.Stack(buffer, false)])
	return string(fields[1])
}

// stackOf shows where the handler of a call is now.
func (call *call) stack() string {
	number, _ := call.goroutine.Load().(string)
	buffer := make([]byte, 1<<20)
	for _, stack := range strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if strings.HasPrefix(stack, "goroutine "+number+" ") {
			// What the server adds below the handler says nothing to its author.
			own, _, _ := strings.Cut(stack, "\nreflect.Value.call")
			return own
		}
	}
	return ""
}

func newRequestID() string {
	id := make([]byte, 16)
	if _, err := rand.Read(id); err != nil {
		panic(err)
	}
	return hex.EncodeToString(id)
}
