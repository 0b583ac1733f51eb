package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// entry is where the handler stands.
type entry struct {
	file     string // below the source, src/handler.go
	folder   string // "." or src
	function string // Handle
	packages string // name in the package clause
}

// findEntry resolves handler.handle to the exported Handle of handler.go, and says what is wrong in words.
func findEntry(source, entrypoint string) (entry, error) {
	at := strings.LastIndexAny(entrypoint, ".:")
	if at < 1 || at == len(entrypoint)-1 {
		return entry{}, fmt.Errorf("the entry point %s is not module.function; write for example handler.handle", entrypoint)
	}
	file, err := findFile(source, entrypoint[:at], entrypoint)
	if err != nil {
		return entry{}, err
	}
	first, size := utf8.DecodeRuneInString(entrypoint[at+1:])
	function := string(unicode.ToUpper(first)) + entrypoint[at+1+size:]
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, filepath.Join(source, file), nil, parser.SkipObjectResolution)
	if err != nil {
		return entry{}, fmt.Errorf("%s", strings.ReplaceAll(err.Error(), source+string(filepath.Separator), ""))
	}
	if err := checkFunction(files, parsed, file, function, entrypoint[at+1:], source); err != nil {
		return entry{}, err
	}
	return entry{file: file, folder: path.Dir(file), function: function, packages: parsed.Name.Name}, nil
}

func findFile(source, module, entrypoint string) (string, error) {
	module = strings.TrimSuffix(module, ".go")
	bases := []string{module}
	if !strings.Contains(module, "/") {
		bases = append(bases, strings.ReplaceAll(module, ".", "/"))
	}
	for _, base := range bases {
		file := path.Clean(base + ".go")
		if !filepath.IsLocal(file) {
			continue
		}
		if info, err := os.Stat(filepath.Join(source, file)); err == nil && info.Mode().IsRegular() {
			return file, nil
		}
	}
	return "", fmt.Errorf("%s.go is not in the source; add it, or correct spec.entrypoint (%s)", bases[len(bases)-1], entrypoint)
}

// checkFunction finds the handler among the declarations of its file: a function, or a variable that holds one.
func checkFunction(files *token.FileSet, parsed *ast.File, file, function, written, source string) error {
	functions := []string{}
	for _, declaration := range parsed.Decls {
		switch declared := declaration.(type) {
		case *ast.FuncDecl:
			if declared.Recv != nil {
				continue
			}
			line := files.Position(declared.Pos()).Line
			if declared.Name.Name == function {
				return checkSignature(declared, file, line)
			}
			if declared.Name.Name == written {
				return fmt.Errorf("%s:%d: %s is not exported, so the server cannot call it; rename it %s", file, line, written, function)
			}
			functions = append(functions, declared.Name.Name)
		case *ast.GenDecl:
			if declaresVariable(declared, function) {
				return nil
			}
		}
	}
	sort.Strings(functions)
	there := ""
	if len(functions) > 0 {
		there = "; functions there: " + strings.Join(functions, ", ")
	}
	return fmt.Errorf("%s has no function %s%s; add it, or correct spec.entrypoint", file, function, there)
}

func declaresVariable(declared *ast.GenDecl, name string) bool {
	for _, spec := range declared.Specs {
		value, ok := spec.(*ast.ValueSpec)
		if !ok || declared.Tok != token.VAR {
			continue
		}
		for _, one := range value.Names {
			if one.Name == name {
				return true
			}
		}
	}
	return false
}

// takesContextLast: the second of two arguments is written context.Context.
func takesContextLast(parameters *ast.FieldList) bool {
	if parameters.NumFields() != 2 || len(parameters.List) != 2 {
		return false
	}
	last, ok := parameters.List[1].Type.(*ast.SelectorExpr)
	return ok && last.Sel.Name == "Context"
}

// forms is what the server can call; checkSignature and the server's own check speak of it.
const forms = `func(ctx context.Context, event T) (R, error), each part but one of event and ctx left out as you like, or func(w http.ResponseWriter, r *http.Request)`

// checkSignature refuses what can be told from the syntax alone; the server looks at the types when it starts.
func checkSignature(declared *ast.FuncDecl, file string, line int) error {
	refuse := func(reason string) error {
		return fmt.Errorf("%s:%d: %s %s; a handler is %s", file, line, declared.Name.Name, reason, forms)
	}
	if declared.Type.TypeParams != nil {
		return refuse("has type parameters")
	}
	if count := declared.Type.Params.NumFields(); count > 2 {
		return refuse(fmt.Sprintf("takes %d arguments", count))
	}
	if takesContextLast(declared.Type.Params) {
		return refuse("takes the context after the event")
	}
	results := declared.Type.Results
	if results.NumFields() > 2 {
		return refuse(fmt.Sprintf("returns %d values", results.NumFields()))
	}
	if results.NumFields() == 2 {
		if name, ok := results.List[len(results.List)-1].Type.(*ast.Ident); !ok || name.Name != "error" {
			return refuse("returns two values of which the second is no error")
		}
	}
	return nil
}
