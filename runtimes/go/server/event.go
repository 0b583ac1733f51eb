//go:build go1.21

package slessruntime

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strings"
	"unicode/utf8"
)

const formType = "application/x-www-form-urlencoded"

// invalidEvent: the caller's body is not what its content type says, or does not fit the handler's type.
type invalidEvent struct{ message string }

func (invalid invalidEvent) Error() string { return invalid.message }

// decodeEvent fills a value of the handler's type: from JSON, a form's map, text, bytes; without a body from the query.
func decodeEvent(eventType reflect.Type, contentType string, body []byte, query string) (reflect.Value, error) {
	target := reflect.New(eventType)
	err := fillEvent(target, contentType, body, query)
	return target.Elem(), err
}

func fillEvent(target reflect.Value, contentType string, body []byte, query string) error {
	if len(body) == 0 {
		if !holdsMap(target.Type().Elem()) {
			return nil
		}
		return fillFromValue(target, formOf(query))
	}
	if isBytes(target.Type().Elem()) {
		target.Elem().SetBytes(body)
		return nil
	}
	kind, charset := splitContentType(contentType)
	switch {
	case kind == "application/json" || strings.HasSuffix(kind, "+json"):
		return fillFromJSON(target, body)
	case kind == "" || kind == formType:
		if isJSON(body) {
			return fillFromJSON(target, body)
		}
		if kind == formType {
			return fillFromValue(target, formOf(string(body)))
		}
	case strings.HasPrefix(kind, "text/"):
		return fillFromValue(target, decodeText(body, charset))
	}
	return fillFromBytes(target, body)
}

// holdsMap: the query of a call without a body can fill it; other types then keep their zero value.
func holdsMap(eventType reflect.Type) bool {
	switch eventType.Kind() {
	case reflect.Pointer:
		return holdsMap(eventType.Elem())
	case reflect.Map, reflect.Struct, reflect.Interface:
		return true
	default:
		return false
	}
}

func isBytes(eventType reflect.Type) bool {
	return eventType == reflect.TypeOf([]byte(nil)) || eventType == reflect.TypeOf(json.RawMessage(nil))
}

func splitContentType(contentType string) (kind, charset string) {
	kind, parameters, _ := strings.Cut(contentType, ";")
	for _, parameter := range strings.Split(parameters, ";") {
		name, value, _ := strings.Cut(parameter, "=")
		if strings.EqualFold(strings.TrimSpace(name), "charset") {
			charset = strings.ToLower(strings.Trim(strings.TrimSpace(value), `"`))
		}
	}
	return strings.ToLower(strings.TrimSpace(kind)), charset
}

func withoutBOM(body []byte) []byte { return bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")) }

func isJSON(body []byte) bool { return utf8.Valid(body) && json.Valid(withoutBOM(body)) }

func fillFromJSON(target reflect.Value, body []byte) error {
	if !utf8.Valid(body) {
		return invalidEvent{"The body is not valid JSON: it is no UTF-8."}
	}
	err := json.Unmarshal(withoutBOM(body), target.Interface())
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return invalidEvent{fmt.Sprintf("The body is not valid JSON: %v.", err)}
	}
	return doesNotFit(target, err)
}

func doesNotFit(target reflect.Value, err error) error {
	reason := strings.TrimPrefix(err.Error(), "json: ")
	return invalidEvent{fmt.Sprintf("The event does not fit the handler's type %s: %s.", target.Type().Elem(), reason)}
}

// fillFromValue goes through JSON, so that named types and those that read text are filled as well.
func fillFromValue(target reflect.Value, value interface{}) error {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, target.Interface())
	}
	if err != nil {
		return doesNotFit(target, err)
	}
	return nil
}

func fillFromBytes(target reflect.Value, body []byte) error {
	switch element := target.Elem(); {
	case element.Kind() == reflect.Interface:
		element.Set(reflect.ValueOf(body))
	case element.Kind() == reflect.String:
		element.SetString(string(body))
	default:
		return doesNotFit(target, errors.New("the body is no JSON"))
	}
	return nil
}

// formOf keeps the last of several values of one name.
func formOf(text string) map[string]string {
	form := map[string]string{}
	for _, pair := range strings.Split(text, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		form[unescape(name)] = unescape(value)
	}
	return form
}

func unescape(text string) string {
	unescaped, err := url.QueryUnescape(text)
	if err != nil {
		unescaped = strings.ReplaceAll(text, "+", " ")
	}
	return strings.ToValidUTF8(unescaped, "\ufffd")
}

func decodeText(body []byte, charset string) string {
	if charset != "iso-8859-1" && charset != "latin1" {
		return strings.ToValidUTF8(string(body), "\ufffd")
	}
	text := make([]rune, len(body))
	for index, one := range body {
		text[index] = rune(one)
	}
	return string(text)
}
