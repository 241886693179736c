package github

import (
	"container/list"
	"net/http"
	"sync"
)

// cache keeps answers with an ETag, so that asking again for what did not change is free. What it holds is given out
// only after GitHub answered 304 to the credential that asks now. It is bounded by entries and bytes, oldest use first.
type cache struct {
	mu    sync.Mutex
	by    map[string]*list.Element
	order list.List // newest use in front
	bytes int
}

type cached struct {
	key, etag string
	header    http.Header
	body      []byte
}

const (
	cacheEntries = 512
	cacheBytes   = 16 << 20
	cacheEntry   = 1 << 20
)

func (c *cache) get(key string) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.by[key]
	if !ok {
		return cached{}, false
	}
	c.order.MoveToFront(e)
	return e.Value.(cached), true
}

func (c *cache) put(v cached) {
	if v.etag == "" || len(v.body) > cacheEntry {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]*list.Element{}
	}
	if old, ok := c.by[v.key]; ok {
		c.drop(old)
	}
	c.by[v.key] = c.order.PushFront(v)
	c.bytes += len(v.body)
	for c.order.Len() > cacheEntries || c.bytes > cacheBytes {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	v := c.order.Remove(e).(cached)
	delete(c.by, v.key)
	c.bytes -= len(v.body)
}
