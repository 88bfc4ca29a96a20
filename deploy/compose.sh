#!/bin/sh
# Changes a shop under Docker Compose without losing a request. docs/deploying/ describes its commands.
#
#   deploy/compose.sh update [SERVICE...]   replaces the containers of each service and of the gateway, or of the named ones, one by one
#   deploy/compose.sh rotate SECRET         replaces database, broker, administrator, internal, cursors, key-encryption or webhooks
#   deploy/compose.sh forget SECRET         ends the former values of internal, cursors, key-encryption or webhooks
#
# The variables of Compose, such as COMPOSE_PROJECT_NAME, COMPOSE_FILE and COMPOSE_PROFILES, have their usual meaning.
#
# Names of services are split into words on purpose.
# A command that fails inside `$(…)` ends the script only in an assignment. So every list is assigned before it is used.
# shellcheck disable=SC2086
set -eu
cd "$(dirname "$0")/.."

# Seconds.
healthy_within=120
grace=15

if docker compose version >/dev/null 2>&1; then
  compose() { docker compose "$@"; }
else
  compose() { docker-compose "$@"; }
fi

say() { printf '%s\n' "$*"; }

fail() {
  printf 'compose.sh: %s\n' "$*" >&2
  exit 1
}

usage() {
  sed -n 's/^#   //p' deploy/compose.sh >&2
  exit 2
}

# Refuses to run beside another run. The lock ends with the processes that have it, so that an interrupted run leaves none behind.
lock() {
  if ! command -v flock >/dev/null; then
    say "flock is missing (package util-linux): make sure that no other deploy/compose.sh runs"
    return
  fi
  exec 9<.
  flock -n 9 || fail "another deploy/compose.sh runs in this folder; try again when it has ended"
}

# Sets `migrated` to the names of the services that have a migration job.
read_services() {
  migrated=$(compose config --services)
  migrated=$(printf '%s\n' "$migrated" | sed -n 's/-migrate$//p' | sort)
  [ -n "$migrated" ] || fail "the compose file has no service with a migration job"
}

# Runs a command, and prints its output only when it fails.
quietly() {
  output=$("$@" 2>&1 </dev/null) || {
    printf '%s\n' "$output" >&2
    return 1
  }
}

# Runs a job of the compose file, such as provision.
run_job() {
  say "$*"
  quietly compose run --rm -T --no-deps "$@" || fail "$1 failed; nothing was replaced after it"
}

# Runs the health check of a container.
is_healthy() {
  check=$(docker inspect --format '{{join .Config.Healthcheck.Test "\n"}}' "$1" | sed 1d)
  [ -n "$check" ] && printf '%s\n' "$check" | tr '\n' '\0' | xargs -0 docker exec "$1" >/dev/null 2>&1
}

# Waits until a container is healthy. Docker itself checks a container only every five seconds.
until_healthy() {
  deadline=$(($(date +%s) + healthy_within))
  until is_healthy "$1"; do
    [ "$(date +%s)" -lt "$deadline" ] || return 1
    sleep 1
  done
}

# Replaces the containers of a service one by one: starts a new one, waits until it is healthy, and then ends an old one, which finishes
# its requests.
replace() {
  # A run that was interrupted may have stopped an old container without removing it. Compose would start it again instead of creating a new one.
  quietly compose rm --force "$1" || fail "cannot remove the stopped containers of $1"
  old=$(compose ps -q "$1")
  [ -n "$old" ] || fail "$1 does not run; start the shop with docker compose up --detach"
  known=$old
  number=$(printf '%s\n' "$old" | wc -l)
  service=$1
  for container in $old; do
    # Otherwise the next run would count the new container as one of the old ones, and the service would have one more for good.
    trap 'compose ps --all -q "$service" | grep -vxF "$known" | xargs -r docker rm --force >/dev/null; exit 130' INT TERM HUP
    quietly compose up --detach --no-deps --no-recreate --scale "$1=$((number + 1))" "$1" ||
      fail "cannot start another container of $1; the old ones still run"
    new=$(compose ps -q "$1" | grep -vxF "$known") || fail "no new container of $1 was started"
    if ! until_healthy "$new"; then
      docker logs --tail 20 "$new" >&2
      docker rm --force "$new" >/dev/null
      fail "the new container of $1 was not healthy within $healthy_within s, and was removed; the others still run"
    fi
    trap - INT TERM HUP
    docker stop -t "$grace" "$container" >/dev/null
    docker rm "$container" >/dev/null
    known=$(printf '%s\n' "$known" "$new")
    say "$1: $(printf '%.12s' "$container") was replaced by $(printf '%.12s' "$new")"
  done
}

# Replaces the containers of several services, one container after the other, so that few processes start at the same time.
replace_all() { for service in "$@"; do replace "$service"; done; }

