package scenarios

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/slotwave/slotwave/model"
	"github.com/slotwave/slotwave/model/input"
)

// This file reads the files of a cluster on YARN as administrators have them: the
// configurations capacity-scheduler.xml, yarn-site.xml and mapred-site.xml, and
// fair-scheduler.xml.

// setting of a file of Hadoop, with its place.
type placed struct {
	value string
	file  string
	line  int
	final bool // later files do not replace it
}

// hadoopFiles holds what the files set, by property, or by queue and element as errors
// of the fair scheduler name it.
type hadoopFiles map[string]placed

// at is the place in front of a warning; empty: the value is of no file.
func (p placed) at() string {
	if p.file == "" {
		return ""
	}
	return place(p.file, nil, p.line)
}

// values are the settings without their places.
func (h hadoopFiles) values() map[string]string {
	out := make(map[string]string, len(h))
	for key, p := range h {
		out[key] = p.value
	}
	return out
}

// xmlReader reads one file. Problems have its name and their line.
type xmlReader struct {
	*report
	name string
	dec  *xml.Decoder
}

func (r *report) readXML(data []byte, name string) *xmlReader {
	x := &xmlReader{report: r, name: name, dec: xml.NewDecoder(bytes.NewReader(data))}
	x.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // names and numbers are ASCII
	return x
}

func (x *xmlReader) line() int { l, _ := x.dec.InputPos(); return l }

func (x *xmlReader) failAt(line int, format string, args ...any) {
	x.failIn(x.name, line, format, args...)
}

func (x *xmlReader) warnAt(line int, format string, args ...any) {
	x.warn("%s:%d: %s", x.name, line, fmt.Sprintf(format, args...))
}

// element is an XML element with its line.
type element struct {
	name     string
	attrs    map[string]string
	text     string
	line     int
	children []*element
}

// root reads the whole file, whose root element must have a name. What is damaged is
// refused, as Hadoop refuses it.
func (x *xmlReader) root(want string) *element {
	var stack []*element
	for {
		line := x.line()
		token, err := x.dec.Token()
		if err != nil {
			var syntax *xml.SyntaxError
			switch {
			case err == io.EOF:
				x.failAt(line, "no <%s> element", want)
			case len(stack) > 0 && errors.As(err, &syntax) && strings.HasPrefix(syntax.Msg, "element <"+stack[len(stack)-1].name+"> closed by "):
				open := stack[len(stack)-1]
				_, closed, _ := strings.Cut(syntax.Msg, " closed by ")
				x.failAt(syntax.Line, "%s: want </%s> first, for the <%s> of line %d", closed, open.name, open.name, open.line)
			case errors.As(err, &syntax) && len(stack) > 0 && syntax.Msg == io.ErrUnexpectedEOF.Error():
				open := stack[len(stack)-1]
				x.failAt(syntax.Line, "the file ends within the <%s> of line %d: want </%[1]s>, or the whole file", open.name, open.line)
			case errors.As(err, &syntax):
				x.failAt(syntax.Line, "damaged XML: %s", syntax.Msg)
			default:
				x.failAt(line, "%v", err)
			}
			return nil
		}
		switch e := token.(type) {
		case xml.StartElement:
			n := &element{name: e.Name.Local, line: x.line(), attrs: map[string]string{}}
			for _, a := range e.Attr {
				n.attrs[a.Name.Local] = a.Value
			}
			if len(stack) == 0 && n.name != want {
				x.failAt(n.line, "<%s>: want <%s> as the root element", n.name, want)
				return nil
			}
			if len(stack) > 0 {
				up := stack[len(stack)-1]
				up.children = append(up.children, n)
			}
			stack = append(stack, n)
		case xml.CharData:
			if len(stack) > 0 {
				stack[len(stack)-1].text += string(e)
			}
		case xml.EndElement:
			if len(stack) == 1 {
				return stack[0]
			}
			stack = stack[:len(stack)-1]
		}
	}
}

