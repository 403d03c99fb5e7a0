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
	Name     string           `json:"name"`
	Children []loggedTopology `json:"children"`
}

func (c *collector) readTopology(s *source) error {
	return readObjects(c, s, "the topology", func(root *loggedTopology, line int) error {
		for i := range root.Children {
			c.hang(line, nil, &root.Children[i])
		}
		return nil
	})
}

// hang adds the hosts below a node of the topology.
func (c *collector) hang(line int, above []string, n *loggedTopology) {
	name := unescape(n.Name)
	if len(n.Children) == 0 {
		c.list(line, strings.Join(above, "/"), name)
		return
	}
	above = append(above[:len(above):len(above)], name)
	for i := range n.Children {
		c.hang(line, above, &n.Children[i])
	}
}
