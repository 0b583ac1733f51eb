//go:build go1.21

package slessruntime

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const (
	exitUnloadable = 65
	exitStuck      = 75
	exitTerminated = 143
	defaultMaxBody = 100 << 20
)

// settings is the environment of a replica, read once; docs/runtimes.md has the contract.
type settings struct {
	source, entrypoint, function, namespace string
	host                                    string
	port                                    int64
	timeout, drain                          time.Duration
	maxBody, memoryMB                       int64
	notifyFD, parentFD                      int64 // -1: not given
	job                                     bool
	eventFile, resultFile, requestID        string
	resultMax                               int64 // -1: not given
	resultCopy                              int64
}

func readSettings() settings {
	source := os.Getenv("SLESS_SOURCE")
	if source == "" {
		source = "."
	}
	if absolute, err := filepath.Abs(source); err == nil {
		source = absolute
	}
	return settings{
		source:     source,
		entrypoint: stringOr("SLESS_ENTRYPOINT", "handler.handle"),
		function:   os.Getenv("SLESS_FUNCTION"),
		namespace:  os.Getenv("SLESS_NAMESPACE"),
		host:       os.Getenv("SLESS_HOST"),
		port:       numberOr("PORT", 8080),
		timeout:    time.Duration(numberOr("SLESS_TIMEOUT_SEC", 0)) * time.Second,
		drain:      time.Duration(numberOr("SLESS_DRAIN_SEC", 30)) * time.Second,
		maxBody:    numberOr("SLESS_MAX_BODY", defaultMaxBody),
		memoryMB:   numberOr("SLESS_MEMORY_MB", 0),
		notifyFD:   numberOr("SLESS_NOTIFY_FD", -1),
		parentFD:   numberOr("SLESS_PARENT_FD", -1),
		job:        os.Getenv("SLESS_JOB") == "1",
		eventFile:  os.Getenv("SLESS_EVENT_FILE"),
		resultFile: os.Getenv("SLESS_RESULT_FILE"),
		resultMax:  numberOr("SLESS_RESULT_MAX", -1),
		resultCopy: numberOr("SLESS_RESULT_COPY", 0),
		requestID:  os.Getenv("SLESS_REQUEST_ID"),
	}
}

func stringOr(name, otherwise string) string {
	if text := os.Getenv(name); text != "" {
		return text
	}
	return otherwise
}

func numberOr(name string, otherwise int64) int64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseInt(text, 10, 64)
	if err != nil || number < 0 {
		refuse(fmt.Sprintf("%s is %q, which is no number; correct it where the server is started", name, text))
	}
	return number
}

// refuse ends the process before it serves: one line for people, exit code 65.
func refuse(reason string) {
	fmt.Fprintf(os.Stderr, "sless: %s\n", strings.Join(strings.Fields(reason), " "))
	os.Exit(exitUnloadable)
}
