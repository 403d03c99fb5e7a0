package taskplan

// MapOf plans a map whose output makes the given spills, such as the equal ones of
// Herodotou's report.
func (p *Planner) MapOf(f MapFlow, spills []Spill) MapPlan { return p.mapOf(f, spills) }
