#!/bin/sh
# Make sure that programs are there: `need.sh COMMAND:PACKAGE…` installs missing Debian packages when it may,
# and otherwise says what to install. `need.sh --python PYTHON` checks the interpreter that sets everything up.
set -eu

install_packages() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        echo "Installing with apt-get: $*" >&2
        export DEBIAN_FRONTEND=noninteractive
        { apt-get install -qq -y --no-install-recommends "$@" ||
            { apt-get update -qq && apt-get install -qq -y --no-install-recommends "$@"; }; } >/dev/null 2>&1 && return 0
        echo "apt-get could not install: $*" >&2
    fi
    return 1
}

if [ "${1:-}" = --python ]; then
    python=$2
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || {
        echo "adjudge needs Python 3.11 or newer; '$python' is not. Try: make PYTHON=python3.12 …" >&2
        exit 1
    }
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        install_packages "python$version-venv" || {
            echo "'$python' has no venv module. On Debian: apt-get install python$version-venv" >&2
            exit 1
        }
    fi
    exit 0
fi

is_there() {
    command -v "$1" >/dev/null 2>&1 && return 0
    for program in /usr/lib/postgresql/*/bin/"$1"; do  # where Debian keeps a server's programs, off the PATH
        [ -x "$program" ] && return 0
    done
    return 1
}

missing=""
for pair in "$@"; do
    is_there "${pair%%:*}" || missing="$missing ${pair#*:}"
done
[ -z "$missing" ] && exit 0
# shellcheck disable=SC2086  a list of package names
install_packages $missing || {
    echo "Please install:$missing (on Debian: apt-get install$missing)" >&2
    exit 1
}
