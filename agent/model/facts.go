package model

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// Kind is the program that serves models.
type Kind string

const (
	Unknown  Kind = ""
	LlamaCPP Kind = "llama-server"
	Ollama   Kind = "Ollama"
	LMStudio Kind = "LM Studio"
	VLLM     Kind = "vLLM"
	MLX      Kind = "mlx_lm.server"
)

// modelList is what /v1/models answers.
type modelList struct {
	Data []modelEntry `json:"data"`
}

type modelEntry struct {
	ID      string   `json:"id"`
	Aliases []string `json:"aliases"` // llama-server
	OwnedBy string   `json:"owned_by"`
	MaxLen  int      `json:"max_model_len"` // vLLM
	Meta    struct {
		Context int `json:"n_ctx"` // llama-server
	} `json:"meta"`
}

func (m modelEntry) length() int {
	if m.MaxLen > 0 {
		return m.MaxLen
	}
	return m.Meta.Context
}

// choose finds the wanted model, or the only one that can chat when none is wanted.
func (l modelList) choose(want string) (modelEntry, error) {
	var chat []modelEntry
	for _, m := range l.Data {
		if want != "" && (m.ID == want || same(m.ID, want) && l.only(want)) {
			return m, nil
		}
		if m.ID != "" && !strings.Contains(strings.ToLower(m.ID), "embed") {
			chat = append(chat, m)
		}
	}
	switch {
	case len(l.Data) == 0:
		return modelEntry{}, errors.New("the server has no model: load one first")
	case want != "":
		return modelEntry{}, fmt.Errorf("it has no model %s, only %s", shown(want), l.shown())
	case len(chat) != 1:
		return modelEntry{}, fmt.Errorf("name one of its models: %s", l.shown())
	}
	return chat[0], nil
}

// only reports whether exactly one entry can be meant by a name that is not an id as it stands.
func (l modelList) only(want string) bool {
	n := 0
	for _, m := range l.Data {
		if m.ID == want {
			return false
		}
		if same(m.ID, want) {
			n++
		}
	}
	return n == 1
}

// shown lists ids for an error.
func (l modelList) shown() string {
	var ids []string
	for i, m := range l.Data {
		if i == shownIDs {
			ids = append(ids, fmt.Sprintf("and %d more", len(l.Data)-i))
			break
		}
		ids = append(ids, shown(m.ID))
	}
	return strings.Join(ids, ", ")
}

// kind tells the program by how it signs its models; /api/version and /props settle the rest.
func (l modelList) kind() Kind {
	if len(l.Data) == 0 {
		return Unknown
	}
	switch l.Data[0].OwnedBy {
	case "llamacpp":
		return LlamaCPP
	case "vllm":
		return VLLM
	case "library":
		return Ollama
	case "organization_owner":
		return LMStudio
	}
	return Unknown
}

