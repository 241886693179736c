package github

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-github/v62/github"

	"github.com/redraft-dev/redraft/bot"
)

// jwt is the shape of what AppsTransport signs, and of some tokens.
var jwt = regexp.MustCompile(`eyJ[\w-]{8,}\.[\w-]+\.[\w-]*`)

// refused turns whatever came of a call into a *bot.HubError without Doing; the end of the caller's context stays its
// cause. secret never stays in its text.
func refused(ctx context.Context, c Call, err error, secret string) error {
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	no := &bot.HubError{Class: bot.Unavailable, Text: "an answer that cannot be read: " + err.Error()}
	if r := answerOf(err); r != nil {
		body, _ := io.ReadAll(io.LimitReader(r.Body, 64<<10)) // go-github left a copy of it in memory
		no = &bot.HubError{Class: class(r.StatusCode), Status: r.StatusCode, Text: wording(body)}
		if no.Class == bot.Forbidden {
			no.Permission = accepted(r.Header.Get("X-Accepted-Github-Permissions"), c.Needs)
		}
		reword(no)
	}
	var ours *bot.HubError
	if errors.As(err, &ours) {
		same := *ours
		no = &same
	}
	no.Text = clip(conceal(no.Text, secret)) // clipped last: half a token would not be known again
	return no
}

// conceal takes a token out of a text, also as a URL, a Go string or JSON has it.
func conceal(text, secret string) string {
	if secret != "" {
		quoted, _ := json.Marshal(secret)
		for _, form := range []string{secret, url.PathEscape(secret), url.QueryEscape(secret), (&url.URL{Path: secret}).EscapedPath(), strings.Trim(strconv.Quote(secret), `"`), strings.Trim(string(quoted), `"`)} {
			text = strings.ReplaceAll(text, form, "[token]")
		}
	}
	return jwt.ReplaceAllString(text, "[token]")
}

// answerOf is the answer inside one of go-github's errors; nil when there was none.
func answerOf(err error) *http.Response {
	var plain *github.ErrorResponse
	var factor *github.TwoFactorAuthError
	var rate *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	switch {
	case errors.As(err, &plain):
		return plain.Response
	case errors.As(err, &factor):
		return factor.Response
	case errors.As(err, &rate):
		return rate.Response
	case errors.As(err, &abuse):
		return abuse.Response
	}
	return nil
}

func class(status int) bot.Class {
	if redirects(status) {
		return bot.NotFound // there is something, elsewhere
	}
	switch status {
	case http.StatusUnauthorized:
		return bot.BadAuth
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return bot.Forbidden
	case http.StatusNotFound, http.StatusGone:
		return bot.NotFound
	case http.StatusConflict:
		return bot.Conflicting
	case http.StatusTooManyRequests:
		return bot.RateLimited
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return bot.Invalid
	}
	return bot.Unavailable
}

// reword gives a no the class that its words have; GitHub gives them no code of their own.
func reword(no *bot.HubError) {
	text := strings.ToLower(no.Text)
	switch {
	case no.Status != http.StatusUnprocessableEntity && no.Status != http.StatusForbidden:
	case strings.Contains(text, "draft pull requests are not supported"):
		no.Class, no.Permission = bot.NoDrafts, ""
	case strings.Contains(text, "not permitted to create or approve pull requests"):
		no.Class, no.Permission = bot.NoPulls, ""
	}
}

// moved says whether GitHub sent us to another place, which is how it answers for a renamed repository.
func moved(err error) bool {
	var no *bot.HubError
	return errors.As(err, &no) && redirects(no.Status)
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func is(err error, c bot.Class) bool {
	var no *bot.HubError
	return errors.As(err, &no) && no.Class == c
}

// lost says whether a write may have happened all the same.
func lost(err error) bool { return is(err, bot.Unavailable) }

// accepted is the permission that GitHub names, as in "issues=write; pull_requests=write" where one of both is enough,
// else the one of our table.
func accepted(header, needs string) string {
	var ways []string
	for way := range strings.SplitSeq(header, ";") {
		var all []string
		for part := range strings.SplitSeq(way, ",") {
			name, level, ok := strings.Cut(strings.TrimSpace(part), "=")
			if ok && only(name, "abcdefghijklmnopqrstuvwxyz_") && only(level, "abcdefghijklmnopqrstuvwxyz") && len(part) < 80 {
				all = append(all, name+": "+level)
			}
		}
		if len(all) > 0 && len(ways) < 4 {
			ways = append(ways, strings.Join(all, ", "))
		}
	}
	if len(ways) == 0 {
		return needs
	}
	return strings.Join(ways, " or ")
}

// wording is what an answer says for people: its message and those of its errors, at whatever length.
func wording(body []byte) string {
	var answer struct {
		Message json.RawMessage `json:"message"`
		Errors  json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return ""
	}
	var words []string
	collect(&words, answer.Message)
	collect(&words, answer.Errors)
	return strings.Join(words, "; ")
}

// collect gathers the texts of a message, which may be a string, a list, or objects of message, code and field.
func collect(words *[]string, raw json.RawMessage) {
	var text string
	var list []json.RawMessage
	var object struct{ Message, Code, Field json.RawMessage }
	switch {
	case len(raw) == 0 || len(*words) > 8:
	case json.Unmarshal(raw, &text) == nil:
		if text != "" {
			*words = append(*words, text)
		}
	case json.Unmarshal(raw, &list) == nil:
		for _, item := range list[:min(len(list), 8)] {
			collect(words, item)
		}
	case json.Unmarshal(raw, &object) == nil && len(object.Message) > 0:
		collect(words, object.Message)
	case json.Unmarshal(raw, &object) == nil:
		collect(words, object.Field)
		collect(words, object.Code)
	}
}

const longestText = 300

// clip makes a stranger's text one short line.
func clip(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError {
			return ' '
		}
		return r
	}, s[:min(len(s), 8*longestText)])
	if r := []rune(s); len(r) > longestText {
		return string(r[:longestText]) + "…"
	}
	return s
}
