#!/usr/bin/env bash
# Stands in REDRAFT_BINARY_PATH, for the program. GitHub gives each job a token of its own, with the permissions that the job
# asks for, and act gives all jobs one: this puts the job's own, a file of the folder JOB_TOKENS, in its place. And GitHub runs
# jobs on several machines: a folder of JOB_MACHINES with the job's name is the home of its own.
if [ -n "${GITHUB_JOB:-}" ] && [ -d "$JOB_MACHINES/$GITHUB_JOB" ]; then
	export HOME=$JOB_MACHINES/$GITHUB_JOB REDRAFT_CONFIG=$JOB_MACHINES/$GITHUB_JOB/config.yml
fi
if [ "${1:-}" = action ]; then
	own=$(cat "$JOB_TOKENS/$GITHUB_JOB")
	export REDRAFT_INPUTS="${REDRAFT_INPUTS//"$JOB_TOKEN_OF_ALL"/$own}"
	echo $$ >"$JOB_TOKENS/pid"
fi
# Of a step that fails act does not always show the last words
# (https://github.com/nektos/act/blob/v0.2.89/pkg/container/host_environment.go#L337), so that it is given time to hear them.
if [ -n "${JOB_FAILS:-}" ]; then
	"$JOB_PROGRAM" "$@" && exit
	code=$?
	sleep 1
	exit "$code"
fi
exec "$JOB_PROGRAM" "$@"
