package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	serverFolder = "slessruntime"
	mainFolder   = "slessmain"
)

// module is the Go module of the copied source.
type module struct {
	path string
	// The go.mod has requirements that no go.sum pins: the go command may write one.
	resolves bool
}

var (
	moduleLine  = regexp.MustCompile(`(?m)^\s*module\s+(?:"([^"]+)"|([^\s"/][^\s"]*))`)
	requireLine = regexp.MustCompile(`(?m)^\s*require\b`)
)

// ensureModule honours the user's go.mod; without one it writes ours, which knows pgx.
func ensureModule(runtime, work, language string) (module, error) {
	text, err := os.ReadFile(filepath.Join(work, "go.mod"))
	if errors.Is(err, os.ErrNotExist) {
		return writeModule(runtime, work, language)
	}
	if err != nil {
		return module{}, err
	}
	match := moduleLine.FindSubmatch(text)
	if match == nil {
		return module{}, fmt.Errorf("go.mod has no module line; add one, for example: module function")
	}
	_, noSums := os.Stat(filepath.Join(work, "go.sum"))
	_, noVendor := os.Stat(filepath.Join(work, "vendor"))
	resolves := noSums != nil && noVendor != nil && requireLine.Match(text)
	return module{path: string(match[1]) + string(match[2]), resolves: resolves}, nil
}

// writeModule requires pgx only where it is imported: other functions then need no download at all.
func writeModule(runtime, work, language string) (module, error) {
	text := []byte(fmt.Sprintf("module function\n\ngo %s\n", language))
	uses, err := importsBelow(work, "github.com/jackc/")
	if err != nil {
		return module{}, err
	}
	if uses {
		if text, err = os.ReadFile(filepath.Join(runtime, "pgx", "go.mod")); err != nil {
			return module{}, err
		}
		if err := copyFile(filepath.Join(runtime, "pgx", "go.sum"), filepath.Join(work, "go.sum")); err != nil {
			return module{}, err
		}
	}
	return module{path: "function"}, os.WriteFile(filepath.Join(work, "go.mod"), text, 0o644)
}

// importsBelow tells whether a Go file imports a package with this prefix. Files that do not parse are the compiler's.
func importsBelow(folder, prefix string) (bool, error) {
	found := false
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return nil
		}
		for _, imported := range parsed.Imports {
			found = found || strings.HasPrefix(imported.Path.Value, `"`+prefix)
		}
		return nil
	})
	return found, err
}

// addServer puts the server and a main package into the module. The handler's package is imported: only when it is
// called main its clause is renamed, line by line, and a main function of the user's stays an ordinary one.
func addServer(runtime, work string, module module, entry entry) error {
	for _, folder := range []string{serverFolder, mainFolder} {
		if err := os.Mkdir(filepath.Join(work, folder), 0o755); err != nil {
			return fmt.Errorf("the source has a folder %s, which sless needs for itself; rename it", folder)
		}
	}
	if err := copyTree(filepath.Join(runtime, "server"), filepath.Join(work, serverFolder)); err != nil {
		return err
	}
	if entry.packages == "main" {
		if err := renamePackage(filepath.Join(work, entry.folder)); err != nil {
			return err
		}
	}
	imported := module.path
	if entry.folder != "." {
		imported += "/" + entry.folder
	}
	text := fmt.Sprintf("package main\n\nimport (\n\thandler %q\n\tserver %q\n)\n\nfunc main() { server.Main(handler.%s) }\n",
		imported, module.path+"/"+serverFolder, entry.function)
	return os.WriteFile(filepath.Join(work, mainFolder, "main.go"), []byte(text), 0o644)
}

func renamePackage(folder string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files := token.NewFileSet()
		parsed, err := parser.ParseFile(files, path, text, parser.PackageClauseOnly)
		if err != nil || parsed.Name.Name != "main" {
			continue
		}
		at := files.Position(parsed.Name.Pos()).Offset
		var renamed bytes.Buffer
		renamed.Write(text[:at])
		renamed.WriteString("function")
		renamed.Write(text[at+len("main"):])
		if err := os.WriteFile(path, renamed.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}
