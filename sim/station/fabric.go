package station

// Host is a machine on the network: both directions of its interface, nil if
// unlimited, and the index of its rack.
type Host struct {
	Up, Down *Link
	Rack     int
}

// Rack holds both directions of a rack's uplink, nil if unlimited.
type Rack struct {
	Up, Down *Link
}

// Fabric says which links lie between hosts. All racks connect to one core
// switch, which is never the bottleneck.
type Fabric struct {
	Hosts []Host
	Racks []Rack
}

// Transfer adds to a path the links from one host to another. Within a host
// there are none.
func (f *Fabric) Transfer(path []Hop, from, to int) []Hop {
	if from == to {
		return path
	}
	a, b := f.Hosts[from], f.Hosts[to]
	path = Through(path, a.Up, 1)
	path = Through(path, b.Down, 1)
	if a.Rack != b.Rack {
		path = Through(path, f.Racks[a.Rack].Up, 1)
		path = Through(path, f.Racks[b.Rack].Down, 1)
	}
	return path
}

// Replica is the place to which a copy of a block is written.
type Replica struct {
	Host int
	Disk *Link
	Cost float64 // disk capacity per byte written
}

// Write adds to a path the pipeline that writes a block: from the writer to the
// first replica, from there to the next and so on, with the disk of each.
func (f *Fabric) Write(path []Hop, writer int, replicas []Replica) []Hop {
	for _, r := range replicas {
		path = f.Transfer(path, writer, r.Host)
		path = Through(path, r.Disk, r.Cost)
		writer = r.Host
	}
	return path
}
