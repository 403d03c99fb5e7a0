// Package station models the machines that work waits for: devices that serve
// all their visitors at once, and a network that shares its links among flows.
// Between two events every visitor is served at a constant rate (a fluid model).
// Rates change when a visitor comes or goes and when conditions change.
//
// # Devices
//
// A [Device] shares itself equally, in time of service: with n streams on it
// each gets
//
//	speed * Curve(n) / n
//
// seconds of service a second. That is processor sharing (Kleinrock, Queueing
// Systems, volume II, chapter 4). A [Curve] gives the total work of n streams on a
// disk, relative to a single stream ([Linear], [Seek]). Of n visitors on k cores
// each gets min(1, k/n) ([Cores]). All visitors progress alike, so one clock
// serves them all: virtual time, which runs at the rate above. A visitor leaves
// when the clock has advanced by the visitor's work (Parekh and Gallager, A
// Generalized Processor Sharing Approach to Flow Control, 1993).
//
// # Network
//
// A [Flow] uses all links of its path at once, at the rate of the tightest. Rates
// are max-min fair (Bertsekas and Gallager, Data Networks, 2nd edition, section
// 6.5.2): no flow's rate can rise without lowering that of a flow with the same
// or a lower rate for its weight. The rates follow from one number for each link,
// its advertised rate (Charny, Clark and Jain, Congestion Control with Explicit
// Rate Indication, 1995); see [Network]. All flows that one link limits use that
// link's clock, as on a device.
//
// Very many flows pass the uplinks of racks, and each of them depends on all
// others. Such a link is a trunk ([Network.NewTrunk]): when it is crowded it knows
// the flows that pass the same trunks as one route, and tells the route of a change. The flows
// learn of it when it can change what limits one of them. With [Network.Slack] a
// trunk also leaves out changes that are too small to matter.
//
// A disk that flows pass through is a link whose capacity follows a Curve. On a
// disk each flow has a cost per byte, because writing may be slower than
// reading. So a remote read, a block written to several replicas in a pipeline
// ([Fabric.Write]) and the node's own files contend for one disk. A disk that
// flows never use can be a Device, which costs less.
//
// # Time
//
// Work is a float64, instants are whole nanoseconds. An end is rounded to the
// nearest nanosecond. The work is not rounded, so no error accumulates. A
// visitor alone on an idle device ends at the nanosecond nearest to start + work
// / rate. Visitors whose work is done at one instant leave in the order in which
// they came.
//
// Visits and flows belong to their users, who get one call at the end. In this
// call they may start and cancel others, or start the same one again. Nothing
// is allocated once a run has reached its largest number of visitors.
package station
