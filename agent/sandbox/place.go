package sandbox

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Places says whether this tier can show a path at another place. It takes a mount namespace.
func (s *Sandbox) Places() bool { return s != nil && s.tier == Bubblewrap }

// checkPlaces refuses places that would hide what every sandbox shows, and paths that are not given at all.
func (s *Sandbox) checkPlaces(c Command) error {
	if len(c.Places) > 0 && !s.Places() {
		return fmt.Errorf("the tier %s shows every path where it is", s.tier)
	}
	for path, place := range c.Places {
		if !slices.Contains(c.Read, path) && !slices.Contains(c.Write, path) {
			return fmt.Errorf("path %s is shown at another place and not given", path)
		}
		top, _, _ := strings.Cut(strings.TrimPrefix(place, "/"), "/")
		if place != filepath.Clean(place) || !filepath.IsAbs(place) || slices.Contains(tooWide, place) ||
			slices.Contains([]string{"bin", "sbin", "dev", "etc", "lib", "lib64", "proc", "sys", "usr"}, top) {
			return fmt.Errorf("no path can be shown at %s", place)
		}
	}
	return nil
}
