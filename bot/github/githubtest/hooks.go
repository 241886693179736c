package githubtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// appEvents are what our App is subscribed to.
var appEvents = []string{"check_run", "check_suite", "create", "delete", "issue_comment", "issues", "label", "pull_request", "push", "repository", "status", "workflow_run"}

// hookTimeout is how long GitHub waits for an answer to a webhook.
const hookTimeout = 10 * time.Second

// Delivery is one attempt to hand over one event.
type Delivery struct {
	ID         int64
	GUID       string // X-GitHub-Delivery, the same for a redelivery
	Event      string // X-GitHub-Event
	Action     string
	Payload    []byte
	Status     int // of the answer; 0 when it was not sent yet, or nothing answered
	Redelivery bool
	Sent       time.Time // zero when it was not sent yet

	took         time.Duration
	install      int64
	repo         int64
	request      http.Header
	response     http.Header
	responseBody string
	why          string // it was not handed over
}

// mailbox is what waits for delivery and what was delivered; Server.mu guards it.
type mailbox struct {
	url, secret string
	paused      bool
	busy        bool
	all         []*Delivery
	waiting     []*Delivery
	bell        chan struct{}
}

func (m *mailbox) init(url, secret string) {
	m.url, m.secret, m.bell = url, secret, make(chan struct{}, 1)
}

func (m *mailbox) wake() {
	select {
	case m.bell <- struct{}{}:
	default:
	}
}

// SetHook says where webhooks go from now on, those that wait included.
func (s *Server) SetHook(url, secret string) {
	s.mu.Lock()
	s.hooks.url, s.hooks.secret = url, secret
	s.mu.Unlock()
	s.hooks.wake()
}

// PauseHooks keeps webhooks back until it is called with false.
func (s *Server) PauseHooks(yes bool) {
	s.mu.Lock()
	s.hooks.paused = yes
	s.mu.Unlock()
	s.hooks.wake()
}

// Ping sends the event that a new hook begins with.
func (s *Server) Ping() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.post(nil, nil, "ping", "", obj{"zen": "Keep it logically awesome.", "hook_id": s.o.AppID, "hook": obj{
		"type": "App", "id": s.o.AppID, "name": "web", "active": true, "events": appEvents, "app_id": s.o.AppID,
		"config":     obj{"content_type": "json", "insecure_ssl": "0", "url": or(s.hooks.url, "https://localhost/webhook")},
		"created_at": stamp(s.now()), "updated_at": stamp(s.now()), "deliveries_url": s.URL + "app/hook/deliveries",
	}})
}

// Deliveries are all of them in order, those that wait included.
func (s *Server) Deliveries() []Delivery {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Delivery
	for _, d := range s.hooks.all {
		all = append(all, *d)
	}
	return all
}

// Redeliver sends an event once more, with the same GUID; GitHub itself never does so unasked.
func (s *Server) Redeliver(id int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.hooks.all {
		if d.ID == id {
			again := &Delivery{ID: s.id(), GUID: d.GUID, Event: d.Event, Action: d.Action, Payload: d.Payload, Redelivery: true, install: d.install, repo: d.repo}
			s.hooks.put(again)
			return nil
		}
	}
	return fmt.Errorf("redeliver %d: %w", id, errNoSuch)
}

func (m *mailbox) put(d *Delivery) {
	m.all = append(m.all, d)
	m.waiting = append(m.waiting, d)
	m.wake()
}

