#!/usr/bin/env bash
# tree_test.sh SOURCE: `tools/dev lint` finds each way in which CONTRIBUTING can be wrong about the directories.
# shellcheck disable=SC2016 # backticks are Markdown's
set -euo pipefail

source_dir=$1
page=$(mktemp)
trap 'rm -f "$page"' EXIT

write_page() {
  cat >"$page" <<'PAGE'
| folder | what |
| --- | --- |
| `lib/base/` | the lowest layer |
| `lib/wire/` | formats; pages in `lib/notes.txt` |
| `tools/` | `run`; its parts in `run.d/` |
| `tests/` | below |

`build/release/x` may be absent. See `tools/run`.

## Tests

- `unit`: one class. `docs/run.py` runs blocks.

## Code
PAGE
}
write_page

# check DIRECTORY…: with a file in these as well
check() {
  printf '%s\n' lib/base/a.h lib/wire/b.h lib/notes.txt tools/run tools/run.d/part tests/unit/a.cpp tests/docs/run.py \
    README.md .github/workflow "${@/%//file}" |
    python3 "$source_dir/tools/dev.d/tree.py" "$page" 2>&1
}

# finds TEXT SED DIRECTORY…: in the page that SED changed, and nothing else
finds() {
  local text=$1 said
  sed -i "$2" "$page"
  shift 2
  if said=$(check "$@") || [[ $said != *"$text"* || $said == *$'\n'* ]]; then
    printf 'instead of one finding with "%s":\n%s\n' "$text" "$said"
    exit 1
  fi
  write_page
}

if ! said=$(check); then
  printf 'a page that is right:\n%s\n' "$said"
  exit 1
fi
finds '`gone/`, which is no directory' 's|^. `tools/` .*|&\n\| `gone/` \| nothing \||'
finds 'directory new/ is not in the table' '' new
finds 'directory lib/core/ is not in the table' '' lib/core
finds '"Tests" does not name `fuzz`' '' tests/fuzz
finds '"Tests" does not name `unit`' 's/`unit`/one/'
finds '`tools/walk` does not exist' 's|tools/run`|tools/walk`|'
finds '`walk.d/` in the row of `tools/`' 's|run.d|walk.d|'
finds 'no table' 's/folder/place/'
