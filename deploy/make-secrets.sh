#!/bin/sh
# Makes the secrets of compose.yaml, once: an existing folder stays as it is.
set -eu
cd "$(dirname "$0")"
if [ -e secrets ]; then
  echo 'deploy/secrets exists and stays as it is' >&2
  exit 0
fi
# Others must not enter the folder; its files are readable, because the images read them as their own accounts.
mkdir -m 0700 secrets
umask 022
random() { openssl rand -hex 24 | tr -d '\n'; }
password=$(random)
printf '%s' "$password" >secrets/postgres_password
printf 'postgres://catraca:%s@postgres:5432/catraca' "$password" >secrets/database_url
openssl rand -base64 32 | tr -d '\n' >secrets/secrets_key
random >secrets/metrics_token
random >secrets/grafana_password
