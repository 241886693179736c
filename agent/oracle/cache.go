package oracle

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/redraft-dev/redraft/agent/sandbox"
)

// seeCache is the build cache that the untouched root's runs fill; every other one starts from it, so that no
// candidate's cache is ever believed.
const seeCache = "see"

// cache makes the build cache of that name once: "see" and "base…" from the toolchain base, any other from what See left.
func (o *Oracle) cache(name string) (string, error) {
	if o.Needs.Go == "" {
		return "", nil
	}
	if name == "" {
		name = seeCache
	}
	made, _ := o.caches.LoadOrStore(name, sync.OnceValues(func() (string, error) { return o.makeCache(name) }))
	return made.(func() (string, error))()
}

func (o *Oracle) makeCache(name string) (string, error) {
	dir := filepath.Join(o.Scratch, "cache-"+name)
	from := o.Base
	if see := filepath.Join(o.Scratch, "cache-"+seeCache); name != seeCache && name != baseCache {
		if _, err := os.Stat(see); err == nil {
			from = see
		}
	}
	if from == "" {
		return dir, os.MkdirAll(dir, 0o700)
	}
	if err := sandbox.CopyBase(context.Background(), from, dir); err != nil {
		return "", fmt.Errorf("make the build cache %s: %w", name, err)
	}
	return dir, nil
}

// baseCache is the cache of the one repeat that starts from the toolchain base alone.
const baseCache = "base"