// configuration reads the properties of a file over those of earlier ones
// (Configuration.Parser). The last of several wins, unless an earlier file has made the
// property final.
func (x *xmlReader) configuration(into hadoopFiles) {
	root := x.root("configuration")
	if root == nil {
		return
	}
	own := hadoopFiles{}
	for _, e := range root.children {
		switch e.name {
		case "property":
			x.property(e, own)
		case "include":
			x.failAt(e.line, "<include>: other files are not included: want their properties here")
		default:
			x.warnAt(e.line, "<%s> has no effect: Hadoop reads <property> only", e.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if old, ok := into[name]; ok && old.final {
			x.warnAt(own[name].line, "%s has no effect: it is final in %s:%d", name, old.file, old.line)
			continue
		}
		into[name] = own[name]
	}
}

func (x *xmlReader) property(e *element, own hadoopFiles) {
	p := placed{file: x.name, line: e.line}
	name, valued := e.attrs["name"], false
	if v, ok := e.attrs["value"]; ok {
		p.value, valued = v, true
	}
	p.final = e.attrs["final"] == "true"
	for _, c := range e.children {
		switch c.name {
		case "name":
			name, p.line = strings.TrimSpace(c.text), c.line
		case "value":
			p.value, valued = c.text, true
		case "final":
			p.final = strings.TrimSpace(c.text) == "true"
		}
	}
	switch before, twice := own[name]; {
	case name == "":
		x.warnAt(e.line, "a property without a name has no effect")
		return
	case !valued:
		x.warnAt(p.line, "%s has no effect: it has no value", name)
		return
	case twice && before.final:
		x.warnAt(p.line, "%s has no effect: it is final in line %d", name, before.line)
		return
	case twice && before.value != p.value:
		x.warnAt(before.line, "%s has no effect: line %d sets it again", name, p.line)
	}
	own[name] = p
}

var variable = regexp.MustCompile(`\$\{[^{}$\s]+\}`)

// expand replaces ${property} in values (Configuration.substituteVars). What no file
// sets stays as it is, with a warning.
func (r *report) expand(h hadoopFiles) {
	const deepest = 20
	for _, name := range slices.Sorted(maps.Keys(h)) {
		p := h[name]
		unknown := ""
		for range deepest {
			next := variable.ReplaceAllStringFunc(p.value, func(v string) string {
				if other, ok := h[v[2:len(v)-1]]; ok {
					return other.value
				}
				unknown = v
				return v
			})
			if next == p.value {
				break
			}
			p.value = next
		}
		if unknown != "" && strings.HasPrefix(name, "yarn.scheduler.") {
			r.warn("%s:%d: %s: no file sets %s", p.file, p.line, name, unknown)
		}
		h[name] = p
	}
}

// ignoredInQueues are elements of a queue that decide nothing that is simulated.
var ignoredInQueues = []string{"aclSubmitApps", "aclAdministerApps", "aclAdministerReservations", "aclListReservations", "aclSubmitReservations"}

// settingsOfQueues are the elements of a queue that are simulated
// (AllocationFileQueueParser), settingsOfFile those outside queues
// (AllocationFileParser).
var (
	settingsOfQueues = []string{
		"minResources", "maxResources", "maxChildResources", "maxContainerAllocation", "maxRunningApps", "maxAMShare", "weight", "minSharePreemptionTimeout",
		"fairSharePreemptionTimeout", "fairSharePreemptionThreshold", "schedulingPolicy", "schedulingMode", "allowPreemptionFrom",
	}
	settingsOfFile = []string{
		"queueMaxAMShareDefault", "queueMaxAppsDefault", "queueMaxResourcesDefault", "userMaxAppsDefault", "defaultMinSharePreemptionTimeout",
		"defaultFairSharePreemptionTimeout", "fairSharePreemptionTimeout", "defaultFairSharePreemptionThreshold", "defaultQueueSchedulingPolicy", "defaultQueueSchedulingMode",
	}
)

// allocations reads fair-scheduler.xml (AllocationFileParser). The rules of placement
// are returned apart.
func (x *xmlReader) allocations(at hadoopFiles) (a *model.Allocations, rules *element) {
	a = &model.Allocations{Settings: map[string]string{}, UserApps: map[string]string{}}
	root := x.root("allocations")
	if root == nil {
		return a, nil
	}
	if of := root.ofHadoop1(); of != nil {
		x.failAt(of.line, "<%s>: of the fair scheduler of Hadoop 1: want [[scheduler.pool]] tables in a scenario with scheduler.name = \"fair2\" (docs/scenarios.md), or the file of YARN", of.name)
		return a, nil
	}
	for _, e := range root.children {
		text := strings.TrimSpace(e.text)
		switch {
		case e.name == "queue" || e.name == "pool":
			if x.queueName(e) == "root" { // its settings and queues are those of the tree
				q := x.queue(e, "", at)
				below := q.Queues
				q.Queues = nil
				a.Queues = append(append(a.Queues, q), below...)
			} else {
				a.Queues = append(a.Queues, x.queue(e, "root", at))
			}
		case e.name == "user":
			for _, c := range e.children {
				if c.name == "maxRunningApps" {
					a.UserApps[e.attrs["name"]] = strings.TrimSpace(c.text)
				}
			}
		case e.name == "queuePlacementPolicy":
			rules = e
		case slices.Contains(settingsOfFile, e.name):
			name := e.name
			switch name { // older names (AllocationFileParser)
			case "fairSharePreemptionTimeout":
				name = "defaultFairSharePreemptionTimeout"
			case "defaultQueueSchedulingMode":
				name = "defaultQueueSchedulingPolicy"
			}
			a.Settings[name] = text
			at["queue root: "+name] = placed{value: text, file: x.name, line: e.line}
		default:
			x.warnAt(e.line, "<%s> has no effect: Hadoop does not know it, or it is not simulated%s", e.name, input.DidYouMean(e.name, settingsOfFile))
		}
	}
	return a, rules
}

// onlyHadoop1 are the elements that only the fair scheduler of Hadoop 1 reads
// (PoolManager); YARN would run jobs without them.
var onlyHadoop1 = []string{"minMaps", "minReduces", "maxMaps", "maxReduces", "maxRunningJobs", "poolMaxJobsDefault", "userMaxJobsDefault", "defaultPoolSchedulingMode"}

// ofHadoop1 returns the first element of an allocation file that only Hadoop 1 reads.
func ofHadoop1(data []byte, name string) *element {
	if root := new(report).readXML(data, name).root("allocations"); root != nil {
		return root.ofHadoop1()
	}
	return nil
}

// ofHadoop1 returns the first element that only Hadoop 1 reads; nil: there is none.
func (e *element) ofHadoop1() *element {
	if slices.Contains(onlyHadoop1, e.name) {
		return e
	}
	for _, c := range e.children {
		if of := c.ofHadoop1(); of != nil {
			return of
		}
	}
	return nil
}

func (x *xmlReader) queueName(e *element) string { return strings.TrimSpace(e.attrs["name"]) }

// queue reads a queue element below a path.
func (x *xmlReader) queue(e *element, under string, at hadoopFiles) model.AllocationQueue {
	q := model.AllocationQueue{Name: x.queueName(e), Settings: map[string]string{}}
	path := strings.TrimPrefix(under+"."+q.Name, ".")
	switch {
	case q.Name == "":
		x.failAt(e.line, "a queue without a name: want <%s name=\"etl\">", e.name)
	case strings.Contains(q.Name, "."):
		x.failAt(e.line, "queue %s: a name has no period: want a queue within a queue", q.Name)
	}
	for _, c := range e.children {
		switch {
		case c.name == "queue" || c.name == "pool":
			q.Queues = append(q.Queues, x.queue(c, path, at))
		case slices.Contains(settingsOfQueues, c.name):
			q.Settings[c.name] = strings.TrimSpace(c.text)
			at["queue "+path+": "+c.name] = placed{value: q.Settings[c.name], file: x.name, line: c.line}
		case !slices.Contains(ignoredInQueues, c.name):
			x.warnAt(c.line, "queue %s: <%s> has no effect: Hadoop does not know it, or it is not simulated%s", path, c.name, input.DidYouMean(c.name, settingsOfQueues))
		}
	}
	return q
}

// siteFiles are read beside the file of a scheduler if they are there.
var siteFiles = []string{"yarn-site.xml", "mapred-site.xml"}

// beside returns the path of a file in the folder of another.
func beside(file, name string) string { return filepath.Join(filepath.Dir(file), name) }
