//go:build !slotwave_engine

package play

// embedded is empty: findEngine builds the engine.
const embedded = ""
