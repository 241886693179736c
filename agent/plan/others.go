package plan

// Others are the checks of the set that a repair of the red one is held against: those that somebody configured. What is only
// customary may have never worked.
func (s Set) Others(red string) []Check {
	var out []Check
	for _, c := range s.Checks {
		if c.ID != red && (c.Provenance == Configured || c.Provenance == Workflow) {
			out = append(out, c)
		}
	}
	return out
}
