#!/bin/sh
# Replaces a secret of a shop in Kubernetes without losing a request. docs/deploying/secrets.md describes its commands.
#
#   deploy/kubernetes.sh rotate SECRET OVERLAY   replaces database, broker, internal, cursors, key-encryption or webhooks
#   deploy/kubernetes.sh forget SECRET OVERLAY   ends the former values of internal, cursors, key-encryption or webhooks
#
# OVERLAY is the folder of the manifests, such as deploy/kubernetes/overlays/production. It needs kubectl, and Docker with the image of
# deploy/setup that the overlay names, or with another one in SETUP_IMAGE. NAMESPACE is the namespace, by default shop.
#
# A command that fails inside `$(…)` or before a `|` ends the script only in an assignment. So every list is assigned before it is used.
set -eu

processes='app.kubernetes.io/component=process,app.kubernetes.io/name!=gateway'

kube() { kubectl --namespace "${NAMESPACE:-shop}" "$@"; }

usage() {
  sed -n 's/^#   //p' "$0" >&2
  exit 2
}

fail() {
  printf 'kubernetes.sh: %s\n' "$*" >&2
  exit 1
}

# Sets `setup` to the image of deploy/setup. That of another version may not know all services.
read_setup_image() {
  manifests=$(kubectl kustomize "$overlay")
  setup=${SETUP_IMAGE:-$(printf '%s\n' "$manifests" | sed -nE 's/^[ -]*image: *(([^ ]*\/)?setup[:@][^ ]*)$/\1/p' | sort -u)}
  [ "$(printf '%s\n' "$setup" | wc -w)" -eq 1 ] || fail "the overlay does not name one image of deploy/setup; set SETUP_IMAGE"
  docker image inspect "$setup" >/dev/null || fail "Docker does not have the image $setup; pull or build it"
}

# Prints a file of a Secret.
secret_file() { kube get secret "$1" --output "go-template={{index .data \"$2\" | base64decode}}"; }

# Makes a step of a rotation in all Secrets: add, use or end.
change_secret() {
  echo "$1 $2"
  kept=$(secret_file kept-secrets secrets.json)
  changed=$(printf '%s\n' "$kept" |
    docker run --rm --interactive --pull never "$setup" src/secrets.ts kubernetes "$1" "$2")
  printf '%s\n' "$changed" | kube replace --filename - >/dev/null
}

# Replaces the pods of all services one by one.
restart() {
  deployments=$(kube get deployment --selector "$processes" --output name)
  [ -n "$deployments" ] || fail "no deployment has the labels $processes"
  kube rollout restart deployment --selector "$processes"
  for deployment in $deployments; do
    kube rollout status "$deployment" --timeout 17m
  done
}

# Runs the Job again that gives PostgreSQL the logins of the Secrets.
provision() {
  kube delete job provision --ignore-not-found
  kube apply --kustomize "$overlay" --selector app.kubernetes.io/name=provision
  kube wait job/provision --for condition=complete --timeout 5m
}

broker() {
  nodes=$(kube get pods --selector app.kubernetes.io/name=rabbitmq --output name)
  [ -n "$nodes" ] || fail "no pod has the label app.kubernetes.io/name=rabbitmq"
  node=$(printf '%s\n' "$nodes" | head -n 1)
  kube exec --stdin "$node" -- rabbitmqctl --quiet "$@"
}

# Adds to the running broker what its definitions have in addition.
define_broker() {
  defined=$(secret_file rabbitmq-secrets definitions.json)
  printf '%s\n' "$defined" | broker import_definitions
}

# Deletes the users of services that the definitions of the broker no longer have.
end_broker_users() {
  defined=$(secret_file rabbitmq-secrets definitions.json)
  services=$(kube get deployment --selector "$processes" --output 'jsonpath={.items[*].metadata.name}')
  [ -n "$services" ] || fail "no deployment has the labels $processes"
  names=$(printf '%s\n' "$services operator" | tr ' ' '|')
  users=$(broker --no-table-headers list_users </dev/null)
  users=$(printf '%s\n' "$users" | cut -f 1 | grep -E "^($names)(_[0-9]+)?\$") || fail "rabbitmq lists no user of a service"
  for user in $users; do
    case $defined in
      *"\"name\": \"$user\""*) ;;
      *) broker delete_user "$user" </dev/null ;;
    esac
  done
}

# Each process accepts the new value before the first one uses it. A rotation that failed can be started again.
rotate() {
  case $1 in
    database)
      change_secret add database
      provision
      change_secret use database
      restart
      change_secret end database
      provision
      ;;
    broker)
      change_secret add broker
      define_broker
      change_secret use broker
      restart
      change_secret end broker
      end_broker_users
      ;;
    *)
      change_secret add "$1"
      restart
      change_secret use "$1"
      restart
      echo "the former value is still accepted; later, run: deploy/kubernetes.sh forget $1 $overlay"
      ;;
  esac
  kube rollout restart statefulset operator
}

forget() {
  change_secret end "$1"
  restart
  kube rollout restart statefulset operator
}

# Refuses to run beside another run, also one on another machine.
lock() {
  kube create configmap secret-rotation >/dev/null ||
    fail "cannot begin. If the configmap secret-rotation exists, another run is in progress, or was killed. Only in the second case, delete it: \
kubectl --namespace ${NAMESPACE:-shop} delete configmap secret-rotation"
  trap 'kube delete configmap secret-rotation >/dev/null' EXIT
  trap 'exit 130' INT TERM HUP
}

[ $# -eq 3 ] || usage
overlay=$3
case "$1 $2" in
  "rotate database" | "rotate broker") ;;
  "rotate internal" | "rotate cursors" | "rotate key-encryption" | "rotate webhooks") ;;
  "forget internal" | "forget cursors" | "forget key-encryption" | "forget webhooks") ;;
  *) usage ;;
esac
read_setup_image
lock
"$1" "$2"
