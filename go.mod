module github.com/slotwave/slotwave

go 1.26.0

require (
	codeberg.org/go-pdf/fpdf v0.11.1 // MIT
	git.sr.ht/~sbinet/gg v0.7.0 // MIT
	github.com/BurntSushi/toml v1.6.0 // MIT
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // BSD-3-Clause
	github.com/google/go-cmp v0.7.0 // BSD-3-Clause; tests
	github.com/rogpeppe/go-internal v1.16.0 // BSD-3-Clause; tests
	github.com/spf13/cobra v1.10.2 // Apache-2.0
	github.com/spf13/pflag v1.0.9 // BSD-3-Clause
	golang.org/x/image v0.30.0 // BSD-3-Clause
	golang.org/x/sync v0.24.0 // BSD-3-Clause
	golang.org/x/term v0.47.0 // BSD-3-Clause
	gonum.org/v1/gonum v0.17.0 // BSD-3-Clause
	gonum.org/v1/plot v0.17.0 // BSD-3-Clause
	pgregory.net/rapid v1.3.0 // MPL-2.0; tests
)

require (
	codeberg.org/go-fonts/liberation v0.5.0 // indirect; BSD-3-Clause; the fonts OFL-1.1
	codeberg.org/go-latex/latex v0.2.0 // indirect; BSD-3-Clause
	github.com/ajstarks/svgo v0.0.0-20211024235047-1546f124cd8b // indirect; CC-BY-4.0
	github.com/golang/freetype v0.0.0-20170609003504-e2365dfdc4a0 // indirect; FTL or GPL-2.0; used under FTL
	github.com/inconshreveable/mousetrap v1.1.0 // indirect; Apache-2.0; Windows
	golang.org/x/sys v0.49.0 // indirect; BSD-3-Clause
	golang.org/x/text v0.28.0 // indirect; BSD-3-Clause
	golang.org/x/tools v0.36.0 // indirect; BSD-3-Clause
)
