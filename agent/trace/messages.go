package trace

import "encoding/json"

// message is one message of a chat, as a request's body holds it.
type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// messagesOf reads the question out of a request's body: a chat's messages, or a raw prompt as one.
func messagesOf(body json.RawMessage) []message {
	var b struct {
		Messages []message `json:"messages"`
		Prompt   string    `json:"prompt"`
	}
	_ = json.Unmarshal(body, &b)
	if len(b.Messages) == 0 && b.Prompt != "" {
		return []message{{"prompt", b.Prompt}}
	}
	return b.Messages
}
