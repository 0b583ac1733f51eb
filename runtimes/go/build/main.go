// Command build makes the program of a Go function: it copies the source, adds the server beside it, and compiles both.
//
//	build <runtime folder> <source> <out> <entrypoint> <language version>
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

func main() {
	if len(os.Args) != 6 {
		fmt.Fprintln(os.Stderr, "usage: build <runtime folder> <source> <out> <entrypoint> <language version>")
		os.Exit(2)
	}
	if err := build(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		fmt.Fprintf(os.Stderr, "sless: %v\n", err)
		os.Exit(1)
	}
}

func build(runtime, source, out, entrypoint, language string) error {
	entry, err := findEntry(source, entrypoint)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "sless-go-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := copyTree(source, work); err != nil {
		return fmt.Errorf("the source cannot be copied: %w", err)
	}
	module, err := ensureModule(runtime, work, language)
	if err != nil {
		return err
	}
	if err := addServer(runtime, work, module, entry); err != nil {
		return err
	}
	return compile(work, module, filepath.Join(out, "function"))
}

func compile(work string, module module, program string) error {
	arguments := []string{"build", "-trimpath", "-ldflags=-s -w", "-o", program}
	if module.resolves {
		arguments = append(arguments, "-mod=mod")
	}
	command := exec.Command("go", append(arguments, "./"+mainFolder)...)
	command.Dir = work
	command.Env = append(os.Environ(), "GOWORK=off", "PWD="+work)
	command.Stdout = os.Stdout
	command.Stderr = os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("the Go code does not compile; what the compiler says is above")
	}
	return nil
}
