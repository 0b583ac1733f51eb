package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// copyTree copies files and links below from into the folder to. Git's own folder stays behind.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir() && entry.Name() == ".git":
			return filepath.SkipDir
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case entry.Type()&os.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case entry.Type().IsRegular():
			return copyFile(path, target)
		default:
			return fmt.Errorf("%s is no file", relative)
		}
	})
}

func copyFile(from, to string) error {
	reader, err := os.Open(from)
	if err != nil {
		return err
	}
	defer reader.Close()
	writer, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if _, err := io.Copy(writer, reader); err != nil {
		writer.Close()
		return err
	}
	return writer.Close()
}
