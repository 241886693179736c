package syntax_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/redraft-dev/redraft/agent/syntax"
)

// spell writes a use as In> Before.Name() :Type, with a ~ where what leads to it is the function's own.
func spell(u syntax.Use) string {
	s := u.Name
	if u.Before != "" {
		s = u.Before + "." + s
	}
	if u.Called {
		s += "()"
	}
	if u.Type != "" {
		s += " :" + u.Type
	}
	if u.Local {
		s += " ~"
	}
	if u.In != "" {
		s = u.In + "> " + s
	}
	return s
}

func spelled(t testing.TB, src string, o syntax.Outline) []string {
	t.Helper()
	uses := slices.Clone(o.Uses)
	slices.SortStableFunc(uses, func(a, b syntax.Use) int { return cmp.Compare(a.Start, b.Start) })
	var out []string
	for _, u := range uses {
		if !strings.HasPrefix(src[u.Start:], u.Name) || strings.Count(src[:u.Start], "\n")+1 != u.Line {
			t.Errorf("%+v is not where it says", u)
		}
		out = append(out, spell(u))
	}
	return out
}

func outlined(t testing.TB, name, src string) syntax.Outline {
	t.Helper()
	o, err := grammar(t, name).Outline([]byte(src))
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, src)
	}
	return o
}

// trap is a text and the uses in it.
type trap struct{ about, src, want string }

func traps(t *testing.T, name string, rows []trap) {
	t.Helper()
	for _, row := range rows {
		t.Run(row.about, func(t *testing.T) {
			got := strings.Join(spelled(t, row.src, outlined(t, name, row.src)), "; ")
			if got != row.want {
				t.Errorf("%s\ngot  %s\nwant %s", row.src, got, row.want)
			}
		})
	}
}

func TestUsesOfPython(t *testing.T) {
	traps(t, "a.py", []trap{
		{"parameters and locals", "def f(a, *b, c=D, **e):\n    g = a + b\n    return g(c, e)\n", "f> D"},
		{"a name bound behind its use", "def f():\n    print(x)\n    x = 1\n", "f> print()"},
		{"loops, with, except", "def f():\n    for i, (j, *k) in A: i, j, k\n    with B() as w: w\n    try: C\n    except D as e: e\n", "f> A; f> B(); f> C; f> D"},
		{"comprehensions are scopes", "def f(v):\n    return [x for x in v if x], {k: w for k, w in G}, x\n", "f> G; f> x"},
		{"a walrus leaves its comprehension", "def f(v):\n    [0 for a in v if (b := a)]\n    return b\n", ""},
		{"global", "N = 0\ndef f():\n    global N\n    N = 1\n    return N\n", "f> N; f> N"},
		{"nonlocal", "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n = 1\n", ""},
		{"a nested function and its parameter", "def f():\n    def g(a): return a + h\n    return g(1)\n", "f> h"},
		{"a method does not see its class's names", "class C:\n    x = 1\n    y = x\n    def m(self): return x\n", "C.m> x"},
		{"keyword arguments and defaults", "def f(a): g(a=1, b=a, c=d)\nlambda p, q=r: p(q, s)\n", "f> g(); f> d; r; s"},
		{"match", "def f(n):\n    match n:\n        case C(t=u) | m.R: u\n        case {'k': a, **r}: a, r\n        case [o, *p] as q: o, p, q\n        case z if z > W: z\n", "f> C; f> m; f> m.R; f> W"},
		{"self", "class C(B):\n    def m(self, o):\n        self.n(o.p())\n        super().m()\n        def g(): return self.q\n", "C> B; C.m> self.n() :C ~; C.m> o.p() ~; C.m> super.m() :B; C.m> self.q :C ~"},
		{"a static method has no self", "class C:\n    @staticmethod\n    def m(self): self.n()\n", "C.m> staticmethod; C.m> self.n() ~"},
		{"types that are written", "def f(a: Cart, b: m.Cart = None, c: 'Cart' = 1, d: Optional[Cart] = x, e: Cart | None = 1, g: list[Cart] = 1):\n    a.t(); b.t(); c.t(); d.t(); e.t(); g.t()\n",
			"f> Cart; f> m; f> m.Cart; f> Cart; f> Optional; f> Cart; f> x; f> Cart; f> list; f> Cart; " +
				"f> a.t() :Cart ~; f> b.t() :m.Cart ~; f> c.t() :Cart ~; f> d.t() :Cart ~; f> e.t() :Cart ~; f> g.t() :list ~"},
		{"types that are made", "def f():\n    c = Cart(); c.t()\n    d = load(); d.t()\n    e = Cart(); e = load(); e.t()\n    Cart().t()\n",
			"f> Cart(); f> c.t() :Cart ~; f> load(); f> d.t() ~; f> Cart(); f> load(); f> e.t() ~; f> Cart(); f> ?.t() :Cart"},
		{"a type that is no type", "def f(Cart):\n    c = Cart(); c.t(); Cart().t()\n", "f> c.t() ~; f> ?.t()"},
		{"a variable that others change", "def f():\n    c = Cart()\n    def g():\n        nonlocal c\n        c = h()\n    c.t()\n", "f> Cart(); f> h(); f> c.t() ~"},
		{"a variable of a type", "class S:\n    def __init__(self, c: Cart):\n        self.c = c\n        self.d = D()\n    def m(self): self.c.t(); self.d.t(); self.e.t()\n",
			"S.__init__> Cart; S.__init__> self.c :S ~; S.__init__> self.d :S ~; S.__init__> D(); S.m> self.c :S ~; S.m> self.c.t() :Cart ~; S.m> self.d :S ~; S.m> self.d.t() ~; S.m> self.e :S ~; S.m> self.e.t() ~"},
		{"a parameter of an import's name", "from shop import cart\ndef f(cart): cart.t()\ndef g(): cart.t()\n", "f> cart.t() ~; g> cart; g> cart.t()"},
		{"an import inside", "def f():\n    from shop import cart\n    cart.t()\n", "f> cart; f> cart.t()"},
		{"variables of the text", "c = Cart()\na, b = 1, 2\ndef f(): return c.t() + a\n", "c> Cart(); f> c; f> c.t() :Cart"},
		{"type parameters", "def f[T: Base](a: T) -> T: a.t()\nclass C[K]: k: K\ntype A[V] = list[V]\n", "f> Base; f> a.t() ~; list"},
		{"chains that are none", "a.b().c[0].d; ''.join(x)\n", "a; a.b(); ?.c; ?.d; ?.join(); x"},
		{"format strings", "def f(a): return f'{a} {b!r:>{W}}'\n", "f> b; f> W"},
		{"decorators", "@app.route('/')\ndef f(): pass\n", "f> app; f> app.route()"},
	})
}

