package trace

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/slotwave/slotwave/workload"
)

// Configuration files are either XML of org.apache.hadoop.conf.Configuration
// (<configuration><property><name/><value/>...), such as job.xml, *_conf.xml
// and *-site.xml, or the name=value lines of a properties file. Variables in
// values stay as they are.

var confFormat = Format{
	Name: "conf", About: "Hadoop configuration, XML; written with history and jhist",
	beside: true,
	detect: detection{begins: func(text []byte) bool { return beginsConf(firstLine(text)) }},
	read:   (*collector).readConf,
}

var propertiesFormat = Format{
	Name: "properties", About: "configuration as name=value lines",
	detect: detection{header: func(line string, _ []string) bool { return propertyLine.MatchString(line) }},
	read:   (*collector).readProperties,
}

// propertyLine is a dotted Hadoop property with its value.
var propertyLine = regexp.MustCompile(`^[a-zA-Z][\w-]*(\.[\w-]+)+=`)

// beginsConf reports whether a line begins a configuration in XML.
func beginsConf(line []byte) bool {
	return bytes.HasPrefix(line, []byte("<?xml")) || bytes.HasPrefix(line, []byte("<configuration"))
}

type confProperty struct {
	Name  string  `xml:"name"`
	Value *string `xml:"value"`
}

// property stores a property and shares equal texts. A job has some hundred of
// them.
func (c *collector) property(conf *workload.Conf, line int, key, value string) error {
	const most = 100_000
	if conf.Len() >= most {
		return fmt.Errorf("more than %d properties: refused", most)
	}
	c.setRecorded(conf, line, key, value)
	return nil
}

// setRecorded sets a property that a job had. Where Hadoop reads a number, 0.20 and 1.x
// take the default for a text that is none (Configuration.getInt), and later releases for
// an empty one; a record stays readable whatever its jobs were given. A number out of
// range is kept: what simulates with it refuses it.
func (c *collector) setRecorded(conf *workload.Conf, line int, key, value string) {
	if p, known := workload.FindProperty(key); known {
		if err := p.CheckKind(value); err != nil {
			if value != "" {
				c.leftOut(line, key, value, strings.Replace(err.Error(), p.Key, key, 1))
			}
			return
		}
	}
	conf.Set(key, value)
}

// leftOut records that the value of a property is left out, each value once: many jobs
// have the same.
func (c *collector) leftOut(line int, key, value, why string) {
	i, known := c.unread[[2]string{key, value}]
	switch {
	case known:
		c.again[i]++
	case len(c.again) >= c.limits.Problems:
		c.problem(line, "%s: it is left out", why)
	default:
		c.unread[[2]string{key, value}] = len(c.again)
		c.again = append(c.again, 0)
		c.h.Unread = append(c.h.Unread, c.problemAt(line, "%s: it is left out", why))
	}
}

// readConfXML reads properties up to the end of the configuration and counts
// the lines it took. Properties before damage are kept.
func (c *collector) readConfXML(r io.Reader, line int) (workload.Conf, error) {
	var conf workload.Conf
	limit := c.limits.LineBytes
	read, began := int64(0), int64(0) // bytes, and where the current property began
	dec := xml.NewDecoder(readerFunc(func(p []byte) (int, error) {
		if read-began > int64(limit) {
			return 0, errLineLong
		}
		n, err := r.Read(p)
		read += int64(n)
		return n, err
	}))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // names and numbers are ASCII
	at := func() int { l, _ := dec.InputPos(); return line + l }
	inside := false
	for {
		began = dec.InputOffset()
		tok, err := dec.Token()
		if err == io.EOF {
			if inside {
				c.problem(at(), "the configuration has no end: the properties so far are kept")
			}
			return conf, nil
		}
		if errors.Is(err, errLineLong) || errors.Is(err, errRatio) {
			return conf, atLine(at(), err)
		}
		if err != nil {
			c.problem(at(), "damaged XML: %v; the properties so far are kept", err)
			return conf, nil
		}
		switch e := tok.(type) {
		case xml.StartElement:
			switch e.Name.Local {
			case "configuration":
				inside = true
			case "property":
				var p confProperty
				if err := dec.DecodeElement(&p, &e); err != nil {
					if errors.Is(err, errLineLong) {
						return conf, atLine(at(), err)
					}
					c.problem(at(), "damaged property: %v; the properties so far are kept", err)
					return conf, nil
				}
				if name := strings.TrimSpace(p.Name); name == "" {
					c.problem(at(), "a property without a name")
				} else if p.Value != nil {
					if err := c.property(&conf, at(), c.intern(name), c.intern(*p.Value)); err != nil {
						return conf, atLine(at(), err)
					}
				}
			}
		case xml.EndElement:
			if e.Name.Local == "configuration" {
				return conf, nil
			}
		}
	}
}

