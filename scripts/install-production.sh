#!/bin/sh
# Installs the gateway for production: installs all packages, builds the database client and the console, and removes
# the packages that only builds need. With --without-node, the package `node` is removed too: the image has its own.
# package.json and package-lock.json are the same afterwards.
set -eu
cd "$(dirname "$0")/.."

# Also runs the script `postinstall`, which builds.
npm ci --no-audit --no-fund

saved=$(mktemp -d)
cp package.json package-lock.json "$saved"
restore() {
  cp "$saved/package.json" "$saved/package-lock.json" .
  rm -rf "$saved"
}
trap restore EXIT

# npm keeps Prisma's command line and TypeScript as optional peers of Prisma's client, unless no file names them.
npm pkg delete dependencies.prisma scripts.postinstall
if [ "${1:-}" = --without-node ]; then npm pkg delete dependencies.node; fi
npm prune --omit=dev --ignore-scripts --no-audit --no-fund
rm -rf node_modules/typescript node_modules/@typescript node_modules/.cache
find node_modules -name '*.map' -delete
# Of Prisma's client, one database's part is used.
find node_modules/@prisma/client/runtime -name 'query_compiler_*' \
  ! -name 'query_compiler_fast_bg.postgresql.*' -delete
