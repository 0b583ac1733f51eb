//go:build go1.21

package slessruntime

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
)

var oneLine = strings.NewReplacer("\r", `\r`, "\n", `\n`)

// writeError writes one line on stderr, then what follows (a stack) as it is.
func writeError(requestID, message, stack string) {
	if requestID == "" {
		requestID = "-"
	}
	if stack != "" && !strings.HasSuffix(stack, "\n") {
		stack += "\n"
	}
	fmt.Fprintf(os.Stderr, "ERROR [%s] %s\n%s", requestID, oneLine.Replace(message), stack)
}

// lineHandler writes a record as one line: the level, the request id, the message and its attributes.
type lineHandler struct {
	requestID  string
	attributes string
	group      string
	lock       *sync.Mutex
}

func loggerFor(requestID string) *slog.Logger {
	return slog.New(lineHandler{requestID: requestID, lock: &sync.Mutex{}})
}

func (handler lineHandler) Enabled(context.Context, slog.Level) bool { return true }

func (handler lineHandler) Handle(_ context.Context, record slog.Record) error {
	var line bytes.Buffer
	fmt.Fprintf(&line, "%s [%s] %s%s", record.Level, handler.requestID, oneLine.Replace(record.Message), handler.attributes)
	record.Attrs(func(attribute slog.Attr) bool {
		line.WriteString(handler.text(attribute))
		return true
	})
	line.WriteByte('\n')
	handler.lock.Lock()
	defer handler.lock.Unlock()
	_, err := os.Stdout.Write(line.Bytes())
	return err
}

func (handler lineHandler) text(attribute slog.Attr) string {
	return oneLine.Replace(fmt.Sprintf(" %s%s=%v", handler.group, attribute.Key, attribute.Value.Resolve()))
}

func (handler lineHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	for _, attribute := range attributes {
		handler.attributes += handler.text(attribute)
	}
	return handler
}

func (handler lineHandler) WithGroup(name string) slog.Handler {
	handler.group += name + "."
	return handler
}
