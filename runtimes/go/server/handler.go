//go:build go1.21

package slessruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
)

const forms = "func(ctx context.Context, event T) (R, error), where ctx, event, R and error may each be left out, " +
	"or func(w http.ResponseWriter, r *http.Request)"

var (
	contextType = reflect.TypeOf((*context.Context)(nil)).Elem()
	errorType   = reflect.TypeOf((*error)(nil)).Elem()
)

// handler is the user's function in one of its forms.
type handler struct {
	http          http.Handler // the form that writes the answer itself
	function      reflect.Value
	takesContext  bool
	eventType     reflect.Type // nil: takes no event
	returnsResult bool
	returnsError  bool
}

func newHandler(handle interface{}) (*handler, error) {
	switch form := handle.(type) {
	case func(http.ResponseWriter, *http.Request):
		return &handler{http: http.HandlerFunc(form)}, nil
	case http.Handler:
		return &handler{http: form}, nil
	}
	function := reflect.ValueOf(handle)
	if function.Kind() != reflect.Func || function.IsNil() {
		return nil, fmt.Errorf("it is a %T and no function; a handler is %s", handle, forms)
	}
	made := &handler{function: function}
	if err := made.readSignature(function.Type()); err != nil {
		return nil, fmt.Errorf("%w: it is %s; a handler is %s", err, function.Type(), forms)
	}
	return made, nil
}

func (handler *handler) readSignature(signature reflect.Type) error {
	parameters := make([]reflect.Type, signature.NumIn())
	for index := range parameters {
		parameters[index] = signature.In(index)
	}
	if len(parameters) > 0 && parameters[0] == contextType {
		handler.takesContext = true
		parameters = parameters[1:]
	}
	if len(parameters) > 1 || signature.IsVariadic() {
		return errors.New("its arguments do not fit")
	}
	if len(parameters) == 1 {
		handler.eventType = parameters[0]
		if !isFillable(handler.eventType) {
			return fmt.Errorf("JSON cannot fill its event, a %s", handler.eventType)
		}
	}
	results := signature.NumOut()
	if results > 0 && signature.Out(results-1) == errorType {
		handler.returnsError = true
		results--
	}
	if results > 1 {
		return errors.New("its results do not fit")
	}
	handler.returnsResult = results == 1
	return nil
}

func isFillable(eventType reflect.Type) bool {
	switch eventType.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return false
	case reflect.Interface:
		return eventType.NumMethod() == 0
	default:
		return true
	}
}

// call runs the function; the event is a value of its type.
func (handler *handler) call(ctx context.Context, event reflect.Value) (interface{}, error) {
	arguments := make([]reflect.Value, 0, 2)
	if handler.takesContext {
		arguments = append(arguments, reflect.ValueOf(ctx))
	}
	if handler.eventType != nil {
		arguments = append(arguments, event)
	}
	results := handler.function.Call(arguments)
	var err error
	if handler.returnsError {
		err, _ = results[len(results)-1].Interface().(error)
	}
	if err != nil || !handler.returnsResult {
		return nil, err
	}
	return results[0].Interface(), nil
}
