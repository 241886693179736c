package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/redraft-dev/redraft/bot"
)

// Diagnosis is one thing that was looked at.
type Diagnosis struct {
	Name string // "app", "clock", "permissions", "events", "webhook", "installation acme", "token"
	OK   bool
	Text string // what was seen
	Fix  string // what to change; "" when OK
	URL  string // of the page where it is changed, if known
}

// Doctor looks at everything about the credential that belongs to no one repository. It changes nothing. For one
// repository see Check.
func (h *Hub) Doctor(ctx context.Context) []Diagnosis {
	if h.app == nil {
		return []Diagnosis{h.seeToken(ctx)}
	}
	a, who, clock := h.seeApp(ctx)
	all := []Diagnosis{who, clock}
	if !who.OK {
		return all
	}
	page := h.settingsOf(a)
	all = append(all, granted("permissions", a.Permissions, page+"/permissions"), subscribed("events", a.Events, page+"/permissions"), h.seeHook(ctx, page))
	return append(all, h.seeInstallations(ctx)...)
}

func (h *Hub) seeToken(ctx context.Context) Diagnosis {
	self, err := h.Self(ctx)
	if err != nil {
		return Diagnosis{Name: "token", Text: err.Error(), Fix: "Give a token that GitHub takes."}
	}
	return Diagnosis{Name: "token", OK: true, Text: "we are " + self.Login}
}

// settingsOf is the page of an App's settings.
func (h *Hub) settingsOf(a app) string {
	if a.Owner.Type == "Organization" {
		return h.git + "/organizations/" + url.PathEscape(a.Owner.Login) + "/settings/apps/" + url.PathEscape(a.Slug)
	}
	return h.git + "/settings/apps/" + url.PathEscape(a.Slug)
}

// GitHub refuses what was signed in its future, and what has expired: AppsTransport dates half a minute back and signs
// for two minutes.
const (
	mostAhead  = 20 * time.Second
	mostBehind = 60 * time.Second
)

func (h *Hub) seeApp(ctx context.Context) (a app, who, clock Diagnosis) {
	who = Diagnosis{Name: "app", Fix: "Check the App's id, and that the private key is one of this App's."}
	clock = Diagnosis{Name: "clock", Fix: "Set this machine's clock, and keep it set (NTP)."}
	l := h.appLine(getApp)
	answer, err := l.send(ctx, call{op: getApp, out: &a})
	if answer != nil && answer.Response != nil {
		h.seeClock(answer.Header, &clock)
	} else {
		clock.Text, clock.Fix = "GitHub did not say what time it is", ""
	}
	switch err = refused(ctx, table[getApp], err, ""); {
	case err != nil && is(err, bot.BadAuth):
		who.Text = h.say("sign in as the App", err).Error()
	case err != nil:
		who.Text, who.Fix = h.say("sign in as the App", err).Error(), "See that "+h.api.Host+" can be reached from here, and that its authority is known."
	case a.ID == 0 || a.Slug == "":
		who.Text = "GitHub's answer names no App"
	default:
		who = Diagnosis{Name: "app", OK: true, Text: fmt.Sprintf("App %d, %s", a.ID, clip(a.Slug)), URL: a.HTMLURL}
	}
	return a, who, clock
}

func (h *Hub) seeClock(header http.Header, d *Diagnosis) {
	at, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		d.Text, d.Fix = "GitHub did not say what time it is", ""
		return
	}
	ahead := h.now().Sub(at).Round(time.Second)
	switch {
	case ahead > mostAhead:
		d.Text = fmt.Sprintf("%s ahead of GitHub's clock", ahead)
	case ahead < -mostBehind:
		d.Text = fmt.Sprintf("%s behind GitHub's clock", -ahead)
	default:
		d.OK, d.Fix, d.Text = true, "", "agrees with GitHub's clock"
	}
}

