package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

type obj = map[string]any

// raw is an answer that is not JSON.
type raw string

// no is an answer that says no.
type no struct {
	status   int
	message  string
	problems []problem
	url      string // where to look instead
}

func (n *no) Error() string {
	text := fmt.Sprintf("%d %s", n.status, n.message)
	for _, p := range n.problems {
		text += "; " + strings.TrimSpace(p.Field+" "+p.Code+" "+p.Message)
	}
	return text
}

// problem is one thing that is wrong with a request.
type problem struct {
	Resource string `json:"resource"`
	Field    string `json:"field,omitempty"`
	Code     string `json:"code"`
	Message  string `json:"message,omitempty"`
}

var notFound = &no{status: http.StatusNotFound, message: "Not Found"}

func invalidf(format string, a ...any) error {
	return &no{status: http.StatusUnprocessableEntity, message: fmt.Sprintf(format, a...)}
}

func validation(problems ...problem) error {
	return &no{status: http.StatusUnprocessableEntity, message: "Validation Failed", problems: problems}
}

// documentation is the address that every no names.
const documentation = "https://docs.github.com/rest"

// write puts an answer into a reply: JSON with a tag, or 304 to whom has it already.
func (c *call) write(w *reply, status int, value any, err error) {
	c.limits()
	if err != nil {
		c.writeNo(w, err)
		return
	}
	w.status = status
	c.header.Set("X-GitHub-Media-Type", "github.v3; format=json")
	if text, ok := value.(raw); ok {
		c.header.Set("Content-Type", "application/vnd.github.raw+json; charset=utf-8")
		w.body.WriteString(string(text))
		return
	}
	if value == nil {
		return
	}
	c.header.Set("Content-Type", "application/json; charset=utf-8")
	text, err := json.Marshal(value)
	if err != nil {
		w.status = http.StatusInternalServerError
		return
	}
	if c.r.Method == http.MethodGet {
		tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(text))
		c.header.Set("ETag", tag)
		c.header.Set("Cache-Control", "private, max-age=60, s-maxage=60")
		if strings.Contains(c.r.Header.Get("If-None-Match"), strings.TrimPrefix(tag, "W/")) {
			c.header.Del("Content-Type")
			w.status = http.StatusNotModified
			return
		}
	}
	w.body.Write(text)
}

func (c *call) writeNo(w *reply, err error) {
	n := (*no)(nil)
	if !errors.As(err, &n) {
		n = &no{status: http.StatusInternalServerError, message: err.Error()}
	}
	w.status = n.status
	c.header.Set("Content-Type", "application/json; charset=utf-8")
	answer := obj{"message": n.message, "documentation_url": documentation, "status": strconv.Itoa(n.status)}
	if n.url != "" {
		answer["url"] = n.url
	}
	if len(n.problems) > 0 {
		answer["errors"] = n.problems
	}
	json.NewEncoder(&w.body).Encode(answer) // of strings: cannot go wrong
}

// limits are the headers of the rate limit, of which this server only tells.
func (c *call) limits() {
	used := len(c.s.audit) % 5000
	for name, n := range map[string]int{"Limit": 5000, "Used": used, "Remaining": 5000 - used, "Reset": int(c.s.now().Add(time.Hour).Unix())} {
		c.header.Set("X-Ratelimit-"+name, strconv.Itoa(n))
	}
	c.header.Set("X-Ratelimit-Resource", "core")
	c.header.Set("X-Github-Request-Id", fmt.Sprintf("%X", c.s.id()))
}

func getRate(c *call) (any, error) {
	used := len(c.s.audit) % 5000
	core := obj{"limit": 5000, "used": used, "remaining": 5000 - used, "reset": c.s.now().Add(time.Hour).Unix()}
	search := obj{"limit": 30, "used": 0, "remaining": 30, "reset": c.s.now().Add(time.Minute).Unix()}
	return obj{"rate": core, "resources": obj{"core": core, "search": search}}, nil
}

// cut is the part of a list that the query asks for; Link names the others.
func cut[T any](c *call, all []T) ([]T, error) {
	size, err := c.number("per_page", 30)
	if err != nil {
		return nil, err
	}
	n, err := c.number("page", 1)
	if err != nil {
		return nil, err
	}
	size, n = min(max(size, 1), 100), max(n, 1)
	last := max((len(all)+size-1)/size, 1)
	var links []string
	link := func(page int, rel string) {
		q := c.r.URL.Query()
		q.Set("page", strconv.Itoa(page))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel=%q`, c.s.URL, strings.TrimPrefix(c.r.URL.EscapedPath(), "/"), q.Encode(), rel))
	}
	if n > 1 {
		link(min(n-1, last), "prev")
	}
	if n < last {
		link(n+1, "next")
		link(last, "last")
	}
	if n > 1 {
		link(1, "first")
	}
	if len(links) > 0 {
		c.header.Set("Link", strings.Join(links, ", "))
	}
	from := min((min(n, last+1)-1)*size, len(all))
	return all[from:min(from+size, len(all))], nil
}

func (c *call) number(name string, otherwise int) (int, error) {
	text := c.r.URL.Query().Get(name)
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalidf("Invalid request.\n\n%s is not an integer.", name)
	}
	return n, nil
}

// page is a list's answer.
func page[T any](c *call, all []T, show func(T) any) (any, error) {
	part, err := cut(c, all)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for _, x := range part {
		out = append(out, show(x))
	}
	return out, nil
}

// counted is a list's answer where GitHub wraps it and says how many there are.
func counted[T any](c *call, name string, all []T, show func(T) any) (any, error) {
	out, err := page(c, all, show)
	if err != nil {
		return nil, err
	}
	return obj{"total_count": len(all), name: out}, nil
}
