package model

// MapOf plans a map whose output makes the given spills, as the equations of
// Herodotou's report have them.
func (p *Planner) MapOf(f MapFlow, spills []Spill) MapPlan { return p.mapOf(f, spills) }
