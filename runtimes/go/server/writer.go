//go:build go1.21

package slessruntime

import (
	"bufio"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// guardedWriter is what a handler that writes its own answer gets. After close it takes nothing, so that the handler
// may go on after its deadline without touching what the server has taken back.
type guardedWriter struct {
	lock    sync.Mutex
	under   http.ResponseWriter
	header  http.Header
	call    *call
	written bool
	closed  bool
	// The connection that the handler has taken for another protocol.
	hijacked net.Conn
}

func newGuardedWriter(under http.ResponseWriter, call *call) *guardedWriter {
	return &guardedWriter{under: under, header: http.Header{}, call: call}
}

func (writer *guardedWriter) Header() http.Header { return writer.header }

func (writer *guardedWriter) WriteHeader(status int) {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	writer.writeHeader(status)
}

// writeHeader claims the call with its first byte; the lock is held.
func (writer *guardedWriter) writeHeader(status int) bool {
	if writer.closed || writer.written {
		return !writer.closed
	}
	informational := status >= 100 && status < 200 && status != http.StatusSwitchingProtocols
	if !informational && !writer.call.claimInTime() {
		writer.closed = true
		return false
	}
	target := writer.under.Header()
	for name, values := range writer.header {
		target[name] = values
	}
	writer.under.WriteHeader(status)
	writer.written = !informational
	return true
}

func (writer *guardedWriter) Write(chunk []byte) (int, error) {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	if !writer.writeHeader(http.StatusOK) {
		return 0, http.ErrHandlerTimeout
	}
	return writer.under.Write(chunk)
}

func (writer *guardedWriter) Flush() { _ = writer.FlushError() }

func (writer *guardedWriter) FlushError() error {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	if !writer.writeHeader(http.StatusOK) {
		return http.ErrHandlerTimeout
	}
	return http.NewResponseController(writer.under).Flush()
}

func (writer *guardedWriter) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	if writer.closed || !writer.call.claimInTime() {
		return nil, nil, http.ErrHandlerTimeout
	}
	writer.written = true
	connection, buffered, err := http.NewResponseController(writer.under).Hijack()
	writer.hijacked = connection
	return connection, buffered, err
}

func (writer *guardedWriter) SetReadDeadline(deadline time.Time) error {
	return writer.control(func(control *http.ResponseController) error { return control.SetReadDeadline(deadline) })
}

func (writer *guardedWriter) SetWriteDeadline(deadline time.Time) error {
	return writer.control(func(control *http.ResponseController) error { return control.SetWriteDeadline(deadline) })
}

func (writer *guardedWriter) EnableFullDuplex() error {
	return writer.control((*http.ResponseController).EnableFullDuplex)
}

func (writer *guardedWriter) control(set func(*http.ResponseController) error) error {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	if writer.closed {
		return errors.New("the call has ended")
	}
	return set(http.NewResponseController(writer.under))
}

// close takes the writer from the handler.
func (writer *guardedWriter) close() {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	writer.closed = true
}

// closeHijacked ends a connection that the handler has taken, so that it learns of its deadline.
func (writer *guardedWriter) closeHijacked() {
	writer.lock.Lock()
	defer writer.lock.Unlock()
	if writer.hijacked != nil {
		writer.hijacked.Close()
	}
}