# Prepares the servers as `docker compose up` does, and adds to the running broker what its definitions have in addition.
prepare() {
  run_job secrets
  run_job provision
  define_broker
}

define_broker() {
  say "definitions of rabbitmq"
  quietly compose exec -T rabbitmq rabbitmqctl --quiet import_definitions /run/secrets/definitions.json ||
    fail "rabbitmq did not accept its definitions"
}

# Deletes the users of services that the definitions of the broker no longer have.
end_broker_users() {
  defined=$(compose exec -T rabbitmq cat /run/secrets/definitions.json)
  [ -n "$defined" ] || fail "the secrets of rabbitmq contain no definitions"
  names=$(printf '%s\n' $migrated operator | paste -sd '|' -)
  users=$(compose exec -T rabbitmq rabbitmqctl --quiet --no-table-headers list_users)
  users=$(printf '%s\n' "$users" | cut -f 1 | grep -E "^($names)(_[0-9]+)?\$") || fail "rabbitmq lists no user of a service"
  for user in $users; do
    case $defined in
      *"\"name\": \"$user\""*) ;;
      *) compose exec -T rabbitmq rabbitmqctl --quiet delete_user "$user" </dev/null ;;
    esac
  done
}

# Makes a step of a rotation in the files of the secrets: add, use or end.
change_secret() { run_job secrets src/secrets.ts /secrets "$1" "$2"; }

# Sets the administrator's password to the one in the secrets, over the server's Unix socket, which needs none.
set_administrator_password() {
  # psql reads the file, because the arguments of a process can be read by everyone.
  compose exec -T postgres psql --quiet --host /var/run/postgresql --username postgres --set ON_ERROR_STOP=1 <<'SQL'
\set password `cat /run/secrets/password`
ALTER ROLE postgres PASSWORD :'password';
SQL
}

# Each process accepts the new value before the first one uses it. A rotation that failed can be started again.
rotate() {
  case $1 in
    administrator)
      change_secret use administrator
      set_administrator_password
      ;;
    database)
      # The secrets do not contain this variable.
      config=$(compose config)
      if printf '%s\n' "$config" | grep -qE '^ *DATABASE_READ_URL: .*//catalogue(_[0-9]+)?[:@]'; then
        fail "the rotation would end the login in DATABASE_READ_URL; remove it from there (postgres://host/shop), and the catalogue uses its own"
      fi
      change_secret add database
      run_job provision
      change_secret use database
      replace_all $migrated
      change_secret end database
      run_job provision
      ;;
    broker)
      change_secret add broker
      define_broker
      change_secret use broker
      replace_all $migrated
      change_secret end broker
      end_broker_users
      ;;
    internal | cursors | key-encryption | webhooks)
      change_secret add "$1"
      replace_all $migrated
      change_secret use "$1"
      replace_all $migrated
      say "the former value is still accepted; later, run: deploy/compose.sh forget $1"
      ;;
    *) usage ;;
  esac
}

forget() {
  case $1 in
    internal | cursors | key-encryption | webhooks)
      change_secret end "$1"
      replace_all $migrated
      ;;
    *) usage ;;
  esac
}

update() {
  replaceable="$(printf '%s\n' "$migrated" | paste -sd ' ' -) gateway"
  for service in "$@"; do
    case " $replaceable " in
      *" $service "*) ;;
      # Two containers of PostgreSQL, for example, would write to the same files.
      *) fail "cannot replace $service without a lost request; it can replace $replaceable" ;;
    esac
  done
  if [ $# -eq 0 ]; then set -- $replaceable; fi
  config=$(compose config)
  if printf '%s\n' "$config" | grep -qE "^ *TRUSTED_PROXIES: [\"']0[\"']\$"; then
    fail "TRUSTED_PROXIES=0 would prevent the start of the proxy; remove it"
  fi
  prepare
  for service in "$@"; do
    [ "$service" = gateway ] || run_job "$service-migrate"
  done
  replace_all "$@"
  case " $* " in
    *" gateway "*) publish ;;
  esac
}

# Starts the second gateway and the proxy of a shop whose only gateway published the port, as that of 1.1.0 did. The proxy comes last, and is started
# whenever it does not run, so that another run completes one that was interrupted.
publish() {
  proxy=$(compose ps --all -q proxy)
  if [ -z "$proxy" ]; then start gateway; fi
  start proxy
}

# Starts the containers of a service that do not run. It changes none that runs.
start() { quietly compose up --detach --no-deps --no-recreate "$1" || fail "cannot start $1; the port of the shop may be closed"; }

case ${1-} in
  update)
    shift
    lock
    read_services
    update "$@"
    ;;
  rotate | forget)
    [ $# -eq 2 ] || usage
    lock
    read_services
    "$@"
    ;;
  *) usage ;;
esac