func granted(name string, have map[string]string, page string) Diagnosis {
	lack := missing(have, needed)
	if len(lack) == 0 {
		return Diagnosis{Name: name, OK: true, Text: "all that are needed are granted"}
	}
	var fix []string
	for _, need := range lack {
		perm, level, _ := strings.Cut(need, ": ")
		fix = append(fix, title(perm)+": "+spoken[level])
	}
	return Diagnosis{Name: name, Text: "missing " + strings.Join(lack, ", "), Fix: "Under Repository permissions choose " + strings.Join(fix, ", ") + ".", URL: page}
}

func subscribed(name string, have []string, page string) Diagnosis {
	var lack []string
	for _, e := range events {
		if !slices.Contains(have, e) {
			lack = append(lack, e)
		}
	}
	if len(lack) == 0 {
		return Diagnosis{Name: name, OK: true, Text: "all that are needed are sent"}
	}
	return Diagnosis{Name: name, Text: "not sent: " + strings.Join(lack, ", "), Fix: "Tick them under Subscribe to events.", URL: page}
}

func (h *Hub) seeHook(ctx context.Context, page string) Diagnosis {
	d := Diagnosis{Name: "webhook", URL: page}
	var out struct {
		URL         string `json:"url"`
		ContentType string `json:"content_type"`
		Secret      string `json:"secret"` // starred out
		Insecure    any    `json:"insecure_ssl"`
	}
	_, err := h.appLine(getHookConfig).call(ctx, call{op: getHookConfig, out: &out})
	u, bad := url.Parse(out.URL)
	switch {
	case is(err, bot.NotFound) || err == nil && out.URL == "":
		d.Text, d.Fix = "none is set", "Set the Webhook URL to this server's address with /webhook, and tick Active."
	case err != nil:
		d.Text = h.say("read the webhook's settings", err).Error()
	case bad != nil || u.Host == "":
		d.Text, d.Fix = "its address is no URL", "Set the Webhook URL to this server's address with /webhook."
	case out.ContentType != "json":
		d.Text, d.Fix = "content type "+clip(or(out.ContentType, "form")), "Choose application/json as its content type."
	case out.Secret == "":
		d.Text, d.Fix = "no secret is set, so nothing is signed", "Set a webhook secret, and give the same to this server."
	case fmt.Sprint(out.Insecure) == "1":
		d.Text, d.Fix = "certificates are not verified", "Enable SSL verification."
	default:
		d.OK, d.Text = true, "sent signed as JSON to "+clip(u.Scheme+"://"+u.Host+u.Path)
	}
	return d
}

const installationPages = 10

func (h *Hub) seeInstallations(ctx context.Context) (all []Diagnosis) {
	n := 0
	_, err := pages(ctx, h.appLine(listInstallations), call{op: listInstallations}, installationPages, func(page []installation) bool {
		for _, i := range page {
			n++
			all = append(all, seeInstallation(i))
		}
		return false
	})
	switch {
	case err != nil:
		all = append(all, Diagnosis{Name: "installations", Text: h.say("list the App's installations", err).Error()})
	case n == 0:
		all = append(all, Diagnosis{Name: "installations", Text: "the App is installed nowhere", Fix: "Install it on an account or on some repositories."})
	}
	return all
}

func seeInstallation(i installation) Diagnosis {
	name := "installation " + clip(i.Account.Login)
	if i.SuspendedAt != nil {
		return Diagnosis{Name: name, Text: "suspended", Fix: "Unsuspend it.", URL: i.HTMLURL}
	}
	perms, sent := granted(name, i.Permissions, i.HTMLURL), subscribed(name, i.Events, i.HTMLURL)
	switch {
	case !perms.OK:
		perms.Fix = "Accept the App's new permissions on the installation's page."
		return perms
	case !sent.OK:
		sent.Fix = "Accept the App's new permissions and events on the installation's page."
		return sent
	}
	return Diagnosis{Name: name, OK: true, Text: "grants and sends all that is needed", URL: i.HTMLURL}
}
