package workload

import (
	"bufio"
	"bytes"
	"fmt"

	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Format names a file format that Open reads.
type Format string

// The formats, as scenarios and command lines name them.
const (
	FormatSwim     Format = "swim"       // SWIM volumes, TSV
	FormatRumen    Format = "rumen"      // Rumen job trace, JSON
	FormatTopology Format = "topology"   // Rumen network topology, JSON
	FormatMRv1     Format = "history"    // JobHistory of Hadoop 0.18 to 1.x
	FormatJhist    Format = "jhist"      // MRv2 job history, text form
	FormatConf     Format = "conf"       // configuration, XML
	FormatProps    Format = "properties" // configuration, name=value lines
)

// Formats lists the formats Open reads.
var Formats = []Format{FormatSwim, FormatRumen, FormatTopology, FormatMRv1, FormatJhist, FormatConf, FormatProps}

// ReadOptions say how to read. The zero value detects formats from the content
// and takes the default limits.
type ReadOptions struct {
	Format Format // instead of what the content looks like
	Limits Limits
}

// Open reads one or more files or directories as one set of recorded runs. The
// format of each file is known from its content, whatever its name; so is its
// compression. What is damaged is left out and listed in Problems; a file that
// cannot be read at all is an error.
func Open(paths ...string) (*History, error) { return ReadOptions{}.Open(paths...) }

// Open reads files or directories as the options say.
func (o ReadOptions) Open(paths ...string) (*History, error) {
	c := newCollector(o.Limits)
	if err := o.read(c, paths); err != nil {
		return nil, err
	}
	return c.close(), nil
}

func (o ReadOptions) read(c *collector, paths []string) error {
	files, err := expand(paths)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no file to read")
	}
	for _, path := range files {
		if err := o.readFile(c, path); err != nil {
			return err
		}
	}
	return nil
}

// expand lists the files of directories, hidden ones (checksums) left out.
func expand(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		err := filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() || p != path && strings.HasPrefix(d.Name(), "."):
				return nil
			}
			files = append(files, p)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (o ReadOptions) readFile(c *collector, path string) error {
	s, err := openSource(path, c.limits)
	if err != nil {
		return err
	}
	defer s.Close()
	c.file = path
	format := o.Format
	if format == "" {
		if format, err = detect(s.Reader); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch format {
	case FormatSwim:
		err = c.readSwim(s)
	case FormatRumen:
		err = c.readRumen(s)
	case FormatTopology:
		err = c.readTopology(s)
	case FormatMRv1:
		err = c.readMRv1(s)
	case FormatJhist:
		err = c.readJhist(s)
	case FormatConf:
		err = c.readConf(s)
	case FormatProps:
		err = c.readProperties(s)
	default:
		return fmt.Errorf("format %q: want one of %v", format, Formats)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	c.damage(s)
	return nil
}

// Detect names the format of a file from its content.
func Detect(path string) (Format, error) {
	s, err := openSource(path, Limits{}.withDefaults())
	if err != nil {
		return "", err
	}
	defer s.Close()
	format, err := detect(s.Reader)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return format, nil
}

// detect looks at the beginning without consuming it.
func detect(r *bufio.Reader) (Format, error) {
	const enough = 1 << 14
	head, _ := r.Peek(enough)
	if len(bytes.TrimSpace(head)) == 0 {
		return "", fmt.Errorf("the file is empty")
	}
	if bytes.HasPrefix(head, []byte(jhistMark)) {
		return FormatJhist, nil
	}
	if bytes.HasPrefix(head, []byte("Avro-Binary")) || bytes.HasPrefix(head, []byte("Obj\x01")) {
		return "", errBinaryHistory
	}
	if head[0] == '{' {
		return detectJSON(head)
	}
	first, _, _ := bytes.Cut(head, []byte{'\n'})
	if _, member := memberName(first); member || beginsRecord(first) {
		return FormatMRv1, nil
	}
	if beginsConf(first) {
		return FormatConf, nil
	}
	if n := bytes.Count(first, []byte{'\t'}); n == 5 || n == 8 {
		if _, err := swimJob(strings.Split(strings.TrimSuffix(string(first), "\r"), "\t")); err == nil {
			return FormatSwim, nil
		}
	}
	if propertyLine.Match(first) {
		return FormatProps, nil
	}
	return "", fmt.Errorf("the content is none of the formats %v", Formats)
}

// propertyLine is a dotted Hadoop property with its value.
var propertyLine = regexp.MustCompile(`^[a-zA-Z][\w-]*(\.[\w-]+)+=`)

// baseName is the name of a file without its folders.
func baseName(path string) string { return filepath.Base(filepath.ToSlash(path)) }

// keysOf tells the JSON formats apart by a key of the first object.
var keysOf = map[string]Format{
	"jobID": FormatRumen, "mapTasks": FormatRumen, "reduceTasks": FormatRumen, "otherTasks": FormatRumen,
	"jobProperties": FormatRumen, "submitTime": FormatRumen, "priority": FormatRumen, "jobName": FormatRumen,
	"children": FormatTopology,
}

func detectJSON(head []byte) (Format, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(head), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var seen []string
	if _, err := dec.ReadToken(); err != nil {
		return "", err
	}
	for {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() != '"' {
			break
		}
		key := tok.String()
		if f, ok := keysOf[key]; ok {
			return f, nil
		}
		seen = append(seen, key)
		if err := dec.SkipValue(); err != nil {
			break
		}
	}
	if slices.Equal(seen, []string{"name"}) {
		return FormatTopology, nil
	}
	return "", fmt.Errorf("a JSON object with the keys %.200q is none of the formats %v", seen, Formats)
}