func TestUsesOfGo(t *testing.T) {
	head := "package p\n\nimport \"fmt\"\n\n"
	rows := []trap{
		{"parameters, results, locals", "func f(a int, b ...T) (c U) { d := a; var e = b; c = d; return e }", "f> T; f> U"},
		{"a name is known behind its declaration", "func f() { x := x; x() }", "f> x"},
		{"blocks end", "func f() { if a := b; a { c := a; _ = c }; _ = c }", "f> b; f> c"},
		{"loops, labels, closures", "func f() {\nouter:\n\tfor i, v := range w { func(q int) { _ = q + i; g(v) }(1); continue outer }\n}", "f> w; f> g()"},
		{"receiver", "type C[K any] struct{ k K; n N }\n\nfunc (c *C[K]) m(k K) { c.n.x(); c.k(k) }", "C> N; C.m> C; C.m> c.n :C ~; C.m> c.n.x() :N ~; C.m> c.k() :C ~"},
		{"types", "func f(a *T, b pkg.T, c []T) { d := &T{}; e := new(T); g := h(); a.x(); b.x(); c.x(); d.x(); e.x(); g.x() }",
			"f> T; f> pkg; f> pkg.T; f> T; f> T; f> new(); f> T; f> h(); f> a.x() :T ~; f> b.x() :pkg.T ~; f> c.x() ~; f> d.x() :T ~; f> e.x() :T ~; f> g.x() ~"},
		{"type switch", "func f(a any) { switch v := a.(type) { case *T: v.x(); case U, V: v.y() } }", "f> T; f> v.x() :T ~; f> U; f> V; f> v.y() ~"},
		{"assertion", "func f(a any) { if v, ok := a.(T); ok { v.x() } }", "f> T; f> v.x() :T ~"},
		{"keys of literals", "func f() { _ = T{a: b}; _ = map[K]V{c: d}; _ = []U{{e: g}} }", "f> T; f> b; f> K; f> V; f> c; f> d; f> U; f> g"},
		{"a package", "func f() { fmt.Println(len(x)); fmt := y; fmt.Println() }", "f> fmt.Println(); f> x; f> y; f> fmt.Println() ~"},
		{"a type of a function's own", "func f() { type T struct{ u U }; var a T; a.x() }", "f> U; f> a.x() ~"},
		{"type parameters", "func f[T I](a T) { a.x(); g[int](a) }", "f> I; f> a.x() ~; f> g()"},
		{"select", "func f(c chan int) { select { case v := <-c: g(v); default: h() } }", "f> g(); f> h()"},
		{"embedding is no name", "type T struct { A; *b.B; c C }\ntype I interface { J; M(x X) }", "T> A; T> b; T> b.B; T> C; I> J; I> X"},
		{"method values and literals", "var x, y = T{}.m, (&U{}).n()", "x> T; x> ?.m :T; x> U; x> ?.n() :U"},
	}
	for i := range rows {
		rows[i].src = head + rows[i].src + "\n"
	}
	traps(t, "a.go", rows)
}

