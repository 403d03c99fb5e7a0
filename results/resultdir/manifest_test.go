package resultdir

import "testing"

func TestBuildHasTheVersionOfTheReleaseElseOfTheCommit(t *testing.T) {
	t.Parallel()
	if got := ReadBuild("1.2.0", "").Version; got != "1.2.0" {
		t.Errorf("of a release: got %q: want 1.2.0", got)
	}
	if got := ReadBuild("", "").Version; got != "devel" { // go test does not look at the repository
		t.Errorf("of a test: got %q: want devel", got)
	}
}
