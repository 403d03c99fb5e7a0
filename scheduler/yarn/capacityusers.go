package yarn

// capacityUser is a user of a leaf queue (UsersManager.User, 3.3.6).
type capacityUser struct {
	used, amUsed    Resource
	ratio           float32 // of the cluster
	pending, active int     // applications
	weight          float32
	asks            bool // one of the activated ones asks: its use is in usedActive
	gone            bool // it has no applications
}

// waits reports whether none of a user's applications is activated.
func (u *capacityUser) waits() bool { return u.pending > 0 && u.active <= 0 }

// capacityUsers are the users of a leaf queue (UsersManager, 3.3.6). A user is active
// while one of its activated applications asks for containers.
type capacityUsers struct {
	q       *capacityQueue
	percent float32 // minimum-user-limit-percent
	factor  float32 // user-limit-factor
	weights map[string]float32

	users      map[string]*capacityUser
	asking     map[string]map[int32]bool // applications that ask, of each active user
	weight     float32                   // of the active users
	allWeight  float32
	usedActive Resource
	ratio      float32 // sum of the users' ratios, as it has grown

	// The limits of active users and of all hold until the version changes.
	version         uint64
	ofActive, ofAll userLimit
	waiting         int // users without an activated application
	onlyPending     int // the same, as of the last computation
}

// userLimit is a limit as of a version.
type userLimit struct {
	limit   Resource
	version uint64
}

func newCapacityUsers(q *capacityQueue) *capacityUsers {
	return &capacityUsers{
		q: q, users: make(map[string]*capacityUser), asking: make(map[string]map[int32]bool),
		version: 1,
	}
}

// of returns a user, made at need.
func (m *capacityUsers) of(name string) *capacityUser {
	u := m.users[name]
	if u == nil {
		u = &capacityUser{weight: 1}
		if w, ok := m.weights[name]; ok {
			u.weight = w
		}
		m.users[name] = u
		m.allWeight = m.sum(func(*capacityUser) bool { return true })
	}
	return u
}

// user returns the user of an application, or nil.
func (m *capacityUsers) user(a *App) *capacityUser {
	own := &a.capacity.user
	if *own == nil || (*own).gone {
		*own = m.users[a.User]
	}
	return *own
}

// count changes how many applications of a user wait for activation and how many do not.
func (m *capacityUsers) count(u *capacityUser, pending, active int) {
	if u.waits() {
		m.waiting--
	}
	u.pending += pending
	u.active += active
	if u.waits() {
		m.waiting++
	}
}

// sum adds the weights of some users. Java adds them in the order of a hash map: with
// weights that are not whole the last bit may differ.
func (m *capacityUsers) sum(counts func(*capacityUser) bool) float32 {
	var w float32
	for _, name := range sortedKeys(m.users) {
		if u := m.users[name]; counts(u) {
			w += u.weight
		}
	}
	return w
}

func (m *capacityUsers) sumActive() {
	m.weight = m.sum(func(u *capacityUser) bool { return u.asks })
}

// remove forgets a user without applications.
func (m *capacityUsers) remove(name string) {
	m.users[name].gone = true
	delete(m.users, name)
	m.sumActive()
	m.allWeight = m.sum(func(*capacityUser) bool { return true })
}

// asks notes that an application wants containers (UsersManager.activateApplication).
func (m *capacityUsers) asks(a *App) {
	if u := m.users[a.User]; u != nil && u.active <= 0 && m.q.s.release.Capacity28 {
		return
	}
	apps := m.asking[a.User]
	if apps == nil {
		apps = make(map[int32]bool)
		m.asking[a.User] = apps
		m.version++
		u := m.of(a.User)
		if !u.asks {
			u.asks = true
			m.sumActive()
			m.usedActive = m.usedActive.Plus(u.used)
		}
	}
	apps[a.ID] = true
}

// rests notes that an application wants nothing (UsersManager.deactivateApplication).
func (m *capacityUsers) rests(a *App) {
	apps, ok := m.asking[a.User]
	if !ok {
		return
	}
	delete(apps, a.ID)
	if len(apps) > 0 {
		return
	}
	delete(m.asking, a.User)
	m.version++
	if u := m.users[a.User]; u != nil && u.asks {
		u.asks = false
		m.sumActive()
		m.usedActive = m.usedActive.Minus(u.used)
	}
}

