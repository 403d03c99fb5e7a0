package trace

import "strings"

var topologyFormat = Format{
	Name: "topology", About: "Rumen network topology: racks and machines, JSON",
	beside: true,
	detect: detection{keys: []string{"children"}},
	read:   (*collector).readTopology,
}

// loggedTopology is Rumen's LoggedNetworkTopology: a root, racks in one or
// more layers, and hosts, which have no children.
type loggedTopology struct {
	name     string
	children []loggedTopology
}

func (c *collector) readTopology(s *source) error {
	in := newJSONScanner(s, c.limits.LineBytes)
	for {
		more, err := in.begin()
		if !more {
			return err
		}
		var root loggedTopology
		if err := root.read(c, in); err != nil {
			if in.fatal(err) {
				return atLine(in.line(), err)
			}
			c.problem(in.lineOf(err), "topology: %v", err)
			if err := in.resync(); err != nil {
				return err
			}
			continue
		}
		for i := range root.children {
			c.hang(in.line(), nil, &root.children[i])
			c.listed = true
		}
	}
}

func (n *loggedTopology) read(c *collector, in *jsonScanner) error {
	return c.fields(in, map[string]any{"name": &n.name, "children": func() error {
		n.children = nil
		return in.list(func() error {
			n.children = append(n.children, loggedTopology{})
			return n.children[len(n.children)-1].read(c, in)
		})
	}})
}

// hang adds the hosts below a node of the topology.
func (c *collector) hang(line int, above []string, n *loggedTopology) {
	name := unescape(n.name)
	if len(n.children) == 0 {
		c.place(line, strings.Join(above, "/"), name)
		return
	}
	above = append(above[:len(above):len(above)], name)
	for i := range n.children {
		c.hang(line, above, &n.children[i])
	}
}
