"""What kind of work each program does whose arguments do not matter."""

from __future__ import annotations

from adjudge.profile.work import Work


def listed(names: str) -> tuple[str, ...]:
    """The names in a text, so that a long list of them stays readable."""
    return tuple(names.split())


def _table(**kinds: str) -> dict[str, Work]:
    return {program: kind for kind, programs in kinds.items() for program in programs.split()}  # type: ignore[misc]  # the keywords are kinds


TEST_RUNNERS = frozenset(
    listed(
        "pytest py.test tox nox jest vitest mocha ava karma cypress playwright rspec phpunit pest ctest nosetests "
        "nose2 trial gotestsum bats nextest unittest stestr minitest behave robot ginkgo busted prove tap qunit"
    )
)
"""Programs that run tests, and modules that do with `python -m`."""

CHECKERS = frozenset(
    listed(
        "ruff flake8 pylint mypy pyright black isort eslint prettier biome tsc golangci-lint gofmt goimports "
        "gofumpt rustfmt clippy shellcheck shfmt stylelint rubocop yamllint markdownlint markdownlint-cli2 ktlint "
        "checkstyle staticcheck oxlint bandit codespell cspell actionlint pre-commit hadolint vale typos ty "
        "basedpyright dprint tsgo vue-tsc svelte-check pycodestyle pyflakes py_compile compileall tabnanny"
    )
)
"""Linters, type checkers and formatters."""

BUILDERS = frozenset(
    listed(
        "gcc g++ cc clang clang++ rustc javac msbuild webpack rollup esbuild vite parcel tsup goreleaser scons "
        "autoconf configure kotlinc protoc mkdocs sphinx-build sphinx next cython ld ar as nasm coqc latexmk "
        "pdflatex swc build PyInstaller setuptools ghc"
    )
)

KINDS: dict[str, Work] = {
    **dict.fromkeys(TEST_RUNNERS, "test"),
    **dict.fromkeys(BUILDERS, "build"),
    **_table(
        list="ls tree dir eza exa du stat file realpath readlink basename dirname Get-ChildItem gci locate find_file",
        compare="diff cmp comm colordiff sdiff vimdiff",
        filter="wc sort uniq cut tr column fold paste join rev fmt shuf split iconv numfmt bc expr seq cksum md5sum "
        "sha256sum sha1sum shasum md5 sum pr jc pygmentize gron dos2unix openssl csvcut csvlook mlr dasel xmllint "
        "yq jq awk gawk mawk xargs",
        archive="tar zip unzip gzip gunzip 7z bzip2 xz",
        glue="[ test [[ cd pushd popd true false : exit return read shift trap eval local declare typeset alias umask "
        "ulimit shopt break continue clear let hash reset readonly mapfile readarray set export unset source . "
        "ForEach-Object Select-Object Where-Object Set-Location",
        print="echo printf yes Write-Host Write-Output",
        poll="sleep wait Start-Sleep",
        environment="pwd which whereis env printenv uname whoami id hostname date ps pgrep top htop lsof netstat ss df "
        "free nproc lscpu uptime kill pkill killall fg bg jobs getconf locale arch sw_vers tty stty "
        "nvidia-smi taskkill tasklist fuser where Get-Process Stop-Process Get-Command Test-Path man help "
        "groups getent mount systemctl service launchctl dmesg journalctl strace gdb lldb tmux screen open "
        "xdg-open osascript sysctl getfacl xattr ldd nm objdump readelf otool size history type command "
        "ldconfig",
        files="cp mv rm mkdir touch chmod chown ln rmdir install rsync truncate dd mktemp unlink mkfifo shred trash "
        "Remove-Item Copy-Item Move-Item New-Item",
        network="wget http httpie nc ncat telnet ssh scp sftp ping dig nslookup host traceroute ftp Invoke-WebRequest iwr "
        "Invoke-RestMethod yt-dlp aria2c gh glab hub az aws gcloud kubectl vercel netlify fly heroku azd gsutil "
        "terraform helm wrangler supabase stripe curl",
        container="docker docker-compose podman nerdctl colima",
        run="java Rscript julia lua R octave tclsh expect scala runghc erl racket guile sqlite3 duckdb psql mysql "
        "redis-cli mongosh dash fish pwsh powershell",
        write="Set-Content Out-File Add-Content",
        read="view",
        submit="submit",
    ),
}

TEMPORARY_OR_EMPTY = frozenset({"mkdir", "mktemp", "chmod", "chown", "rmdir", "mkfifo"})
"""Programs for files that change no file's content."""

SEARCHERS = frozenset(
    listed("grep rg egrep fgrep ag ack ugrep zgrep Select-String findstr ast-grep sg pdfgrep search_dir search_file")
)

SCRIPT_LANGUAGES = listed("node bun deno ruby php perl tsx ts-node lua Rscript julia swift elixir")

INSTALLERS = frozenset(
    listed(
        "pip pip3 apt apt-get brew yum dnf apk conda mamba gem bundle composer rustup nvm pyenv asdf winget choco "
        "pacman snap corepack pipx volta scoop uv poetry pipenv pdm hatch rye pixi"
    )
)

TASK_RUNNERS = frozenset(
    listed(
        "mvn mvnw gradle gradlew sbt ant dotnet lein mix rake rails bazel buck xcodebuild just task make gmake "
        "ninja meson invoke inv grunt gulp lerna nx turbo artisan rush moon mage cmake mise zig dune cabal stack "
        "flutter dart ember ng dbt earthly please pants waf"
    )
)
"""Programs that do what a target's name says."""
