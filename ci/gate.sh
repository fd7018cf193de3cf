#!/bin/sh
# The gate in CI, for any service: install, build, gate, report. See docs/how-to/gate.md.
#
#   BUILD="make libmine.so" sh ci/gate.sh SUITE [OPTIONS of thalweg gate]
#
# THALWEG   a checkout of Thalweg, a wheel, or an address that git clones  [this checkout]
# BUILD     the command that builds what is under test                    [nothing]
# REPORT    folder for gate.md and gate.xml                               [gate-report]
# TOOLS     folder for what is installed                                  [.thalweg]
#
# Ends with the status of the gate: 0 passed, 1 worse, 2 refused.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
: "${THALWEG:=$here}" "${BUILD:=}" "${REPORT:=gate-report}" "${TOOLS:=.thalweg}"

if [ $# -eq 0 ]; then
  echo "error: no suite; usage: sh gate.sh SUITE [OPTIONS of thalweg gate]" >&2
  exit 2
fi

# Install: says where the command is. A shell ignores `set -e` in here, because `||` follows the call.
install_thalweg() {
  case $THALWEG in
  *.whl)
    python3 -m venv "$TOOLS/venv" >&2 || return 1
    "$TOOLS/venv/bin/python" -m pip install --quiet --disable-pip-version-check "$THALWEG" >&2 || return 1
    echo "$TOOLS/venv/bin/thalweg"
    return
    ;;
  esac
  checkout=$THALWEG
  if [ ! -d "$checkout" ]; then
    checkout=$TOOLS/checkout
    [ -d "$checkout" ] || git clone --quiet --depth 1 "$THALWEG" "$checkout" >&2 || return 1
  fi
  # The script's own clone may come from a cache, with an older build or half of one; one of others is as they built it.
  if [ "$checkout" = "$TOOLS/checkout" ] || [ ! -x "$checkout/.venv/bin/thalweg" ]; then
    make -C "$checkout" build >&2 || return 1
  fi
  echo "$checkout/.venv/bin/thalweg"
}
thalweg=$(install_thalweg) && [ -x "$thalweg" ] || {
  echo "error: cannot install Thalweg from $THALWEG; accepted: a checkout, a wheel, or what git clones" >&2
  exit 2
}

# Build.
if [ -n "$BUILD" ]; then
  sh -ec "$BUILD" || {
    echo "error: the build failed: $BUILD" >&2
    exit 2
  }
fi

# Gate.
mkdir -p "$REPORT"
rm -f "$REPORT/gate.md" "$REPORT/gate.xml"
status=0
"$thalweg" gate "$@" --junit "$REPORT/gate.xml" --markdown "$REPORT/gate.md" || status=$?

# Report: the page of the job on GitHub. Services upload the folder.
if [ -n "${GITHUB_STEP_SUMMARY:-}" ] && [ -f "$REPORT/gate.md" ]; then
  cat "$REPORT/gate.md" >> "$GITHUB_STEP_SUMMARY"
fi
exit $status