// measure learns whether the model is local and how long its context is.
func (s *Server) measure(ctx context.Context) error {
	if err := s.refuseRemote(ctx); err != nil {
		return err
	}
	for _, look := range []func(context.Context) error{s.lookProps, s.lookStudio} {
		if err := look(ctx); err != nil && ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	s.setContext(assumed, "assumed")
	return nil
}

// refuseRemote fails when the server itself would send the prompt elsewhere: Ollama's cloud models.
func (s *Server) refuseRemote(ctx context.Context) error {
	remote, err := s.remote(ctx)
	if err != nil {
		return s.blame(ctx, "see whether "+shown(s.id)+" is local", err)
	}
	if remote {
		return &Error{Class: Refused, Doing: s.doing("dial " + shown(s.id)),
			Err: errors.New("the server runs this model on another machine, and nothing may leave this one")}
	}
	return nil
}

// ollamaShow is what of /api/show is looked at; https://github.com/ollama/ollama/blob/main/docs/api.md
type ollamaShow struct {
	RemoteHost  string         `json:"remote_host"`
	RemoteModel string         `json:"remote_model"`
	Parameters  string         `json:"parameters"` // lines such as "num_ctx   8192"
	ModelInfo   map[string]any `json:"model_info"` // "qwen2.context_length": 32768
}

// remote reports whether the model runs elsewhere. A server that is no Ollama answers 404 or something else that is not it.
func (s *Server) remote(ctx context.Context) (bool, error) {
	if cloudName(s.id) {
		return true, nil
	}
	tags, err := s.tags(ctx)
	switch {
	case err != nil:
		return false, err
	case tags == nil && s.kind == Ollama:
		return false, &Error{Class: Refused, Err: errors.New("an Ollama that does not answer /api/version and /api/tags")}
	case tags == nil:
		return false, nil
	}
	s.kind = Ollama
	if tags.remote(s.id) {
		return true, nil
	}
	var show ollamaShow
	if err := s.ask(ctx, "/api/show", map[string]string{"model": s.id}, &show); err != nil {
		return false, err // an Ollama that does not say whether a model is local has not said that it is
	}
	if show.RemoteHost != "" || show.RemoteModel != "" {
		return true, nil
	}
	s.lookRunning(ctx)
	s.setContext(show.length(), "/api/show")
	return false, nil
}

// cloudName knows Ollama's names for models that run elsewhere: gpt-oss:120b-cloud, glm-4.6:cloud.
func cloudName(id string) bool {
	id = strings.ToLower(id)
	return strings.HasSuffix(id, "-cloud") || strings.HasSuffix(id, ":cloud")
}

// ollamaTags is what of /api/tags is looked at.
type ollamaTags struct {
	Models []struct {
		Name        string `json:"name"`
		RemoteHost  string `json:"remote_host"`
		RemoteModel string `json:"remote_model"`
	} `json:"models"`
}

func (t *ollamaTags) remote(id string) bool {
	for _, m := range t.Models {
		if strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(id, ":latest") {
			return m.RemoteHost != "" || m.RemoteModel != ""
		}
	}
	return false
}

// tags asks an Ollama for its models; nil where the server is none. LM Studio answers any address with 200 and an error,
// so the version decides.
func (s *Server) tags(ctx context.Context) (*ollamaTags, error) {
	var version struct {
		Version string `json:"version"`
	}
	if err := s.ask(ctx, "/api/version", nil, &version); err != nil {
		return nil, absent(err)
	}
	if version.Version == "" {
		return nil, nil
	}
	var t ollamaTags
	if err := s.ask(ctx, "/api/tags", nil, &t); err != nil {
		return nil, err
	}
	return &t, nil
}

// absent drops the errors with which a server says that it does not know an address.
func absent(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Status {
	case 0, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusBadRequest,
		http.StatusInternalServerError, http.StatusUnauthorized, http.StatusForbidden:
		return nil
	}
	return err
}

// lookRunning takes the context length with which Ollama has the model loaded, which is the one that counts.
func (s *Server) lookRunning(ctx context.Context) {
	var running struct {
		Models []struct {
			Name    string `json:"name"`
			Context int    `json:"context_length"`
		} `json:"models"`
	}
	if s.ask(ctx, "/api/ps", nil, &running) != nil {
		return
	}
	for _, m := range running.Models {
		if strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(s.id, ":latest") {
			s.setContext(m.Context, "/api/ps")
		}
	}
}

// length is num_ctx where the model file sets it. Else it is what the model could do, but no more than the 4096 that
// Ollama gives a model by itself: what lies beyond is cut off in silence.
func (o ollamaShow) length() int {
	for line := range strings.Lines(o.Parameters) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "num_ctx" {
			n, _ := strconv.Atoi(f[1])
			return n
		}
	}
	for k, v := range o.ModelInfo {
		if n, ok := v.(float64); ok && strings.HasSuffix(k, ".context_length") && n > 0 {
			return int(min(n, assumed))
		}
	}
	return 0
}

// lookProps reads llama-server's own facts: context length, other names, and that it has a tokenizer.
func (s *Server) lookProps(ctx context.Context) error {
	var props struct {
		Settings *struct {
			Context int `json:"n_ctx"`
		} `json:"default_generation_settings"`
		Alias string `json:"model_alias"`
		Path  string `json:"model_path"`
	}
	if err := s.ask(ctx, "/props", nil, &props); err != nil || props.Settings == nil {
		return err
	}
	s.kind = LlamaCPP
	if props.Settings.Context > 0 && s.from != "operator" {
		s.context, s.from = props.Settings.Context, "/props" // what a slot has, which may be less than the model's share in the list
	}
	s.names = append(s.names, props.Alias, props.Path)
	s.tokenizes.Store(true)
	return nil
}

// lookStudio reads the context length with which LM Studio has the model loaded; https://lmstudio.ai/docs/app/api/endpoints/rest
func (s *Server) lookStudio(ctx context.Context) error {
	if s.context > 0 {
		return nil
	}
	var list struct {
		Data []struct {
			ID     string `json:"id"`
			Loaded int    `json:"loaded_context_length"`
		} `json:"data"`
	}
	if err := s.ask(ctx, "/api/v0/models", nil, &list); err != nil {
		return err
	}
	for _, m := range list.Data {
		if m.ID == s.id && m.Loaded > 0 {
			s.kind = LMStudio
			s.setContext(m.Loaded, "/api/v0/models")
		}
	}
	return nil
}
