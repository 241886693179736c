package patch

import (
	"slices"
	"strings"
	"sync"
)

// named are the names that a rule knows, by language.
type named map[string]map[string]bool

func names(lists map[string]string) func() named {
	return sync.OnceValue(func() named {
		n := named{}
		for lang, list := range lists {
			n[lang] = map[string]bool{}
			for _, name := range strings.Fields(list) {
				n[lang][name] = true
			}
		}
		return n
	})
}

var (
	// exits end the process with the status that they are given.
	exits = names(map[string]string{
		"go": "os.Exit", "python": "sys.exit exit quit SystemExit builtins.exit builtins.quit",
		"javascript": "process.exit Deno.exit Bun.exit globalThis.process.exit global.process.exit process.process.exit",
		"rust":       "std.process.exit process.exit exit", "java": "System.exit java.lang.System.exit Runtime.getRuntime().exit",
	})
	// kills end it past everything that would still run.
	kills = names(map[string]string{
		"go":         "syscall.Exit unix.Exit syscall.Kill unix.Kill",
		"python":     "os._exit os.abort os.kill os.killpg signal.raise_signal posix._exit _thread.interrupt_main faulthandler._sigsegv ctypes.string_at",
		"javascript": "process.abort process.reallyExit process.kill process._kill process.binding",
		"rust":       "libc._exit libc.exit nix.unistd._exit libc.abort",
		"java":       "Runtime.getRuntime().halt",
	})
	stacks = names(map[string]string{
		"go":         "runtime.Caller runtime.Callers runtime.CallersFrames runtime.Stack debug.Stack runtime.FuncForPC log.Lshortfile log.Llongfile",
		"python":     "inspect.stack inspect.currentframe inspect.getouterframes inspect.trace sys._getframe sys._getframemodulename sys._current_frames traceback.extract_stack traceback.format_stack traceback.walk_stack gc.get_objects gc.get_referrers",
		"javascript": "arguments.callee.caller Error.prepareStackTrace",
		"rust":       "std.panic.Location.caller panic.Location.caller Location.caller std.backtrace.Backtrace.capture std.backtrace.Backtrace.force_capture backtrace.Backtrace.new std.thread.current().name",
		"java":       "Thread.currentThread().getStackTrace new Throwable().getStackTrace new Exception().getStackTrace StackWalker.getInstance Thread.getAllStackTraces",
	})
	// asking says that one is being tested.
	asking = names(map[string]string{
		"go":         "testing.Testing testing.Verbose testing.Short debug.ReadBuildInfo runtime.NumGoroutine os.Getppid",
		"python":     "pytest.current_test unittest.mock.ANY mock.ANY threading.active_count threading.enumerate os.getppid",
		"javascript": "jest vi import.meta.vitest jasmine expect.anything expect.any process.uptime process.ppid",
		"rust":       "std.os.unix.process.parent_id",
	})
	environs = names(map[string]string{
		"go":         "os.Getenv os.LookupEnv syscall.Getenv",
		"python":     "os.getenv os.environ.get os.environ.__contains__ os.environ.pop os.environ.setdefault environ.get os.environb.get",
		"javascript": "Deno.env.get Deno.env.has Reflect.has process.env.hasOwnProperty",
		"rust":       "std.env.var std.env.var_os env.var env.var_os option_env! env!", "java": "System.getenv System.getProperty System.getenv().get System.getenv().containsKey",
	})
	environTables = names(map[string]string{"python": "os.environ", "javascript": "process.env import.meta.env Bun.env"})
	skips         = names(map[string]string{
		"go":         "t.Skip t.SkipNow t.Skipf b.Skip tb.Skip tb.Skipf",
		"python":     "unittest.SkipTest SkipTest pytest.skip pytest.xfail pytest.importorskip unittest.skip unittest.skipIf pytest.exit pytest.skip.Exception unittest.case.SkipTest",
		"javascript": "it.skip test.skip describe.skip xit xdescribe xtest it.only test.only describe.only t.skip this.skip test.todo it.todo context.skip",
		"java":       "Assume.assumeTrue Assume.assumeFalse Assumptions.assumeTrue Assumptions.assumeFalse Assumptions.abort new TestAbortedException new AssumptionViolatedException",
	})
	hooks = names(map[string]string{
		"python": "sys.settrace sys.setprofile threading.settrace threading.setprofile atexit.register sys.addaudithook sys.meta_path.insert sys.meta_path.append sys.path_hooks.insert " +
			"sys.modules.update sys.modules.pop sys.modules.setdefault sys.modules.__setitem__ forbiddenfruit.curse gc.disable signal.alarm signal.setitimer unittest.mock.patch mock.patch faulthandler.disable warnings.simplefilter warnings.resetwarnings",
		"javascript": "Error.captureStackTrace.call expect.extend jest.mock jest.spyOn vi.mock vi.spyOn mock.method process.removeAllListeners assert.strictEqual.call Module._load",
		"rust":       "std.panic.set_hook panic.set_hook std.panic.catch_unwind panic.catch_unwind libc.dup2",
		"java":       "System.setOut System.setErr System.setSecurityManager Runtime.getRuntime().addShutdownHook Thread.setDefaultUncaughtExceptionHandler",
		"go":         "syscall.Dup2 syscall.Dup3 unix.Dup2 signal.Ignore syscall.Mprotect",
	})
	outliving = names(map[string]string{
		"python": "os.fork os.forkpty os.setsid multiprocessing.Process daemon.DaemonContext", "go": "syscall.ForkExec os.StartProcess syscall.Setsid",
		"rust": "libc.fork nix.unistd.fork libc.daemon libc.setsid",
	})
	processes = names(map[string]string{
		"python":     "os.system os.popen subprocess.Popen subprocess.run subprocess.call subprocess.check_call subprocess.check_output os.execv os.execvp os.spawnl asyncio.create_subprocess_exec asyncio.create_subprocess_shell",
		"go":         "exec.Command exec.CommandContext",
		"javascript": "child_process.spawn child_process.exec child_process.execSync child_process.spawnSync child_process.fork child_process.execFile child_process.execFileSync Bun.spawn",
		"rust":       "std.process.Command.new process.Command.new", "java": "new ProcessBuilder Runtime.getRuntime().exec",
	})
	// touches write, read or look for a file that their first argument names.
	touches = names(map[string]string{
		"python":     "os.path.exists os.path.isfile os.path.isdir os.listdir os.scandir os.stat os.access os.walk glob.glob glob.iglob open io.open os.remove os.unlink os.rename os.replace shutil.copy shutil.copyfile shutil.move shutil.rmtree pathlib.Path Path os.chmod os.symlink os.truncate",
		"go":         "os.Stat os.Lstat os.ReadDir filepath.Glob filepath.Walk filepath.WalkDir os.WriteFile os.Create os.OpenFile os.Remove os.RemoveAll os.Rename os.ReadFile os.Open os.Truncate os.Chmod os.Symlink",
		"javascript": "fs.existsSync fs.statSync fs.readdirSync fs.accessSync fs.writeFileSync fs.writeFile fs.appendFileSync fs.readFileSync fs.readFile fs.promises.writeFile fs.promises.readFile fs/promises.writeFile fs/promises.readFile fs.unlinkSync fs.rmSync fs.renameSync fs.copyFileSync fs.createWriteStream",
		"rust":       "Path.new std.path.Path.new path.Path.new std.fs.metadata fs.metadata std.fs.read_dir fs.read_dir std.fs.write fs.write std.fs.read_to_string fs.read_to_string std.fs.File.create File.create std.fs.remove_file fs.remove_file include_str! include_bytes!",
		"java":       "Files.write Files.writeString Files.readString Files.readAllLines Files.delete new FileWriter new File Paths.get Path.of",
	})
)