// active counts the users that ask, and from 2.8 on those that wait for their first
// application.
func (m *capacityUsers) active() int { return len(m.asking) + m.onlyPending }

// add books use, negative for what is given back (UsersManager.updateUserResourceUsage).
func (m *capacityUsers) add(a *App, r Resource) {
	u := m.user(a)
	if u == nil {
		u = m.of(a.User)
	}
	u.used = u.used.Plus(r)
	if u.asks {
		m.usedActive = m.usedActive.Plus(r)
	}
	m.version++
	ratio := m.q.s.calc.ratio(u.used, m.q.s.total)
	m.ratio += ratio - u.ratio
	u.ratio = ratio
}

// resize computes the ratios anew (UsersManager.updateUsageRatio). Java adds them in
// the order of a hash map; sums of ratios of whole containers differ in the last bit
// at most.
func (m *capacityUsers) resize() {
	m.ratio = 0
	for _, name := range sortedKeys(m.users) {
		u := m.users[name]
		u.ratio = m.q.s.calc.ratio(u.used, m.q.s.total)
		m.ratio += u.ratio
	}
}

// limit is what an active user may use
// (UsersManager.getComputedResourceLimitForActiveUsers). Before 2.8 it depends on the
// request and not on what the users use (LeafQueue.computeUserLimit, 2.7.7).
func (m *capacityUsers) limit(u *capacityUser, request Resource) Resource {
	if s := m.q.s; !s.release.Capacity28 {
		guaranteed := greater(s.calc, s.total, m.q.leaf.guaranteed(), request)
		current := guaranteed
		if s.calc.compare(s.total, m.q.used, guaranteed) >= 0 {
			current = m.q.used.Plus(request)
		}
		return m.bounded(guaranteed, current, s.calc.divideWhole(current, int64(len(m.asking))))
	}
	return m.computed(&m.ofActive, u, func(Resource) (Resource, float32) { return m.usedActive.Plus(m.q.s.least), m.weight })
}

// limitOf is the same, and leaves what was computed last as it is.
func (m *capacityUsers) limitOf(u *capacityUser, request Resource) Resource {
	kept := *m
	defer func() { *m = kept }()
	return m.limit(u, request)
}

// limitOfAll is what a user may use if all users count, not only the active
// ones (UsersManager.getComputedResourceLimitForAllUsers).
func (m *capacityUsers) limitOfAll(u *capacityUser) Resource {
	return m.computed(&m.ofAll, u, func(current Resource) (Resource, float32) { return current, m.allWeight })
}

// computed returns a limit times the weight of a user, computed anew at need. whose gives
// what the users share and the sum of their weights.
func (m *capacityUsers) computed(l *userLimit, u *capacityUser, whose func(current Resource) (Resource, float32)) Resource {
	if l.version != m.version {
		*l = userLimit{m.compute(whose), m.version}
		m.onlyPending = m.waiting
	}
	weight := float32(1)
	if u != nil {
		weight = u.weight
	}
	return m.q.s.calc.timesDown(l.limit, float64(weight), m.q.s.least)
}

// compute is UsersManager.computeUserLimit, of a user's even share of what the users have.
func (m *capacityUsers) compute(whose func(current Resource) (Resource, float32)) Resource {
	s := m.q.s
	c, total, least := s.calc, s.total, s.least
	guaranteed := greater(c, total, m.q.guaranteed, least)
	consumed := c.timesUp(total, float64(m.ratio), least)
	current := guaranteed
	if c.compare(total, consumed, guaranteed) >= 0 {
		current = consumed.Plus(least)
	}
	return m.bounded(guaranteed, current, c.divideUp(whose(current)))
}

// bounded is the larger of an even share and the configured percentage of what the queue
// may have now, at most its guarantee times the factor.
func (m *capacityUsers) bounded(guaranteed, current, even Resource) Resource {
	c, total, least := m.q.s.calc, m.q.s.total, m.q.s.least
	floor := c.divideWhole(times(current, float64(m.percent)), 100)
	limit := greater(c, total, even, floor)
	most := times(guaranteed, float64(m.factor))
	return c.roundUp(lesser(c, total, limit, most), least)
}
