#!/usr/bin/env bash
# docs/README.md names every page, and links in README.md and docs lead to files: docs_index_test.sh <repository root>
set -eu
cd "$1"
status=0
for page in docs/*.md; do
  name=${page#docs/}
  [ "$name" = README.md ] || grep -qF "]($name)" docs/README.md || { echo "docs/README.md does not name $name"; status=1; }
done
for page in README.md docs/*.md; do
  while read -r target; do
    [ -e "$(dirname "$page")/$target" ] || { echo "$page links to $target, which is not there"; status=1; }
  done < <(grep -oE '\]\([^)#:]+(#[^)]*)?\)' "$page" | sed -E 's/^\]\(([^)#]+).*/\1/')
done
exit "$status"