// confMember reads a configuration inside a log of several files. It begins
// with the given line; the rest is read up to the next member.
func (c *collector) confMember(in *lines, first []byte, member string) (next string, err error) {
	text := append(bytes.Clone(first), '\n')
	began := in.line - 1
	for next == "" {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", atLine(in.line, err)
		}
		if name, ok := memberName(line); ok {
			next = name
			break
		}
		text = append(append(text, line...), '\n')
		if len(text) > c.limits.LineBytes {
			return "", atLine(in.line, errLineLong)
		}
	}
	conf, err := c.readConfXML(bytes.NewReader(text), began)
	if err != nil {
		return "", err
	}
	c.configure(member, conf)
	return next, nil
}

var jobInName = regexp.MustCompile(`job_\d+_\d+`)

// configure stores a configuration for the job that the file's name states, or
// for all jobs.
func (c *collector) configure(name string, conf workload.Conf) {
	if id := jobInName.FindString(name); id != "" {
		c.confs[id] = conf
		return
	}
	c.h.Site = c.h.Site.Over(conf)
}

func (c *collector) readConf(s *source) error {
	conf, err := c.readConfXML(s, s.skipped)
	if err != nil {
		return err
	}
	c.configure(baseName(c.file), conf)
	return nil
}

// readProperties reads name=value lines.
func (c *collector) readProperties(s *source) error {
	in := &lines{r: s.Reader, max: c.limits.LineBytes, line: s.skipped}
	var conf workload.Conf
	for {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return atLine(in.line, err)
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' || line[0] == '!' {
			continue
		}
		name, value, ok := bytes.Cut(line, []byte{'='})
		if !ok {
			c.problem(in.line, "%.60q: want name=value", line)
			continue
		}
		if err := c.property(&conf, in.line, c.internBytes(name), c.internBytes(value)); err != nil {
			return atLine(in.line, err)
		}
	}
	c.configure(baseName(c.file), conf)
	return nil
}

// memberName returns the name in a line !!FILE=name!!.
func memberName(line []byte) (string, bool) {
	line = bytes.TrimPrefix(line, []byte{'\f'})
	name, ok := bytes.CutPrefix(line, []byte("!!FILE="))
	if !ok {
		return "", false
	}
	name, ok = bytes.CutSuffix(bytes.TrimSpace(name), []byte("!!"))
	return string(name), ok
}

// writeConf writes a configuration as Hadoop's XML.
func writeConf(w io.Writer, c workload.Conf) error {
	out := bufio.NewWriter(w)
	out.WriteString(`<?xml version="1.0" encoding="UTF-8" standalone="no"?><configuration>` + "\n")
	for _, key := range c.Keys() {
		value, _ := c.Lookup(key)
		out.WriteString("<property><name>")
		xml.EscapeText(out, []byte(key))
		out.WriteString("</name><value>")
		xml.EscapeText(out, []byte(value))
		out.WriteString("</value></property>\n")
	}
	out.WriteString("</configuration>\n")
	return out.Flush()
}
