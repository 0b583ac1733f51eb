//go:build go1.21

package slessruntime

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

// partBytes are those of a line's part: with what stands around it, a pipe takes the line as a whole.
const partBytes = 2970

// writeResult puts what an http caller would get as body into the file, all of it or nothing.
func writeResult(settings settings, made answer) error {
	path := settings.resultFile
	content := io.Reader(bytes.NewReader(made.body))
	if made.stream != nil {
		content = made.stream
	}
	if settings.resultMax >= 0 {
		return writeCutResult(path, int(settings.resultMax), int(settings.resultCopy), content)
	}
	if path == "" {
		_, err := io.Copy(io.Discard, content)
		return err
	}
	file, err := os.Create(path + ".part")
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(path+".part", path)
}

// writeCutResult is for a file that holds so much and cannot be replaced. A longer result says that it was cut, and
// stands whole in the log.
func writeCutResult(path string, limit, copied int, content io.Reader) error {
	head, err := io.ReadAll(io.LimitReader(content, int64(limit)+1))
	if err != nil {
		return err
	}
	if len(head) <= limit {
		return writeResultFile(path, head)
	}
	kept := &firstBytes{limit: copied}
	total, err := io.Copy(io.MultiWriter(os.Stderr, kept), io.MultiReader(bytes.NewReader(head), content))
	if err != nil {
		return err
	}
	fmt.Fprintln(os.Stderr)
	if err := writeResultFile(path, cutResult(head, limit, total)); err != nil {
		return err
	}
	writeResultCopy(kept.bytes)
	return nil
}

func writeResultFile(path string, content []byte) error {
	if path == "" {
		return nil
	}
	return os.WriteFile(path, content, 0o600)
}

// cutResult cuts no character in two.
func cutResult(head []byte, limit int, total int64) []byte {
	mark := fmt.Sprintf("… (truncated, %d bytes in all; see the log)", total)
	end := limit - len(mark)
	if end < 0 {
		end = 0
	}
	for end > 0 && !utf8.RuneStart(head[end]) {
		end--
	}
	return append(head[:end:end], mark...)
}

// firstBytes keeps the first of what is written.
type firstBytes struct {
	limit int
	bytes []byte
}

func (first *firstBytes) Write(chunk []byte) (int, error) {
	if room := first.limit - len(first.bytes); room >= len(chunk) {
		first.bytes = append(first.bytes, chunk...)
	} else if room > 0 {
		first.bytes = append(first.bytes, chunk[:room]...)
	}
	return len(chunk), nil
}

// writeResultCopy prints the result once more, for who reads it back: whatever else is printed meanwhile stands between
// the lines, never in one.
func writeResultCopy(content []byte) {
	id := sha256.Sum256(content)
	count := (len(content) + partBytes - 1) / partBytes
	for n := 1; n <= count; n++ {
		part := content[(n-1)*partBytes:]
		if len(part) > partBytes {
			part = part[:partBytes]
		}
		fmt.Fprintf(os.Stderr, "sless-result %x %d/%d %s\n", id[:8], n, count, base64.StdEncoding.EncodeToString(part))
	}
}
