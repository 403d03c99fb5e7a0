// Package results writes the files of a run: tables, pictures and the summary,
// from predictions and the stream of attempts.
//
// A command checks its input, then creates the result directory, gives the
// simulator the recorders (AttemptTable, Stats), lets it run, writes the files
// of the run (Run.Write) and commits. Until the commit nothing in the
// directory has its final name.
//
// Every file and column is described in docs/results.md.
package results
