//go:build go1.21

package slessruntime

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"time"
)

// runJob runs the handler once and ends the process: 0 done, 1 failed, 75 timed out.
func runJob(settings settings, handler *handler) {
	call := &call{requestID: settings.requestID, timeout: settings.timeout, done: make(chan struct{})}
	if call.requestID == "" {
		call.requestID = newRequestID()
	}
	ctx := context.Background()
	if call.timeout > 0 {
		call.expires = time.Now().Add(call.timeout)
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, call.expires)
		defer cancel()
		time.AfterFunc(call.timeout, func() {
			fmt.Fprintf(os.Stderr, "%s\nsless: timed out after %g s\n", call.stack(), call.timeout.Seconds())
			os.Exit(exitStuck)
		})
	}
	function := prepareJob(ctx, settings, handler, call)
	ended := call.run(function)
	made := answer{}
	if ended.err == nil {
		made, ended.err = jobAnswer(handler, ended.result)
	}
	if ended.err == nil {
		ended.err = writeResult(settings, made)
	}
	switch {
	case ended.err != nil:
		writeError(call.requestID, "the handler failed", ended.stack)
		fmt.Fprintf(os.Stderr, "sless: the handler failed: %s\n", oneLine.Replace(ended.err.Error()))
		os.Exit(1)
	case made.status >= 400:
		fmt.Fprintf(os.Stderr, "sless: the handler answered with status %d\n", made.status)
		os.Exit(1)
	}
	os.Exit(0)
}

func prepareJob(ctx context.Context, settings settings, handler *handler, call *call) func() (interface{}, error) {
	body := readEvent(settings.eventFile)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/", bytes.NewReader(body))
	if err != nil {
		refuse(err.Error())
	}
	if len(body) > 0 {
		request.Header.Set("content-type", jsonType)
	}
	ctx = newContext(ctx, settings, call.requestID, "job", request, body)
	if handler.http != nil {
		return func() (interface{}, error) {
			recorder := &jobWriter{header: http.Header{}}
			handler.http.ServeHTTP(recorder, request.WithContext(ctx))
			return recorder, nil
		}
	}
	var event reflect.Value
	if handler.eventType != nil {
		if event, err = decodeEvent(handler.eventType, jsonType, body, ""); err != nil {
			refuse(fmt.Sprintf("the event cannot be read: %v correct eventJSON", err))
		}
	}
	return func() (interface{}, error) { return handler.call(ctx, event) }
}

func readEvent(path string) []byte {
	if path == "" {
		return nil
	}
	body, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		refuse(err.Error())
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	return body
}

func jobAnswer(handler *handler, result interface{}) (answer, error) {
	if written, ok := result.(*jobWriter); ok && handler.http != nil {
		return answer{status: written.status, body: written.body.Bytes()}, nil
	}
	return toAnswer(result)
}

// jobWriter keeps what a handler that writes its own answer writes.
type jobWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (writer *jobWriter) Header() http.Header { return writer.header }

func (writer *jobWriter) WriteHeader(status int) {
	if writer.status == 0 {
		writer.status = status
	}
}

func (writer *jobWriter) Write(chunk []byte) (int, error) {
	writer.WriteHeader(http.StatusOK)
	return writer.body.Write(chunk)
}

func (writer *jobWriter) Flush() {}
