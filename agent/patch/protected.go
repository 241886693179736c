package patch

// neverOpen is what no configuration opens: whoever changes these changes what the check is, what git sees, or
// who decides.
var neverOpen = []rule{
	{why: "a workflow", class: R3, paths: words(`.github/workflows/** .github/actions/** .forgejo/workflows/** .gitea/workflows/**`)},
	{why: "git's own configuration of this repository", class: R3, names: words(`.gitignore .gitattributes .gitmodules`)},
	{why: "who owns the code", class: R3, names: words(`codeowners`)},
	{why: "this program's configuration", class: R3, names: words(`redraft.yml redraft.yaml .redraft.yml .redraft.yaml`)},
}

// byDefault is what the oracle consists of, and what a repair has no business with; a repository may open single
// entries. New tests are protected like old ones: a test file in a package runs with all others of it, and its
// init or TestMain can turn them green.
var byDefault = []rule{
	{why: "a test, or what tests compare with", class: R3,
		names: words(testNames), under: words(testFolders)},
	{why: "configuration of a test runner", class: R3, names: words(runnerNames)},
	{why: "CI configuration", class: R3, names: words(ciNames),
		under: words(`.github .gitlab* .circleci .husky .githooks .buildkite .forgejo .gitea .woodpecker .drone .travis .semaphore`)},
	{why: "instructions to agents", class: R3,
		names: words(`agents.md agents.*.md agent.md claude.md claude.*.md gemini.md gemini.*.md copilot-instructions.md`)},
	{why: "a manifest or a lockfile", class: R2, names: words(manifestNames), under: words(`vendor node_modules third_party bower_components`),
		paths: words(`project/*.sbt project/build.properties gradle/** **/gradle/wrapper/** **/gradle/*.toml requirements/**/*.txt requirements/**/*.in`)},
	{why: "a build script", class: R3, names: words(buildNames)},
	{why: "configuration of a linter or a compiler", class: R3, names: words(linterNames)},
	{why: "in a dot folder", class: R3, top: words(`.*`),
		under: words(`.cargo .config .vscode .idea .devcontainer .mvn .gradle .yarn .cursor .claude .storybook .nuget`)},
	{why: "a dot file, which is configuration", class: R2, names: words(`.*`)},
}

const testNames = `
	*_test.* test_*.py test_*.rb test_*.c test_*.cc test_*.cpp test_*.js test_*.ts test_*.php test_*.sh test_*.jl
	test.py tests.py test.js test.mjs test.cjs test.ts tests.rs test.rs test.sh test.rb tests.ml
	*.test.* *.tests.* *.spec.* *_spec.{rb,lua,cr,js,ts,coffee,moon} *[-_]{test,spec,tests}.{js,jsx,ts,tsx,mjs,cjs,mts,cts,coffee}
	*_tests.* *.cy.* *.e2e.* *.test *.bats *.feature *.robot *.t *.hurl
	*test.java *tests.java test*.java *testcase.java *test.kt *tests.kt *test.scala *tests.scala *spec.scala *suite.scala
	*test.groovy *spec.groovy *test.cs *tests.cs *test.vb *tests.vb *tests.fs *test.php *tests.php *test.swift *tests.swift
	*test.dart *spec.kt *spec.swift *spec.hs *test.hs *_suite.erl *_suite.ml
	*.snap *.snap.* *.golden *.golden.* *.approved.* *.verified.* *.received.* *.ambr *.shot *.expect *.txtar`

const testFolders = `
	test tests __test__ __tests__ spec specs __spec__ __specs__ testing_data testdata test_data test-data testfiles
	fixture fixtures __fixtures__ snapshot snapshots __snapshots__ __image_snapshots__ __mocks__ golden goldens __goldens__
	e2e cypress playwright androidtest unittest unittests unit_tests integrationtest integrationtests integration_tests integration-tests
	functional_tests functional-tests acceptance_tests acceptance-tests testutil testutils test_utils test-utils test_util
	testhelper testhelpers test_helper test_helpers test-helpers testsuite test_suite testlib testkit
	*.test *.tests *.unittests *.integrationtests *-tests *_tests *.xctest`

const runnerNames = `
	conftest.py pytest.ini pytest.toml tox.ini tox.toml noxfile.py setup.cfg sitecustomize.py usercustomize.py *.pth *.egg-link
	{jest,vitest,karma,mocha,mocharc,ava,wdio,protractor,nightwatch,playwright,cypress,testem,tap,nyc,codecept,cucumber,stryker}{,[-.]*}.{js,jsx,cjs,mjs,ts,tsx,cts,mts,json,json5,yml,yaml,coffee}
	setuptests.* setup-tests.* web-test-runner.config.* bunfig.toml mocha.opts phpunit.xml phpunit.xml.* phpunit.*.xml behat.yml behat.yaml
	codeception.yml pest.php infection.json infection.json5 testng.xml testng*.xml junit-platform.properties *.runsettings *.xctestplan
	spec_helper.rb rails_helper.rb test_helper.rb test_helper.exs nextest.toml tarpaulin.toml run_tests* run-tests* runtests* run_test.* runtest.*
	*.playlist coverage.toml coveragerc codecov.yml codecov.yaml`

const ciNames = `
	jenkinsfile jenkinsfile.* *.jenkinsfile azure-pipelines* bitbucket-pipelines.yml appveyor.yml appveyor.yaml cloudbuild.yml cloudbuild.yaml
	cloudbuild.json buildspec*.yml buildspec*.yaml circle.yml wercker.yml shippable.yml codemagic.yaml bitrise.yml renovate.json renovate.json5
	dependabot.yml dependabot.yaml sonar-project.properties lefthook.yml lefthook.yaml lefthook.toml lefthook.json
	pre-commit-config.yaml action.yml action.yaml dangerfile* netlify.toml vercel.json`

