//go:build js && wasm

// Command wasm is the program of the page that slotwave play writes: it answers the
// requests of the page's worker with package live.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/slotwave/slotwave/study/play/live"
)

func main() {
	debug.SetGCPercent(400) // a run lives for a moment, and a page has room
	var session live.Session
	requests := make(chan []js.Value)
	js.Global().Set("slotwave", js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() { requests <- args }()
		return nil
	}))
	js.Global().Call("ready")
	for args := range requests { // one at a time: a read of a file lets the next one in
		answer, data, err := session.Answer([]byte(args[0].String()))
		if err != nil {
			args[1].Invoke(nil, nil, err.Error())
			continue
		}
		bytes := js.Global().Get("Uint8Array").New(len(data))
		js.CopyBytesToJS(bytes, data)
		args[1].Invoke(string(answer), bytes, nil)
	}
}