func TestUsesOfJavaScript(t *testing.T) {
	traps(t, "a.tsx", []trap{
		{"parameters and patterns", "function f(a, { b, c: d = E, ...r }, [g, , h] = I, ...j) { return a + b + d + r + g + h + j; }", "f> E; f> I"},
		{"hoisting", "function f() { g(); x = 1; function g() {} if (y) { var x; } }", "f> y"},
		{"let ends with its block", "function f() { { let a = 1; a; } a; }", "f> a"},
		{"loops, catch, labels", "function f() { l: for (const [k, v] of w) { k; v; break l; } for (let i = 0; i < n; i++) {} for (q in o) {} try {} catch ({ message }) { message; } }", "f> w; f> n; f> q; f> o"},
		{"arrows and inner names", "const f = x => x + y; const g = function h(a) { return h(a); }; (a, b = a) => b;", "f> y"},
		{"object keys, shorthands, methods", "const o = { k: v, s, [c]: 1, m(a) { return a; }, get g() { return this.x; } };", "o> v; o> s; o> c; o> this.x"},
		{"this", "class C extends B { p = new D(); m() { this.n(); this.p.q(); super.m(); [].map(() => this.r); (function () { this.s(); })(); } static { this.t(); } }",
			"C> B; C> D(); C.m> this.n() :C; C.m> this.p :C; C.m> this.p.q() :D; C.m> super.m() :B; C.m> ?.map(); C.m> this.r :C; C.m> this.s(); C> this.t() :C"},
		{"types", "function f(a: A, b?: n.B<X>, c: C | undefined, d: D[] = []) { a.x(); b.x(); c.x(); d.x(); const e = new E(), g = h() as G; e.x(); g.x(); }",
			"f> A; f> n; f> n.B; f> X; f> C; f> D; f> a.x() :A ~; f> b.x() :n.B ~; f> c.x() :C ~; f> d.x() ~; f> E(); f> h(); f> G; f> e.x() :E ~; f> g.x() :G ~"},
		{"a variable that changes", "function f() { let a = new A(); a = b(); a.x(); let c: C = d(); c = e(); c.x(); }", "f> A(); f> b(); f> a.x() ~; f> C; f> d(); f> e(); f> c.x() :C ~"},
		{"a class of a function's own", "function f(A) { const a = new A(); a.x(); }", "f> a.x() ~"},
		{"fields by parameter", "class C { constructor(private readonly d: D, e: E) { this.d.x(); e.y(); } m() { this.d.z(); } }",
			"C.constructor> D; C.constructor> E; C.constructor> this.d :C; C.constructor> this.d.x() :D; C.constructor> e.y() :E ~; C.m> this.d :C; C.m> this.d.z() :D"},
		{"type parameters and their kin", "type M<T> = { [K in keyof T]: T[K] } | (T extends P<infer U> ? U : never) | ((x: G) => H) | { [k: string]: F };", "M> P; M> G; M> H; M> F"},
		{"infer is known in its whole conditional", "type P<T> = T extends (a: infer U) => void ? U : V;", "P> V"},
		{"a namespace's own", "namespace N { export function f(a) { g(a); } function g(b) { f(); h(); } }", "N.f> g() :N; N.g> f() :N; N.g> h()"},
		{"predicates and interfaces", "interface I<T> extends J { a: T; b(x: X): x is Y; new (z: Z): I }", "I> J; I> X; I> Y; I> Z; I> I"},
		{"enums know their members", "enum E { A = 1, B = A | c }", "E> c"},
		{"elements", "const f = (p) => <div a={x}><Cart.Row {...p} b=\"1\"/><Box>{y}</Box></div>;", "f> x; f> Cart; f> Cart.Row(); f> Box(); f> y"},
		{"a fragment", "const f = () => <><A/>{b}</>;", "f> A(); f> b"},
		{"exports", "const a = 1; export { a, a as b }; export { c as d } from './d';", "a; a"},
		{"what is destructured at the top is nobody else's", "const { a, b } = c; function f() { return a(); }", "c"},
		{"chains", "a?.b!.c[d].e(...g); new n.C().m(); `${h}`", "a; a.b; a?.b.c; d; ?.e(); g; n; n.C(); ?.m() :n.C; h"},
		{"a prototype", "function C() {} C.prototype.m = function (a) { this.n(a); };", "C.m> C; C.m> C.prototype; C.m> C.prototype.m; C.m> this.n() :C"},
	})
}

