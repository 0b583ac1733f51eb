//go:build go1.21

package slessruntime

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
)

const (
	jsonType   = "application/json"
	textType   = "text/plain; charset=utf-8"
	octetsType = "application/octet-stream"
)

// answer has a body or a stream.
type answer struct {
	status int
	header http.Header
	body   []byte
	stream io.Reader
}

// toAnswer makes an answer of a handler's result; the rules are the same in every runtime.
func toAnswer(result interface{}) (answer, error) {
	made := answer{status: http.StatusOK, header: http.Header{}}
	contentType, err := made.encode(result)
	if err != nil {
		return made, err
	}
	if contentType == jsonType {
		if parts, ok := statusMap(made.body); ok {
			return fromMap(result, parts)
		}
	}
	if contentType == "" {
		made.status = http.StatusNoContent
	} else {
		made.header.Set("content-type", contentType)
	}
	return made, nil
}

// encode sets the body or the stream, and tells the content type; none for null.
func (made *answer) encode(value interface{}) (string, error) {
	switch content := value.(type) {
	case nil:
		return "", nil
	case string:
		made.body = []byte(content)
		return textType, nil
	case []byte:
		if content == nil {
			return "", nil
		}
		made.body = content
		return octetsType, nil
	case io.Reader:
		made.stream = content
		return octetsType, nil
	}
	text, err := toJSON(value)
	if err != nil || string(text) == "null" {
		return "", err
	}
	made.body = text
	return jsonType, nil
}

func toJSON(value interface{}) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("the result is no JSON value: %w", err)
	}
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), nil
}

// statusParts is a map or struct whose JSON has a statusCode.
type statusParts struct {
	StatusCode      *json.RawMessage           `json:"statusCode"`
	Headers         map[string]json.RawMessage `json:"headers"`
	Body            json.RawMessage            `json:"body"`
	IsBase64Encoded bool                       `json:"isBase64Encoded"`
}

func statusMap(text []byte) (*statusParts, bool) {
	if len(text) == 0 || text[0] != '{' || !bytes.Contains(text, []byte(`"statusCode"`)) {
		return nil, false
	}
	// Names are compared exactly here; a plain Unmarshal would take any case.
	names := map[string]json.RawMessage{}
	if json.Unmarshal(text, &names) != nil || names["statusCode"] == nil {
		return nil, false
	}
	parts := &statusParts{}
	if err := json.Unmarshal(text, parts); err != nil {
		parts.Headers = map[string]json.RawMessage{"": nil}
	}
	return parts, true
}

func fromMap(result interface{}, parts *statusParts) (answer, error) {
	made := answer{header: http.Header{}}
	if err := json.Unmarshal(*parts.StatusCode, &made.status); err != nil {
		return made, fmt.Errorf("statusCode is %s, which is no whole number", *parts.StatusCode)
	}
	if made.status < 200 || made.status > 599 {
		return made, fmt.Errorf("statusCode is %d, which is not within 200 to 599", made.status)
	}
	for name, value := range parts.Headers {
		if err := addHeader(made.header, name, value); err != nil {
			return made, err
		}
	}
	contentType, err := made.encodeBody(result, parts)
	if err != nil {
		return made, err
	}
	if contentType != "" && !isBodyless(made.status) && made.header.Get("content-type") == "" {
		made.header.Set("content-type", contentType)
	}
	return made, nil
}

func (made *answer) encodeBody(result interface{}, parts *statusParts) (string, error) {
	// Bytes have become base64 in the JSON; what the handler holds is still there.
	if raw, ok := ownBody(result); ok {
		return made.encode(raw)
	}
	var text string
	isText := json.Unmarshal(parts.Body, &text) == nil && len(parts.Body) > 0 && parts.Body[0] == '"'
	switch {
	case parts.IsBase64Encoded && !isText:
		return "", errors.New("isBase64Encoded is set and body is no string")
	case parts.IsBase64Encoded:
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return "", errors.New("isBase64Encoded is set and body is no base64")
		}
		return made.encode(decoded)
	case isText:
		return made.encode(text)
	case len(parts.Body) == 0 || string(parts.Body) == "null":
		return "", nil
	default:
		made.body = parts.Body
		return jsonType, nil
	}
}

// ownBody finds bytes or a reader in the result itself: under "body" of a map, or in a field whose JSON name is body.
func ownBody(result interface{}) (interface{}, bool) {
	value := reflect.Indirect(reflect.ValueOf(result))
	var body reflect.Value
	switch value.Kind() {
	case reflect.Map:
		body = value.MapIndex(reflect.ValueOf("body").Convert(value.Type().Key()))
	case reflect.Struct:
		for index := 0; index < value.NumField(); index++ {
			name, _, _ := strings.Cut(value.Type().Field(index).Tag.Get("json"), ",")
			if name == "body" && value.Type().Field(index).IsExported() {
				body = value.Field(index)
			}
		}
	}
	if !body.IsValid() {
		return nil, false
	}
	switch content := body.Interface().(type) {
	case []byte, io.Reader:
		return content, true
	}
	return nil, false
}

func isBodyless(status int) bool {
	return status == http.StatusNoContent || status == http.StatusNotModified
}

func addHeader(header http.Header, name string, value json.RawMessage) error {
	if !isToken(name) {
		return fmt.Errorf("%q is no header name", name)
	}
	var many []json.RawMessage
	if json.Unmarshal(value, &many) != nil {
		many = []json.RawMessage{value}
	}
	for _, one := range many {
		var text string
		if json.Unmarshal(one, &text) != nil {
			text = string(one)
		}
		latin, err := headerValue(name, text)
		if err != nil {
			return err
		}
		if !isFraming(name) {
			header.Add(name, latin)
		}
	}
	return nil
}

// isFraming: what frames the answer belongs to the server.
func isFraming(name string) bool {
	switch strings.ToLower(name) {
	case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "trailer", "te":
		return true
	}
	return false
}

func isToken(name string) bool {
	for _, char := range name {
		if char >= 0x7f || char <= ' ' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, char) {
			return false
		}
	}
	return name != ""
}

// headerValue is the text in Latin-1, the encoding of headers.
func headerValue(name, text string) (string, error) {
	latin := make([]byte, 0, len(text))
	for _, char := range text {
		if char < ' ' && char != '\t' || char == 0x7f {
			return "", fmt.Errorf("the header %s holds a control character", name)
		}
		if char > 0xff {
			return "", fmt.Errorf("the header %s holds a character beyond Latin-1", name)
		}
		latin = append(latin, byte(char))
	}
	return string(latin), nil
}
