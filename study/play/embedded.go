//go:build slotwave_engine

package play

import _ "embed"

// embedded is the engine of a release, which its script has built.
//
//go:embed engine.js
var embedded string
