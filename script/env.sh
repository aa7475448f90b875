# shellcheck shell=bash
# Sourced by the other scripts: the repository's root, and on PATH the Node that bootstrap installed.
# shellcheck disable=SC2034 # used by those who source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
PATH=$root/.tools/node_modules/.bin:$PATH
