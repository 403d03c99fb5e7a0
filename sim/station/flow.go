package station

import "github.com/slotwave/slotwave/sim/engine"

// A Network shares its links among flows by weighted max-min fairness. All
// changes at one instant are settled together, after all other events of the
// instant.
//
// Every link has a level: the rate of a flow of weight 1 that nothing else
// limits. A flow moves at its weight times the lowest level on its path; the
// link of that level is the one that limits it. A level solves the equation
//
//	sum over flows of load * min(level, limit) = capacity,    load = cost * weight,
//
// where the limit of a flow is the lowest level elsewhere on its path, or its
// cap. A link is solved again only when its own equation has changed, so that a
// change spreads only where rates change. Flows that pass the same trunks form a
// route, which a trunk informs as one.
type Network struct {
	// Slack is the fraction of its capacity by which the flows of a link may miss
	// it before its level is computed again; 0: exact. A small slack saves much
	// work where all flows depend on each other, as through the uplinks of racks.
	// A level may then be wrong by twice that fraction; ends are far less (TestSlack).
	Slack float64

	// Watch, if set, is called before another link limits a flow, and when a flow ends.
	Watch func(*Flow)

	eng       *engine.Engine
	timer     engine.Timer // the instant must be settled
	unsettled bool
	unlimited clock // flows that no link limits, in seconds
	started   uint64

	routes   map[trunks]*route
	crowd    int // flows on a trunk from which on new ones get a route
	unsolved unsolved
	moved    []*Link  // links whose level has changed
	rerated  []*route // routes whose level has changed
	unbound  []*Flow  // flows with a new limit
	stale    []*clock // links that must set their timers
}

// Link is one direction of a wire, or a disk that flows use. What restrict uses
// comes first, so that it shares a line of the processor's cache.
type Link struct {
	level     float64 // +Inf: the link is not full
	excess    float64 // what the flows ask for at this level, less the capacity
	least     float64 // the level holds while the excess is between these
	most      float64
	crossings []crossing
	isQueued  bool // among the unsolved links
	isMoved   bool // the level has changed
	trunk     bool
	curved    bool  // the capacity depends on the number of streams
	routed    int32 // crossings of flows with a route

	// What join and quit use.
	flows   int32   // on the link
	joined  int32   // flows, since the start
	streams float64 // sum of weights
	served  float64
	net     *Network
	tally   Tally
	conditions
	capacity float64
	curve    Curve
	written  float64     // part of served by hops that write
	busy     engine.Time // without the time of present flows
	since    engine.Time // when the first present flow came

	clock         // clock of the flows it limits, in work for weight 1
	legs  []leg   // of routes, if it is a trunk
	width float64 // change of a route's level that need not be passed on to each flow
}

// crossing is the use of a link by a flow.
type crossing struct {
	load  float64
	limit float64 // the lowest level of the flow's other links, and its cap, as far as known
	flow  *Flow
	hop   int32
	alone bool // the flow has no other link and no cap, and its clock
}

// Hop is a link on the path of a flow.
type Hop struct {
	Link *Link
	Cost float64 // link capacity per unit of the flow

	limit float64 // of the crossing, without the route
	seen  float64 // level of the flow's route when the link last read it
	slot  int32   // index among the link's crossings, or none
	write bool    // onto a disk
}

// Receiver is called when all bytes of a flow have arrived. It may start flows,
// including this one again.
type Receiver interface {
	Received(*Flow)
}

// Flow is a transfer. Its user owns it. It goes through all its hops at one
// rate. The sums include all its starts.
type Flow struct {
	Hops   []Hop    // made with Through; must not change while the flow is active
	cap    float64  // rate for weight 1
	low    float64  // lowest level of its links, and cap
	route  *route   // nil: passes no trunk, or too many
	net    *Network // nil: not active
	lowest int32    // hop that limits it, or none, or byRoute
	was    int32    // what has limited it until now

	place
	on     *clock // clock of what limits it; nil: not settled yet
	order  uint64
	bytes  float64
	weight float64
	speed  float64 // bytes per unit of the clock
	begin  engine.Time
	member int32 // index in the route

	Receiver Receiver
	Weight   float64 // transfers in parallel that this one stands for; 0: 1
	Cap      float64 // highest rate; 0: no cap

	Bytes float64     // including those of the present transfer
	Time  engine.Time // time active, up to the last end
}

const (
	none    int32 = -1 // the cap limits the flow
	nowhere int32 = -2 // a flow without a clock
	byRoute int32 = -3 // a trunk limits the flow
)

// mostTrunks is the largest number of trunks of a route. A flow over more of
// them, as a block written to many racks, passes each like any other link.
const mostTrunks = 4

// manyFlows is the usual number of flows from which on routes save time: with fewer
// it is quicker to inform each flow.
const manyFlows = 100

type trunks [mostTrunks]*Link

// A route holds the flows that pass the same trunks. To a trunk they are one
// flow, except those that other links limit to less. To these other links the
// trunks of a route are one link, whose level is the lowest of the trunks.
//
// A change of the level is passed on to the flows only when it can change the limit
// of one of them.
type route struct {
	clock   // of the flows that a trunk limits
	net     *Network
	trunks  []*Link
	legs    []int32   // index among the legs of each trunk, while there are flows
	members []member  // those that other links limit come first
	loads   []float64 // by member and trunk
	bound   int       // members that other links limit
	changes int       // of the sums of the legs, since they were added up

	level     float64
	low, high float64 // between these the level concerns the trunks only
	rerated   bool    // the clock must get the level
}

// member is a flow of a route.
type member struct {
	flow    *Flow
	limit   float64 // by its cap and links that are not trunks
	counted bool    // the limit is known, and the sums of the legs include it
}

// leg is the use of a trunk by a route.
type leg struct {
	route *route
	at    int32   // index of the trunk on the route
	limit float64 // lowest level of the other trunks
	asks  float64 // what the flows take at the level of the trunk

	free      float64 // load of the members that a trunk limits
	bound     float64 // what the others take
	boundLoad float64
	boundMost float64 // no limit of theirs is above this
}

// unsolved is a heap of links by level, because low levels limit high ones. A
// link keeps its level while it waits here.
type unsolved []waiting

type waiting struct {
	level float64
	link  *Link
}