func TestUsesOfRust(t *testing.T) {
	traps(t, "a.rs", []trap{
		{"parameters and patterns", "fn f(mut a: u8, (b, c): (A, B), &d: &C) { a + b + c + d; }", "f> A; f> B; f> C"},
		{"let hides from behind", "fn f() { let x = x(); x.y(); }", "f> x(); f> x.y() ~"},
		{"let anew", "fn f() { let a = A::new(); a.x(); let a = B { c: 1, d }; a.x(); let a = g(); a.x(); }", "f> A; f> A.new(); f> a.x() :A ~; f> B; f> d; f> a.x() :B ~; f> g(); f> a.x() ~"},
		{"match", "fn f(v: V) { match v { K::A(z) if z > n => z, None => 1, x @ 1..=5 => x, M => 2, S { a: 1, b, c: d } => b + d, _ => z } }", "f> V; f> K; f> K.A; f> n; f> None; f> M; f> S; f> z"},
		{"if let, while let, let else", "fn f() { if let Some(a) = b { a } while let Ok(c) = d { c } let Some(e) = g else { return }; e; a; }", "f> Some; f> b; f> Ok; f> d; f> Some; f> g; f> a"},
		{"closures, loops, labels", "fn f() { let c = |p: T, (q, r)| p + q + r + s; 'l: for (i, _) in w { c(i); break 'l } }", "f> T; f> s; f> w"},
		{"self and Self", "impl C { fn m(&self) -> Self { self.n(); Self::o(); self.p.q.r(); self::g(); } }\nstruct C { p: P }", "C; C.m> self.n() :C; C.m> Self.o() :C; C.m> self.p :C; C.m> self.p.q :P; C.m> self.p.q.r(); C.m> self.g(); C> P"},
		{"types", "fn f(a: &mut A<X>, b: m::B, c: Box<dyn D>, d: impl E, e: &[G]) { a.x(); b.x(); c.x(); d.x(); e.x(); }",
			"f> A; f> X; f> m; f> m.B; f> Box; f> D; f> E; f> G; f> a.x() :A ~; f> b.x() :m::B ~; f> c.x() :Box ~; f> d.x() :E ~; f> e.x() ~"},
		{"a constructor that gives something else", "struct C;\nimpl C { fn new() -> Result<C, E> {} }\nfn f() { let c = C::new(); c.x(); }", "C; C.new> Result; C.new> C; C.new> E; f> C; f> C.new(); f> c.x() ~"},
		{"type parameters", "fn f<T: Tr, const N: usize>(a: T) where T: W { a.x(); [0; N]; }", "f> Tr; f> W; f> a.x() ~"},
		{"macros", "fn f(c: C) { println!(\"{}\", c.t(), name = c, x); vec![g(1), A::b, |k| k.l(), self.m]; }", "f> C; f> println(); f> c.t() :C ~; f> vec(); f> g(); f> A; f> A.b; f> self.m"},
		{"what macros define", "lazy! { static ref X: T = T::new(); fn g() {} }\nmacro_rules! m { ($x:expr) => { foo($x) }; }", "lazy(); T; T; T.new()"},
		{"items of a block", "fn f() { g(); fn g() {} const K: u8 = 1; K; }", ""},
		{"paths", "fn f() { crate::a::b(); super::c::<T>(); <T as Tr>::d(); x as U; }", "f> crate.a; f> crate::a.b(); f> super.c(); f> T; f> T; f> Tr; f> ?.d(); f> x; f> U"},
		{"a module's own", "fn g() {}\nmod m { fn f(a: A) { g(); h(); a; } fn g() {} struct A; }", "m.f> A :m; m.f> g() :m; m.f> h()"},
		{"derives and other attributes", "#[derive(Debug, my::Own)]\n#[serde(rename = \"x\")]\nstruct A<'a> { b: &'a B }", "Debug; my; my.Own; A> B"},
		{"variants", "enum E { A(X), B { c: Y }, C = Z }", "E> X; E> Y; E> Z"},
	})
}

