// Command build makes the program of a Go function: it copies the source, adds the server beside it, and compiles both.
//
//	build <go> <runtime folder> <source> <out> <entrypoint> <language version>
//
// It writes <out>/function, prints what the compiler says with the user's file names and lines, and ends with 1 when
// the source cannot be built.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// request is what the command line says.
type request struct {
	compiler, runtime, source, out, entrypoint, language string
}

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: build <go> <runtime folder> <source> <out> <entrypoint> <language version>")
		os.Exit(2)
	}
	request := request{os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]}
	if err := build(request); err != nil {
		fmt.Fprintf(os.Stderr, "sless: %v\n", err)
		os.Exit(1)
	}
}

func build(request request) error {
	entry, err := findEntry(request.source, request.entrypoint)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "sless-go-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := copyTree(request.source, work); err != nil {
		return fmt.Errorf("the source cannot be copied: %w", err)
	}
	module, err := ensureModule(request.runtime, work, request.language)
	if err != nil {
		return err
	}
	if err := addServer(request.runtime, work, module, entry); err != nil {
		return err
	}
	return compile(request, work, module)
}

func compile(request request, work string, module module) error {
	program := filepath.Join(request.out, "function")
	arguments := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", program}
	if module.resolves {
		arguments = append(arguments, "-mod=mod")
	}
	command := exec.Command(request.compiler, append(arguments, "./"+mainFolder)...)
	command.Dir = work
	command.Env = append(os.Environ(), "GOWORK=off", "PWD="+work)
	command.Stdout = os.Stdout
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("the Go code does not compile; what the compiler says is above")
	}
	return nil
}
