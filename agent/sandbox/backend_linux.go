package sandbox

// backend is what the tiers of Linux need besides.
type backend struct {
	bwrap    string   // absolute path of the launcher, in that tier
	controls controls // how memory and processes are bounded
}