func TestUsesOfJava(t *testing.T) {
	rows := []trap{
		{"parameters and locals", "void f(final P a, Q... b) throws R { int c = a.x(), d[] = {c}; var e = new E(); e.x(); g(b, d); }", "A.f> P; A.f> Q; A.f> R; A.f> a.x() :P ~; A.f> E(); A.f> e.x() :E ~; A.f> g()"},
		{"loops, resources, catch, labels", "void f() { l: for (T t : ts) { t.x(); break l; } for (int i = 0; i < n; i++) {} try (S s = o()) { s.x(); } catch (U u) { u.x(); } catch (V | W v) { v.x(); } }",
			"A.f> T; A.f> ts; A.f> t.x() :T ~; A.f> n; A.f> S; A.f> o(); A.f> s.x() :S ~; A.f> U; A.f> u.x() :U ~; A.f> V; A.f> W; A.f> v.x() ~"},
		{"lambdas and references", "void f() { g(x -> x.a(y)); h((p, q) -> p); k((C c) -> c.x()); m(D::n, this::o, E::new); }",
			"A.f> g(); A.f> x.a() ~; A.f> y; A.f> h(); A.f> k(); A.f> C; A.f> c.x() :C ~; A.f> m(); A.f> D; A.f> D.n; A.f> this.o :A; A.f> E"},
		{"fields", "C c; D d = new D(); void f(E d) { c.x(); d.x(); this.d.x(); e.x(); }", "A.c> C; A.d> D; A.d> D(); A.f> E; A.f> c :A; A.f> c.x() :C; A.f> d.x() :E ~; A.f> this.d :A; A.f> this.d.x() :D; A.f> e; A.f> e.x()"},
		{"a local and a method of one name", "int g; void f(int g) { g(g); } void g(int x) { this.g(x); }", "A.f> g() :A; A.g> this.g() :A"},
		{"an anonymous class has methods of its own", "void f() { new T() { void r() { g(); } }; g(); } void g() {}", "A.f> T(); A.f> g(); A.f> g() :A"},
		{"patterns", "void f(Object o) { if (o instanceof C c && c.x()) {} if (o instanceof P(int x, Q q)) { q.x(); } }", "A.f> Object; A.f> C; A.f> c.x() :C ~; A.f> P; A.f> Q; A.f> q.x() :Q ~"},
		{"type parameters", "<R extends S> R f(R r) { r.x(); return r; }", "A.f> S; A.f> r.x() ~"},
		{"casts, arrays, chains", "void f(C[] a) { ((C) a[0]).x(); a.x(); n.m.T.s(); new n.U<V>().x(); C.class.y(); }",
			"A.f> C; A.f> C; A.f> ?.x() :C; A.f> a.x() ~; A.f> n; A.f> n.m; A.f> n.m.T; A.f> n.m.T.s(); A.f> n; A.f> n.U(); A.f> V; A.f> ?.x() :n.U; A.f> C; A.f> ?.y()"},
		{"annotations", "@B(k = C.D, v = 1) int x;", "A.x> B; A.x> C; A.x> C.D"},
		{"records and enums", "record R(C c) { void f() { c.x(); } } enum E { ONE(k) }", "A.R> C; R.f> c.x() :C ~; A.E> k"},
	}
	for i := range rows {
		rows[i].src = "class A {\n" + rows[i].src + "\n}\n"
	}
	traps(t, "A.java", rows)
}

