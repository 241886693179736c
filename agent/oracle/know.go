package oracle

import "slices"

// Know takes over what an oracle of the same root learned in See, so that Confirm can be asked by one that has none of the
// other's caches but See's own: claims that are held against each other must leave nothing to the next one.
func (o *Oracle) Know(saw *Oracle) {
	o.trusted, o.runners = saw.trusted, slices.Clone(saw.runners)
	if made, ok := saw.caches.Load(seeCache); ok {
		o.caches.Store(seeCache, made)
	}
}
