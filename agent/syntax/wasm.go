package syntax

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// packed is tree-sitter's runtime and six of its grammars, compiled to one WebAssembly module that imports nothing:
// a text that breaks them ends in a trap. grammars/README.md says how it is made.
//
//go:embed grammars/grammars.wasm.gz
var packed []byte

// The numbers of the languages in the module.
const (
	pythonID = iota
	javascriptID
	typescriptID
	tsxID
	rustID
	javaID
	languages
)

const (
	maxMemory = 384 << 20 // of one parse, in the module; its steps are bounded in shim.c
	keepSmall = 48 << 20  // an instance that grew beyond this is not kept
	keepIdle  = 4         // instances
	nodeSize  = 16
)

// loader makes the module ready at the first parse, since most runs of the program parse nothing.
var loader struct {
	sync.Mutex
	cache  string
	engine *engine
	err    error
}

// CacheIn names a folder in which the compiled grammars are kept between runs of the program. Without one, each run
// that parses compiles them again. It counts from the first parse on, so call it before. Whoever can write to that
// folder chooses the code that runs here.
func CacheIn(dir string) {
	loader.Lock()
	defer loader.Unlock()
	loader.cache = dir
}

// engine is the compiled module and the instances of it that wait for work.
type engine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	idle    chan *instance
	once    [languages]sync.Once
	names   [languages]names
	nameErr [languages]error
}

// names are the names of a language's node kinds and fields, by number.
type names struct {
	kinds, fields []string
	codes         []code // of the kinds, as an outline knows them
	fieldCodes    []fieldCode
}

// instance is one copy of the module's memory; it serves one parse at a time.
type instance struct {
	module                                      api.Module
	reserve, release, parse, tree, kind, fields api.Function
}

func loaded() (*engine, error) {
	loader.Lock()
	defer loader.Unlock()
	if loader.engine == nil && loader.err == nil {
		loader.engine, loader.err = load(context.Background(), wazero.NewRuntimeConfig(), loader.cache)
		if loader.err != nil && loader.cache != "" { // a folder that cannot be used is no reason not to parse
			loader.engine, loader.err = load(context.Background(), wazero.NewRuntimeConfig(), "")
		}
	}
	return loader.engine, loader.err
}

func load(ctx context.Context, config wazero.RuntimeConfig, cache string) (*engine, error) {
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the grammars: %w", err)
	}
	code, err := io.ReadAll(unpack)
	if err != nil {
		return nil, fmt.Errorf("unpack the grammars: %w", err)
	}
	config = config.WithMemoryLimitPages(maxMemory >> 16).WithDebugInfoEnabled(false)
	if cache != "" {
		kept, err := wazero.NewCompilationCacheWithDir(cache)
		if err != nil {
			return nil, fmt.Errorf("open the cache of compiled grammars: %w", err)
		}
		config = config.WithCompilationCache(kept)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, config)
	module, err := runtime.CompileModule(ctx, code)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile the grammars: %w", err), runtime.Close(ctx))
	}
	return &engine{runtime: runtime, module: module, idle: make(chan *instance, keepIdle)}, nil
}

// take gives an instance that nobody else uses.
func (e *engine) take(ctx context.Context) (*instance, error) {
	select {
	case i := <-e.idle:
		return i, nil
	default:
	}
	m, err := e.runtime.InstantiateModule(ctx, e.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, fmt.Errorf("instantiate the grammars: %w", err)
	}
	f := m.ExportedFunction
	return &instance{m, f("reserve"), f("release"), f("parse"), f("tree"), f("kind"), f("field")}, nil
}

// put takes an instance back, or ends it when something went wrong in it, or it grew too large to be kept.
func (e *engine) put(i *instance, ok bool) {
	if ok && i.module.Memory().Size() <= keepSmall {
		select {
		case e.idle <- i:
			return
		default:
		}
	}
	_ = i.module.Close(context.Background())
}

// grow parses a text with one of the module's languages.
func grow(language int, src []byte) (*tree, error) {
	e, err := loaded()
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	ctx := context.Background()
	i, err := e.take(ctx)
	if err != nil {
		return nil, &Error{Message: err.Error()}
	}
	e.once[language].Do(func() { e.names[language], e.nameErr[language] = i.allNames(ctx, language) })
	t := &tree{src: src, names: &e.names[language], lines: lineStarts(src)}
	if err = e.nameErr[language]; err == nil {
		t.nodes, err = i.nodes(ctx, language, src)
	}
	e.put(i, err == nil)
	if err != nil {
		return nil, &Error{Message: "the parser gave up on it"}
	}
	return t, nil
}

// nodes copies the text in and the tree out.
func (i *instance) nodes(ctx context.Context, language int, src []byte) ([]node, error) {
	at, err := call(ctx, i.reserve, uint64(len(src)))
	if err != nil {
		return nil, err
	}
	if !i.module.Memory().Write(at, src) {
		return nil, errors.New("the text does not fit")
	}
	count, err := call(ctx, i.parse, uint64(language), uint64(at), uint64(len(src)))
	if err != nil {
		return nil, err
	}
	first, err := call(ctx, i.tree)
	if err != nil {
		return nil, err
	}
	raw, ok := i.module.Memory().Read(first, count*nodeSize)
	if !ok || count == 0 || count > maxMemory/nodeSize {
		return nil, errors.New("the tree is not where it should be")
	}
	nodes := make([]node, count)
	for n := range nodes {
		b := raw[n*nodeSize:]
		nodes[n] = node{binary.LittleEndian.Uint16(b), b[2], b[3], binary.LittleEndian.Uint32(b[4:]), binary.LittleEndian.Uint32(b[8:]), binary.LittleEndian.Uint32(b[12:])}
	}
	_, err = call(ctx, i.release, uint64(at))
	return nodes, err
}

// call calls a function that gives at most one number.
func call(ctx context.Context, f api.Function, args ...uint64) (uint32, error) {
	out, err := f.Call(ctx, args...)
	if err != nil || len(out) == 0 {
		return 0, err
	}
	return uint32(out[0]), nil
}

func (i *instance) allNames(ctx context.Context, language int) (n names, err error) {
	if n.kinds, err = i.strings(ctx, i.kind, language); err == nil {
		n.fields, err = i.strings(ctx, i.fields, language)
	}
	n.codes, n.fieldCodes = coded(n.kinds, codesOf(language)), coded(n.fields, fieldCodes())
	return n, err
}

// strings reads a list of C strings; a null pointer ends it, except as the first, which is the field that is none.
func (i *instance) strings(ctx context.Context, f api.Function, language int) ([]string, error) {
	var out []string
	for id := uint64(0); id < 1<<16; id++ {
		at, err := call(ctx, f, uint64(language), id)
		switch {
		case err != nil:
			return nil, err
		case at == 0 && id > 0:
			return out, nil
		case at == 0:
			out = append(out, "")
			continue
		}
		text, ok := i.module.Memory().Read(at, min(128, i.module.Memory().Size()-at))
		if !ok {
			return nil, errors.New("a name is not where it should be")
		}
		name, _, _ := bytes.Cut(text, []byte{0})
		out = append(out, string(name))
	}
	return out, nil
}
