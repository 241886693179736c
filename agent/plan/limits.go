package plan

// DefaultLimits are the ceilings where neither operator nor repository says another.
var DefaultLimits = Limits{Turns: 6, Minutes: 30, Files: 50, Lines: 2000, OpenDrafts: 3, PerDay: 10}

// Under is the limits lowered by what a repository says: whatever it leaves out or sets higher stays as it was.
func (l Limits) Under(repository Limits) Limits {
	lower := func(ceiling, said int) int {
		if said > 0 && (ceiling == 0 || said < ceiling) {
			return said
		}
		return ceiling
	}
	return Limits{
		Turns: lower(l.Turns, repository.Turns), Minutes: lower(l.Minutes, repository.Minutes),
		Files: lower(l.Files, repository.Files), Lines: lower(l.Lines, repository.Lines),
		OpenDrafts: lower(l.OpenDrafts, repository.OpenDrafts), PerDay: lower(l.PerDay, repository.PerDay),
	}
}
