//go:build go1.21

// Package slessruntime is the server of sless's Go runtime. The build puts it into the user's module beside a main
// package that calls Main with the handler.
package slessruntime

import (
	"os"
	"runtime/debug"
	"syscall"
)

// Main serves the handler, or runs it once as a job, and does not return.
func Main(handle interface{}) {
	settings := readSettings()
	if settings.memoryMB > 0 && os.Getenv("GOMEMLIMIT") == "" {
		// A tenth for what the collector does not count, and for what is allocated while it works.
		debug.SetMemoryLimit(settings.memoryMB << 20 / 10 * 9)
	}
	if settings.parentFD >= 0 {
		watchParent(int(settings.parentFD))
	}
	if settings.notifyFD >= 0 {
		syscall.CloseOnExec(int(settings.notifyFD))
	}
	handler, err := newHandler(handle)
	if err != nil {
		refuse(settings.entrypoint + ": " + err.Error())
	}
	if settings.job {
		runJob(settings, handler)
	}
	serve(settings, handler)
}

// watchParent ends the process when the other end of the pipe, which only the parent holds, is closed.
func watchParent(fd int) {
	syscall.CloseOnExec(fd)
	pipe := os.NewFile(uintptr(fd), "parent")
	go func() {
		buffer := make([]byte, 512)
		for {
			if _, err := pipe.Read(buffer); err != nil {
				break
			}
		}
		// What a handler started goes too, when this process leads a group of its own.
		if syscall.Getpgrp() == os.Getpid() {
			syscall.Kill(0, syscall.SIGKILL)
		}
		os.Exit(1)
	}()
}