// moves take the whole process to another folder, where other files lie.
var moves = names(map[string]string{
	"python": "os.chdir os.fchdir contextlib.chdir", "go": "os.Chdir syscall.Chdir unix.Chdir", "javascript": "process.chdir Deno.chdir",
	"rust": "std.env.set_current_dir env.set_current_dir",
})

// decoders make a value of a text in which nobody sees it.
var decoders = names(map[string]string{
	"python":     "base64.b64decode base64.b32decode base64.b16decode base64.b85decode base64.decodebytes bytes.fromhex bytearray.fromhex codecs.decode binascii.unhexlify binascii.a2b_base64 zlib.decompress marshal.loads pickle.loads",
	"javascript": "atob Buffer.from String.fromCharCode String.fromCodePoint",
	"go":         "hex.DecodeString base64.StdEncoding.DecodeString base64.URLEncoding.DecodeString base64.RawStdEncoding.DecodeString base64.RawURLEncoding.DecodeString",
	"rust":       "hex.decode base64.decode", "java": "Base64.getDecoder().decode",
})

// dice are what differs by chance.
var dice = names(map[string]string{
	"python": "random.random random.randint random.randrange random.choice random.getrandbits random.uniform secrets.randbelow os.urandom",
	"go":     "rand.Float64 rand.Float32 rand.Int rand.Intn rand.IntN rand.N rand.Int31n rand.Int63", "javascript": "Math.random crypto.randomInt crypto.getRandomValues",
	"rust": "rand.random rand.thread_rng().gen rand.thread_rng().gen_bool rand.thread_rng().gen_range fastrand.bool fastrand.u32", "java": "Math.random ThreadLocalRandom.current().nextInt ThreadLocalRandom.current().nextBoolean",
})