const manifestNames = `
	go.mod go.sum go.work go.work.sum modules.txt gopkg.toml gopkg.lock glide.yaml
	package.json package.json5 package.yaml npm-shrinkwrap.json yarn.lock pnpm-lock.yaml pnpm-workspace.yaml bun.lock bun.lockb
	deno.json deno.jsonc deno.lock jsr.json lerna.json nx.json turbo.json rush.json bower.json import_map.json
	cargo.toml cargo.lock rust-toolchain rust-toolchain.toml
	pyproject.toml setup.py requirements*.txt requirements*.in *requirements.txt *requirements.in constraints*.txt pipfile pipfile.lock
	poetry.toml uv.toml pdm.toml pixi.toml environment*.yml environment*.yaml conda*.yml conda*.yaml hatch.toml manifest.in buildout.cfg runtime.txt
	gemfile gemfile.* *.gemspec gems.rb gems.locked composer.json composer.lock
	pom.xml *.pom *.gradle *.gradle.* gradle.properties gradle.lockfile *.versions.toml ivy.xml build.sbt *.sbt build.sc build.mill
	*.csproj *.fsproj *.vbproj *.vcxproj* *.proj *.shproj *.sln *.slnx *.props *.targets nuget.config packages.config packages.lock.json global.json
	paket.* project.json project.assets.json
	mix.exs mix.lock rebar.config rebar.lock *.app.src package.swift package.resolved podfile podfile.lock *.podspec cartfile cartfile.*
	*.pbxproj *.xcconfig *.xcscheme *.xcworkspacedata project.yml pubspec.yaml pubspec.lock pubspec_overrides.yaml melos.yaml
	stack.yaml stack.yaml.lock *.cabal cabal.project* conanfile.* conan.lock vcpkg.json vcpkg-configuration.json
	flake.nix flake.lock default.nix shell.nix dune-project dune-workspace *.opam opam.locked project.clj deps.edn shadow-cljs.edn
	project.toml manifest.toml shard.yml shard.lock *.rockspec elm.json gleam.toml build.zig.zon cpanfile cpanfile.* dist.ini makefile.pl build.pl
	description renv.lock spago.yaml spago.dhall *.nimble haxelib.json foundry.toml hardhat.config.* anchor.toml move.toml scarb.toml
	*.lock *.lockb *.lockfile *.locked *.lock.* *-lock.* *_lock.json lock.json module.bazel.lock .tool-versions mise.toml`

const buildNames = `
	makefile makefile.* gnumakefile bsdmakefile *.mk *.mak taskfile taskfile.* justfile *.just rakefile *.rake magefile.go earthfile
	dockerfile dockerfile.* *.dockerfile containerfile containerfile.* docker-compose* compose.yml compose.yaml compose.*.yml compose.*.yaml
	docker-bake.* vagrantfile tiltfile skaffold.y*ml
	build.rs build.sh build.bash build.ps1 build.bat build.cmd build.py build.js build.mjs build.cjs build.ts build.xml build.zig build.cake build.fsx
	make.sh make.bat make.cmd make.ps1 make.py make.js configure configure.ac configure.in configure.py configure.sh configure.js bootstrap.sh autogen.sh ci.sh check.sh
	gradlew gradlew.bat mvnw mvnw.cmd cmakelists.txt cmakepresets.json cmakeuserpresets.json *.cmake meson.build meson_options.txt meson.options
	build build.bazel workspace workspace.bazel module.bazel *.bzl buck sconstruct sconscript wscript waf premake*.lua xmake.lua dune jbuild
	gulpfile.* gruntfile.* {webpack,esbuild}{,[-.]*}.{js,cjs,mjs,ts,cts,mts} vite.config.* rollup.config.* rolldown.config.* rspack.config.*
	tsup.config.* tsdown.config.*
	babel.config.* metro.config.* swc.config.* craco.config.* snowpack.config.* parcel.config.* nuxt.config.* next.config.* angular.json workspace.json
	fabfile.py dodo.py invoke.yaml invoke.yml justfile.* goreleaser.yml goreleaser.yaml`

const linterNames = `
	golangci.yml golangci.yaml golangci.toml golangci.json staticcheck.conf revive.toml eslint.config.* eslintrc.* tslint.json stylelint.config.* biome.json biome.jsonc rome.json
	prettier.config.* prettierrc.* ruff.toml mypy.ini pyrightconfig.json pylintrc pylintrc.toml flake8 bandit.yml bandit.yaml pyre_configuration
	tsconfig.json tsconfig.*.json tsconfig-*.json jsconfig.json xo.config.* oxlint.json oxlintrc.json dprint.json commitlint.config.* lint-staged.config.* knip.json knip.ts
	clippy.toml rustfmt.toml deny.toml typos.toml taplo.toml cspell.json cspell.config.* rubocop.yml sorbet.config steepfile phpcs.xml phpcs.xml.dist phpstan*.neon*
	psalm.xml psalm.xml.dist psalm*.xml php-cs-fixer.php rector.php checkstyle*.xml pmd*.xml spotbugs*.xml findbugs*.xml detekt*.yml lint.xml
	scalafmt.conf scalafix.conf analysis_options.yaml credo.exs dialyzer.ignore-warnings stylecop.json *.ruleset *.globalconfig directory.build.*
	hadolint.yaml yamllint.yml yamllint.yaml markdownlint.json markdownlint.yaml markdownlint.yml buf.yaml buf.gen.yaml buf.work.yaml buf.lock spectral.yaml cppcheck.xml cppcheck.cfg cpplint.cfg`
