package bot

import "strings"

// unanswered is the no to an event that has no file here. Of two it says what they mean: people look for them.
func unanswered(name string, payload []byte) *Skip {
	switch {
	case name == "ping":
		return skip(NotForUs, "the webhook is set up")
	case strings.HasPrefix(name, "installation"):
		p, err := readJSON[struct{ Action string }](payload)
		if err != nil {
			return skip(Malformed, "%s: %v", clip(name, 50), err)
		}
		return skip(NotForUs, "the App's installation: %s; what it may do is asked when it is needed", clip(p.Action, 50))
	}
	return skip(NotForUs, "nothing here answers %s", clip(name, 50))
}