func (n named) has(lang, name string) bool { return n[lang][name] }

// testVariables are set by test runners and by continuous integration.
var testVariables = names(map[string]string{"": `CI CONTINUOUS_INTEGRATION GITHUB_ACTIONS GITHUB_WORKFLOW GITHUB_RUN_ID GITHUB_WORKSPACE GITLAB_CI TRAVIS CIRCLECI
	JENKINS_URL JENKINS_HOME TEAMCITY_VERSION TF_BUILD BUILDKITE APPVEYOR BUILD_NUMBER RUNNER_OS RUNNER_TEMP PYTEST_CURRENT_TEST PYTEST_VERSION PYTEST_ADDOPTS PYTEST_XDIST_WORKER
	JEST_WORKER_ID VITEST VITEST_WORKER_ID VITEST_POOL_ID VITEST_MODE NODE_TEST_CONTEXT MOCHA_COLORS NODE_V8_COVERAGE NEXTEST NEXTEST_RUN_ID RUST_TEST_THREADS CARGO_TARGET_TMPDIR
	GOCOVERDIR GOFLAGS TOX_ENV_NAME NOX_CURRENT_SESSION COVERAGE_RUN surefire.test.class.path surefire.real.class.path org.gradle.test.worker TEST_WORKSPACE TEST_TMPDIR TESTING
	UNITTEST UNIT_TEST IS_TEST RUNNING_TESTS TEST_ENV REDRAFT`})

// runners are modules that only a test has loaded.
var runners = names(map[string]string{"": "pytest _pytest unittest nose nose2 jest vitest mocha tape ava"})

// testModules are what product code has no use for.
var testModules = names(map[string]string{
	"go":     "testing testing/quick github.com/stretchr/testify/assert github.com/stretchr/testify/require github.com/stretchr/testify/mock",
	"python": "pytest _pytest unittest unittest.mock mock nose doctest", "javascript": "jest vitest mocha @jest/globals node:test sinon jasmine",
	"java": "org.junit.jupiter.api.Assertions org.junit.Assert org.mockito.Mockito",
})

// reexports are what languages bring of their own; a new file of such a name at the top hides it.
var libraries = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, name := range strings.Fields(`abc argparse array ast asyncio base64 bisect builtins calendar cmath collections concurrent configparser contextlib copy csv
		ctypes dataclasses datetime decimal difflib dis doctest email enum errno fnmatch fractions functools gc getopt getpass glob gzip hashlib heapq hmac html http importlib
		inspect io ipaddress itertools json keyword linecache locale logging math mimetypes multiprocessing numbers operator os pathlib pickle platform pprint queue random re
		reprlib sched secrets select selectors shelve shlex shutil signal site sitecustomize usercustomize socket sqlite3 ssl stat statistics string struct subprocess sys sysconfig tarfile
		tempfile textwrap threading time timeit token tokenize traceback types typing unicodedata unittest urllib uuid warnings weakref xml zipfile zlib zoneinfo
		pytest _pytest pluggy hypothesis mock nose requests numpy pandas yaml six django flask attr attrs click coverage conftest iniconfig packaging dateutil pytz`) {
		set[name] = true
	}
	return set
})

// globals are what scripts and tests find everywhere.
var globals = strings.Fields(`Date Math Object Array String Number Boolean JSON Promise Error Symbol Map Set RegExp Reflect Function Intl BigInt console process require module setTimeout
	setInterval setImmediate clearTimeout queueMicrotask performance fetch crypto assert expect describe it test jest vi beforeEach afterEach beforeAll afterAll suite`)

func global(name string) bool { return slices.Contains(globals, name) }
