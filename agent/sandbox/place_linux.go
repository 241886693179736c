package sandbox

import "strings"

// seen is a path as the command sees it.
func (c Command) seen(path string) string {
	for from, place := range c.Places {
		if within(from, path) {
			return place + strings.TrimPrefix(path, from)
		}
	}
	return path
}