// Drain waits until every webhook that can be sent was sent.
func (s *Server) Drain(ctx context.Context) error {
	for {
		s.mu.Lock()
		done := !s.hooks.busy && (len(s.hooks.waiting) == 0 || s.hooks.paused || s.hooks.url == "")
		s.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// emit tells our App of something in a repository that it is installed on. What our App did itself is told too, with its bot
// as sender.
func (s *Server) emit(r *Repo, event, action string, payload obj, by *account) {
	in := s.installed(r)
	if in == nil || !in.suspended.IsZero() {
		return
	}
	payload = with(payload, obj{"repository": r.json(true), "sender": s.userJSON(by), "installation": obj{"id": in.id, "node_id": node("Installation", in.id)}})
	if r.owner.kind == "Organization" {
		login := r.owner.login
		payload["organization"] = with(links(s.URL+"orgs/"+login, "url=", "repos_url=/repos", "events_url=/events", "hooks_url=/hooks", "issues_url=/issues",
			"members_url=/members{/member}", "public_members_url=/public_members{/member}"), obj{
			"login": login, "id": r.owner.id, "node_id": node("Organization", r.owner.id), "avatar_url": s.avatar(r.owner), "description": nil,
		})
	}
	s.post(r, in, event, action, payload)
}

func (s *Server) emitInstalled(in *installation, repos []*Repo) {
	s.post(nil, in, "installation", "created", obj{
		"installation": s.installationJSON(in), "repositories": shortRepos(repos), "requester": nil, "sender": s.userJSON(in.account),
	})
}

// shortRepos are repositories as events of installations name them.
func shortRepos(repos []*Repo) []any {
	list := []any{}
	for _, r := range repos {
		list = append(list, obj{"id": r.id, "node_id": node("Repository", r.id), "name": r.name, "full_name": r.full(), "private": r.private})
	}
	return list
}

// post puts an event among those to deliver.
func (s *Server) post(r *Repo, in *installation, event, action string, payload obj) {
	d := &Delivery{ID: s.id(), GUID: guid(), Event: event, Action: action}
	if action != "" {
		payload["action"] = action
	}
	if r != nil {
		d.repo = r.id
	}
	if in != nil {
		d.install = in.id
	}
	d.Payload, _ = json.Marshal(payload) // of maps, texts and numbers: cannot go wrong
	s.hooks.put(d)
}

func guid() string {
	var b [16]byte
	rand.Read(b[:])
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// deliverAll hands events over one after the other, until the server closes.
func (s *Server) deliverAll(ctx context.Context) {
	client := &http.Client{Timeout: hookTimeout, Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for ctx.Err() == nil {
		d, url, secret := s.next()
		if d == nil {
			select {
			case <-ctx.Done():
			case <-s.hooks.bell:
			}
			continue
		}
		s.deliver(ctx, client, d, url, secret)
	}
}

func (s *Server) next() (d *Delivery, url, secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := &s.hooks
	if m.paused || m.url == "" || len(m.waiting) == 0 {
		return nil, "", ""
	}
	d, m.waiting, m.busy = m.waiting[0], m.waiting[1:], true
	return d, m.url, m.secret
}

// Sign is the X-Hub-Signature-256 of a payload.
func Sign(secret string, payload []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(payload)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func (s *Server) deliver(ctx context.Context, client *http.Client, d *Delivery, url, secret string) {
	begun := time.Now()
	req, err := http.NewRequestWithContext(ctx, "POST", url, bytes.NewReader(d.Payload))
	var status int
	var header http.Header
	var body []byte
	if err == nil {
		req.Header = s.hookHeader(d, secret)
		var resp *http.Response
		if resp, err = client.Do(req); err == nil {
			body, _ = io.ReadAll(io.LimitReader(resp.Body, 64<<10))
			resp.Body.Close()
			status, header = resp.StatusCode, resp.Header
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d.Status, d.response, d.responseBody, d.Sent, d.took = status, header, string(body), s.now(), time.Since(begun)
	if req != nil {
		d.request = req.Header
	}
	if err != nil {
		d.why = "failed to connect to host" // GitHub's words
	}
	s.hooks.busy = false
}

func (s *Server) hookHeader(d *Delivery, secret string) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "GitHub-Hookshot/githubtest")
	h.Set("X-GitHub-Event", d.Event)
	h.Set("X-GitHub-Delivery", d.GUID)
	h.Set("X-GitHub-Hook-ID", strconv.FormatInt(s.o.AppID, 10))
	h.Set("X-GitHub-Hook-Installation-Target-ID", strconv.FormatInt(s.o.AppID, 10))
	h.Set("X-GitHub-Hook-Installation-Target-Type", "integration")
	if secret != "" {
		h.Set("X-Hub-Signature-256", Sign(secret, d.Payload))
	}
	return h
}

func getHook(c *call) (any, error) {
	return obj{"content_type": "json", "insecure_ssl": "0", "secret": "********", "url": or(c.s.hooks.url, "https://localhost/webhook")}, nil
}

// deliveryJSON is an attempt; whole holds what was sent and answered.
func deliveryJSON(d *Delivery, whole bool) obj {
	word := "OK"
	if d.Status/100 != 2 {
		word = or(d.why, "Invalid HTTP Response: "+strconv.Itoa(d.Status))
	}
	out := obj{
		"id": d.ID, "guid": d.GUID, "delivered_at": stamp(d.Sent), "redelivery": d.Redelivery, "duration": d.took.Seconds(), "status": word,
		"status_code": d.Status, "event": d.Event, "action": orNil(d.Action), "installation_id": orZero(d.install), "repository_id": orZero(d.repo),
		"throttled_at": nil,
	}
	if !whole {
		return out
	}
	flat := func(h http.Header) obj {
		o := obj{}
		for name := range h {
			o[name] = h.Get(name)
		}
		return o
	}
	out["request"] = obj{"headers": flat(d.request), "payload": json.RawMessage(d.Payload)}
	out["response"] = obj{"headers": flat(d.response), "payload": d.responseBody}
	return out
}

func orZero(n int64) any {
	if n == 0 {
		return nil
	}
	return n
}

// listDeliveries pages by cursor, the newest first: the cursor is the id that the next page begins with.
func listDeliveries(c *call) (any, error) {
	q := c.r.URL.Query()
	size, err := c.number("per_page", 30)
	if err != nil {
		return nil, err
	}
	size = min(max(size, 1), 100)
	sent := slices.DeleteFunc(slices.Clone(c.s.hooks.all), func(d *Delivery) bool {
		good := d.Status/100 == 2
		return d.Sent.IsZero() || q.Get("status") == "success" && !good || q.Get("status") == "failure" && good
	})
	slices.Reverse(sent)
	if cursor := q.Get("cursor"); cursor != "" {
		from := slices.IndexFunc(sent, func(d *Delivery) bool { return strconv.FormatInt(d.ID, 10) == cursor })
		if from < 0 {
			return nil, invalidf("Invalid cursor")
		}
		sent = sent[from:]
	}
	if len(sent) > size {
		q.Set("cursor", strconv.FormatInt(sent[size].ID, 10))
		c.header.Set("Link", fmt.Sprintf(`<%sapp/hook/deliveries?%s>; rel="next"`, c.s.URL, q.Encode()))
		sent = sent[:size]
	}
	all := []any{}
	for _, d := range sent {
		all = append(all, deliveryJSON(d, false))
	}
	return all, nil
}

func (c *call) delivery() *Delivery {
	id, _ := strconv.ParseInt(c.r.PathValue("id"), 10, 64)
	for _, d := range c.s.hooks.all {
		if d.ID == id && !d.Sent.IsZero() {
			return d
		}
	}
	return nil
}

func getDelivery(c *call) (any, error) {
	d := c.delivery()
	if d == nil {
		return nil, notFound
	}
	return deliveryJSON(d, true), nil
}

func redeliver(c *call) (any, error) {
	d := c.delivery()
	if d == nil {
		return nil, notFound
	}
	again := *d
	again.ID, again.Redelivery, again.Sent, again.Status, again.request, again.response, again.why = c.s.id(), true, time.Time{}, 0, nil, nil, ""
	c.s.hooks.put(&again)
	return maps.Clone(obj{}), nil
}
