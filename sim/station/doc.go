// Package station is where work waits for machines: devices that serve all
// their visitors at once, and a network that shares its links among flows.
// Between two events every visitor is served at a constant rate (a fluid model);
// rates change when somebody comes or goes, and when the conditions do.
//
// # Devices
//
// A [Device] shares itself equally, in time of service: with n streams on it
// each gets
//
//	speed * Curve(n) / n
//
// seconds of service a second. That is processor sharing (Kleinrock, Queueing
// Systems, volume II, chapter 4). A disk has a [Curve] that says what n streams
// get done together, measured in what one gets done alone ([Linear], [Seek]);
// n visitors of k cores get min(1, k/n) each ([Cores]). As all progress alike,
// one clock serves them all: virtual time, which runs at the rate above. A visitor
// leaves when it has moved on by the visitor's work (Parekh and Gallager, A
// Generalized Processor Sharing Approach to Flow Control, 1993).
//
// # Network
//
// A [Flow] goes through all the links of its path at once and as fast as the
// tightest lets it. Rates are max-min fair (Bertsekas and Gallager, Data
// Networks, 2nd edition, section 6.5.2): nobody's can be raised without lowering
// that of a flow which has no more, for its weight. The rates follow from one
// number for each link, its advertised rate (Charny, Clark and Jain, Congestion
// Control with Explicit Rate Indication, 1995); see [Network]. The flows that one
// link limits keep to that link's clock, as on a device.
//
// A disk that flows pass through is a link whose capacity follows a Curve.
// There a byte has a cost, as writing may be slower than reading; so a remote
// read, a block written to several replicas in a pipeline ([Fabric.Write]) and
// the node's own files contend for one disk. Where no flow ever comes by, a
// Device does the same for less.
//
// # Time
//
// Work is a float64, instants are whole nanoseconds. An end is rounded to the
// nearest; what has been served is not, so nothing drifts. A visitor alone on an
// idle device ends at the nanosecond nearest to start + work / rate. Visitors
// whose work is done at one instant leave in the order in which they came.
//
// Visits and flows belong to their users, who get one call at the end and may
// start and cancel others, or the same again, from within. In a run that has
// reached its size nothing is allocated.
package station