// TestImports reads the ways to take from elsewhere and to build upon it.
func TestImports(t *testing.T) {
	for _, row := range []struct{ name, src, want string }{
		{"a.py", "import a.b.c, d as e\nfrom ..m import x as y, z\nfrom . import (q)\nfrom w import *\nclass C(B, m.D[T], metaclass=M):\n    def f(self):\n        import g\n",
			"import a.b.c : as a.b.c; import d : as e; import ..m :x as y; import ..m :z as z; import . :q as q; import w :* as ; import g : as g in C.f; super C: B; super C: m.D"},
		{"a.ts", "import d, { a as b, type C } from './x';\nimport * as ns from './y';\nimport type { T } from './t';\nimport q = require('./q');\nimport './side';\n",
			"import ./x :default as d; import ./x :a as b; import ./x :C as C; import ./y : as ns; import ./t :T as T; import ./q : as q; import ./side : as "},
		{"b.ts", "export { e as f, g } from './g';\nexport * from './h';\nexport * as i from './i';\nexport { a as b, c as default };\n",
			"default c; import ./g :e as f exported; import ./g :g as g exported; import ./h :* as  exported; import ./i : as i exported; import  :a as b exported"},
		{"c.js", "const { p, r: s, ...t } = require('./a'), z = require('./z').y;\nconst l = await import('./l');\nrequire('./m');\nfunction f(require) { require('./n'); import('./o'); }\nmodule.exports = { a, b: c };\n",
			"import ./a :p as p; import ./a :r as s; import ./z :y as z; import ./l : as l; import ./m : as ; import ./o : as  in f; import  :c as b exported"},
		{"d.ts", "export default class C<T> extends n.B<T> implements I, n.J<T> {}\ninterface K extends I, n.J<X> {}\n",
			"default C; super C: n.B; super C: I; super C: n.J; super K: I; super K: n.J"},
		{"e.js", "class C extends B {}\nexport default function f() {}\n", "default f; super C: B"},
		{"a.rs", "use crate::a::{self, B, c as d, e::*, g::{h, i as _}};\npub use super::x;\nuse y;\nmod z;\npub mod w;\nmod t { use super::*; use super::super::u; use self::v::X; mod k; }\nfn f() { use l::M; }\n",
			"import crate::a : as a; import crate::a :B as B; import crate::a :c as d; import crate::a::e :* as ; import crate::a::g :h as h; import crate::a::g :i as ; " +
				"import super :x as x exported; import y : as y; import self::z : as z; import self::w : as w exported; import self :* as  in t; import super :u as u in t; import self::t::v :X as X in t; import self::t::k : as k in t; import l :M as M in f"},
		{"b.rs", "impl<T> m::Tr<T> for n::C<T> {}\ntrait S: P + m::Q<X> {}\nimpl S for &D {}\n", "super C: m::Tr; super S: P; super S: m::Q; super D: S"},
		{"A.java", "package a.b;\nimport c.D;\nimport static c.D.f;\nimport e.*;\nimport static g.H.*;\nclass A extends n.B<T> implements I, J<T> { interface K extends L, M {} }\n",
			"package a.b; import c :D as D; import c.D :f as f; import e :* as ; import g.H :* as ; super A: n.B; super A: I; super A: J; super A.K: L; super A.K: M"},
		{"a.go", "package p\nimport (\n\t\"a/b\"\n\tc \"d\"\n\t. \"e\"\n\t_ \"f\"\n\t\"g/v2\"\n\t\"gopkg.in/h.v3\"\n)\ntype T struct { U; *b.V; w X }\ntype I interface { J; ~int | string }\n",
			"package p; import a/b : as b; import d : as c; import e :* as ; import f : as _; import g/v2 : as g; import gopkg.in/h.v3 : as h; super T: U; super T: b.V; super I: J"},
	} {
		o := outlined(t, row.name, row.src)
		var got []string
		if o.Package != "" {
			got = append(got, "package "+o.Package)
		}
		if o.Default != "" {
			got = append(got, "default "+o.Default)
		}
		for _, i := range o.Imports {
			s := fmt.Sprintf("import %s :%s as %s", i.From, i.Name, i.As)
			if i.In != "" {
				s += " in " + i.In
			}
			if i.Exported {
				s += " exported"
			}
			got = append(got, s)
		}
		for _, s := range o.Supers {
			got = append(got, fmt.Sprintf("super %s: %s", s.Of, s.Name))
		}
		if diff := gocmp.Diff(strings.Split(row.want, "; "), got); diff != "" {
			t.Errorf("%s: %s", row.name, diff)
		}
	}
}

