package modeltest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/redraft-dev/redraft/agent/model"
	"github.com/redraft-dev/redraft/agent/model/modeltest"
)

func complete(t *testing.T, f *modeltest.Server, r model.Request) (model.Reply, error) {
	t.Helper()
	s, err := model.Dial(t.Context(), model.Endpoint{BaseURL: f.URL()})
	if err != nil {
		t.Fatal(err)
	}
	return s.Complete(t.Context(), r)
}

func TestScriptSeesTheRequest(t *testing.T) {
	var got modeltest.Request
	f := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
		got = r
		return modeltest.Reply{Text: "one STOP two", Finish: "length"}
	})
	r, err := complete(t, f, model.Request{Messages: []model.Message{{Role: "system", Content: "be"}, {Role: "user", Content: "brief"}},
		Temperature: 0.5, Seed: 9, MaxTokens: 20, Stop: []string{"STOP"}})
	if err != nil || r.Text != "one " || r.Finish != "length" {
		t.Errorf("got %q, %q, %v", r.Text, r.Finish, err)
	}
	if got.N != 1 || got.Prompt() != "be\nbrief\n" || got.Temperature != 0.5 || got.Seed != 9 || got.MaxTokens != 20 || got.Model != "scripted" {
		t.Errorf("the script saw %+v", got)
	}
	if all := f.Requests(); len(all) != 1 || string(all[0]) != string(got.Body) {
		t.Errorf("Requests gives %q", all)
	}
}

func TestRepliesRunOut(t *testing.T) {
	f := modeltest.New(t, modeltest.Texts("one", "two"))
	for i, want := range []string{"one", "two", ""} {
		r, err := complete(t, f, model.Request{})
		if r.Text != want || (err != nil) != (i == 2) {
			t.Errorf("request %d: %q, %v", i+1, r.Text, err)
		}
	}
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	f := modeltest.New(nil, modeltest.Replies(modeltest.Reply{Hang: true}))
	done := make(chan error)
	go func() {
		_, err := http.Post(f.URL()+"/chat/completions", "application/json", strings.NewReader(`{"messages":[],"stream":true}`))
		done <- err
	}()
	for len(f.Requests()) == 0 {
		time.Sleep(time.Millisecond)
	}
	f.Close()
	f.Close()
	if err := <-done; err == nil {
		t.Error("an answer came from a closed server")
	}
}

func TestUnknownAddress(t *testing.T) {
	resp, err := http.Get(modeltest.New(t, nil).Root() + "/nope")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 404 || !strings.Contains(string(body), "not_found_error") {
		t.Errorf("got %d, %s", resp.StatusCode, body)
	}
}

func TestCache(t *testing.T) {
	for want, env := range map[string]map[string]string{
		"/m":                       {"REDRAFT_MODELS": "/m", "XDG_CACHE_HOME": "/c", "HOME": "/h"},
		"/c/redraft-models":        {"XDG_CACHE_HOME": "/c", "HOME": "/h"},
		"/h/.cache/redraft-models": {"HOME": "/h"},
	} {
		if got := modeltest.Cache(func(k string) string { return env[k] }); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if m := modeltest.Missing(t.TempDir(), modeltest.Small); !strings.Contains(m, "no llama-server/bin/llama-server") {
		t.Errorf("Missing says %q", m)
	}
}
