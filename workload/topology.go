package workload

import (
	"errors"
	"strings"

	"github.com/go-json-experiment/json"
)

// loggedTopology is Rumen's LoggedNetworkTopology: a root, racks in one or
// more layers, and hosts, which have no children.
type loggedTopology struct {
	Name     string           `json:"name"`
	Children []loggedTopology `json:"children"`
}

func (c *collector) readTopology(s *source) error {
	in := newJSONStream(s, c.limits.LineBytes)
	for {
		more, err := in.begin()
		if !more {
			return err
		}
		var root loggedTopology
		if err := json.UnmarshalDecode(in.dec, &root); err != nil {
			if errors.Is(err, errLineLong) || errors.Is(err, errRatio) {
				return atLine(in.line(), err)
			}
			c.problem(in.lineOf(err), "topology: %s", jsonCause(err))
			if err := in.resync(); err != nil {
				return err
			}
			continue
		}
		for i := range root.Children {
			c.hang(in.line(), nil, &root.Children[i])
		}
	}
}

// hang notes the hosts below a node of the topology.
func (c *collector) hang(line int, above []string, n *loggedTopology) {
	name := unescape(n.Name)
	if len(n.Children) == 0 {
		c.place(line, strings.Join(above, "/"), name)
		return
	}
	above = append(above[:len(above):len(above)], name)
	for i := range n.Children {
		c.hang(line, above, &n.Children[i])
	}
}
