//go:build !unix

package resultdir

import "os"

// Lock locks nothing: this system refuses to rename or remove files that another
// process has open.
func Lock(*os.File) error { return nil }