// golden is everything that an outline says, a line each.
func golden(t testing.TB, src string, o syntax.Outline) string {
	var b strings.Builder
	if o.Package != "" {
		fmt.Fprintf(&b, "package %s\n", o.Package)
	}
	if o.Default != "" {
		fmt.Fprintf(&b, "default %s\n", o.Default)
	}
	for _, i := range o.Imports {
		fmt.Fprintf(&b, "import %q %q as %q in %q exported %v L%d\n", i.From, i.Name, i.As, i.In, i.Exported, i.Line)
	}
	for _, s := range o.Supers {
		fmt.Fprintf(&b, "super %s: %s L%d\n", s.Of, s.Name, s.Line)
	}
	for _, u := range spelled(t, src, o) {
		fmt.Fprintf(&b, "use %s\n", u)
	}
	return b.String()
}

func TestGoldenUses(t *testing.T) {
	for _, name := range append([]string{"shop.go.txt"}, shops...) {
		src := sample(t, name)
		got := golden(t, src, outlined(t, strings.TrimSuffix(name, ".txt"), src))
		path := filepath.Join("testdata", name+".uses")
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := gocmp.Diff(sample(t, name+".uses"), got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestOutlineOfWhatDoesNotParse(t *testing.T) {
	for _, name := range []string{"a.go", "a.py", "a.js", "a.ts", "a.tsx", "a.rs", "A.java"} {
		o, err := grammar(t, name).Outline([]byte("(]"))
		var e *syntax.Error
		if !errors.As(err, &e) || len(o.Symbols)+len(o.Uses) > 0 {
			t.Errorf("%s: %v %v", name, o, err)
		}
	}
}

// TestDeepOutlines holds that nesting ends neither the program nor its patience.
func TestDeepOutlines(t *testing.T) {
	for name, pair := range map[string][2]string{
		"a.py": {"f(lambda a: [x for x in ", ")"}, "a.js": {"(function () {", "})()"}, "b.js": {"a => ", "a"}, "c.js": {"[", "]"}, "a.ts": {"namespace A { ", "}"},
		"a.rs": {"fn f() {", "}"}, "b.rs": {"m!(", ")"}, "A.java": {"class A {", "}"}, "a.go": {"(", ")"},
	} {
		const n = 1500
		head, tail := "", ""
		switch name {
		case "a.go":
			head, tail = "package p\nvar x = ", "y"
		case "a.py":
			pair[1] = "])"
		case "b.rs":
			head, tail = "fn f() { ", ""
		}
		src := head + strings.Repeat(pair[0], n) + tail + strings.Repeat(pair[1], n)
		if name == "b.rs" {
			src += "; }"
		}
		_, _ = grammar(t, name).Outline([]byte(src))
	}
}

// FuzzOutline holds that an outline has the same symbols as Symbols, and that each use stands where it says.
func FuzzOutline(f *testing.F) {
	for _, name := range append([]string{"shop.go.txt"}, shops...) {
		f.Add(strings.TrimSuffix(name, ".txt"), []byte(sample(f, name)))
	}
	f.Add("a.tsx", []byte("class{#a=()=>super.b;[c](){}}export{d as default};<E.F/>;namespace G.H{}"))
	f.Add("a.py", []byte("\ufeffclass A[T](*b,c=d):e:'f'=lambda*g:(h:=i)\r\nmatch j:\n case k.l|{**m}:global n\n"))
	f.Add("a.rs", []byte("use{self,::a};impl<T>!B for [C]{}m!{$x:e self.f::g!()};"))
	f.Add("A.java", []byte("package a;import b;record C(D...e)implements F{C{}}class G{{new H(){};}int i()[]{}}"))
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		g, ok := syntax.For(name)
		if !ok || len(src) > 1<<14 {
			return
		}
		o, err := g.Outline(src)
		all, same := g.Symbols(src)
		if (err == nil) != (same == nil) || !slices.Equal(o.Symbols, all) {
			t.Fatalf("Outline says %v, Symbols says %v, or they differ", err, same)
		}
		for _, u := range o.Uses {
			if u.Name == "" || u.Start < 0 || !strings.HasPrefix(string(src[u.Start:]), u.Name) || u.Line < 1 {
				t.Fatalf("%+v is not where it says", u)
			}
		}
	})
}
