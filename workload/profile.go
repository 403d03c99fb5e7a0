package workload

// Profile says how the tasks of a job behave, apart from how many there are.
// A field whose name ends in Sel is a ratio output/input; NaN or a nil pointer
// means the source does not state it, and a model that needs it is an error.
type Profile struct {
	Name    string
	Source  string
	Assumed []string // what the source leaves out, and what was taken instead
}
