#!/bin/sh
# openhook-otel wrapper
# Installed before a program in PATH, under that program's name: runs it, and calls the hook before and after.
#
# It must not be noticeable. The program gets our stdin, stdout, stderr and other open files, our process group and so the
# terminal, and the signals sent to us. Its exit code becomes ours; if it was ended by a signal that we received too, we end by the
# same signal. We print nothing. The hook runs in the background, and if anything is missing, the program runs anyway.

name=${0##*/}
nl='
'
# `wrap` writes these four
home=''     # the user's, for services without HOME
hook=''     # the hook program
programs='' # where the programs were: name=path, one per line
env=''      # an env with --default-signal, if there is one

# Finds the first program of that name in PATH that is not this file (under any path) and not to be skipped; otherwise the one that
# `wrap` found: desktops and services start us with a short PATH, or none.
find_program() { # paths, a colon before each
  program='' rest=${PATH-}:
  while [ -n "$rest" ]; do
    dir=${rest%%:*} rest=${rest#*:}
    ! try "${dir:-.}/$name" "$1" || return
  done
  rest=$programs$nl
  while [ -n "$rest" ]; do
    line=${rest%%"$nl"*} rest=${rest#*"$nl"}
    case $line in
      "$name="*) ! try "${line#*=}" "$1" || return ;;
    esac
  done
}
# shellcheck disable=SC3013 # -ef: every shell has it
try() { # path, paths to skip
  [ -f "$1" ] && [ -x "$1" ] && ! [ "$1" -ef "$0" ] || return 1
  case $2: in
    *:"$1":*) return 1 ;;
  esac
  program=$1
}

# A shim or another wrapper searches for the next program of its name and may find this file again, in the process that we
# became (=) or started (<). Then skip the programs already tried, and do not call the hook again. A depth of 20 is a loop.
previous=${OPENHOOK_OTEL_WRAPPED-} again=no depth=0 tried=''
case $previous in
  "$name =$$ "* | "$name <$PPID "*) again=yes ;;
esac
case $previous in
  "$name "*)
    previous=${previous#* *} previous=${previous#* }
    depth=${previous%%:*}
    case $depth in
      '' | *[!0-9]* | ???*) depth=0 ;;
    esac
    if [ "$again" = yes ] || [ "$depth" -gt 20 ]; then tried=${previous#"$depth"}; fi
    ;;
esac
find_program "$tried"
if [ -z "$program" ] && [ "$depth" -le 20 ]; then # it started itself again
  tried=''
  find_program ''
fi
if [ -z "$program" ]; then
  printf '%s: command not found\n' "$name" >&2
  exit 127
fi
# Some shells count their nesting depth in SHLVL; the program must not see ours.
uncount=no
# shellcheck disable=SC3013
if [ -n "${BASH_VERSION-}" ] || [ "/proc/$$/exe" -ef /bin/busybox ]; then uncount=yes; fi
uncount() {
  case $uncount-${SHLVL-} in
    yes-1) unset SHLVL ;;
    yes-*[!0-9]* | yes- | no-*) ;;
    *) SHLVL=$((SHLVL - 1)) ;;
  esac
}
become() {
  [ -n "${BASH_VERSION-}" ] || uncount # bash does this itself on a direct exec
  export OPENHOOK_OTEL_WRAPPED="$name =$$ $((depth + 1))$tried:$program"
  exec "$program" "$@"
}

case $again-${OPENHOOK_OTEL_WRAP-} in
  yes-* | no-off) become "$@" ;;
esac
case ${1-} in
  __*) become "$@" ;; # completion by a shell, at every key press
esac
case $name in
  *[!A-Za-z0-9._+-]*) become "$@" ;;
esac
[ -x "$hook" ] || become "$@"
export OPENHOOK_OTEL_WRAPPED="$name <$$ $((depth + 1))$tried:$program"

# --- calling the hook, in the background ---

# The words of the subcommand, if known: no options, no values, nothing that the user named. The same rules as in
# src/agents/shared/names/subcommand.ts; a test compares the two.
# shellcheck disable=SC2317 # called in the background
find_words() {
  # valued: options with a value behind them; bare: options without one; groups: words that a second one belongs to
  words='' valued='' bare='' groups='' first='' skip=no
  case $name in
    gh)
      valued='-R --repo --hostname'
      groups='alias attestation auth cache codespace config extension gist gpg-key issue label org pr preview project
        release repo ruleset run search secret ssh-key variable workflow'
      ;;
    kubectl)
      valued='-n --namespace --context --cluster --user -s --server --kubeconfig --kuberc --token --as --as-group --as-uid
        --cache-dir --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name
        --username --password --profile --profile-output --vmodule -v --v --stderrthreshold --log-backtrace-at --log-dir
        --log-file --log-file-max-size --log-flush-frequency'
      bare='--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --alsologtostderr
        --logtostderr'
      groups='annotate auth autoscale certificate cluster-info config create delete describe edit explain expose get label
        patch plugin rollout scale set top wait'
      ;;
    docker | podman)
      valued='--config -c --context --connection -H --host -l --log-level --tlscacert --tlscert --tlskey'
      bare='-D --debug --tls --tlsverify'
      groups='builder buildx checkpoint compose config container context image kube machine manifest network node plugin pod
        secret service stack swarm system trust volume'
      ;;
    aws)
      valued='--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout
        --cli-connect-timeout --cli-binary-format'
      bare='--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt --cli-auto-prompt'
      ;;
    az | brew | bun | cargo | gcloud | git | glab | go | helm | npm | pip | pip3 | pnpm | poetry | pulumi | systemctl | \
      terraform | tofu | uv | yarn) ;;
    *) return ;;
  esac
  for argument; do
    if [ "$skip" = yes ]; then
      skip=no
      continue
    fi
    case $argument in
      --*=*) is_one_of "${argument%%=*}" "$valued $bare" || return ;;
      --* | -?)
        if is_one_of "$argument" "$valued"; then
          skip=yes
        else
          is_one_of "$argument" "$bare" || return
        fi
        ;;
      -*) is_one_of "${argument%"${argument#-?}"}" "$valued" || return ;; # -nprod
      '' | [!a-z]* | *[!a-z0-9-]* | ???????????????????????????????*) return ;;
      *)
        if [ -n "$first" ]; then
          [ "$name" != aws ] || is_operation "$argument" || return
          words=$words,\"$argument\"
          return
        fi
        first=$argument words=\"$argument\"
        [ "$name" = aws ] || is_one_of "$first" "$groups" || return
        case $name-$first in
          docker-compose | podman-compose)
            valued='-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress'
            bare='--compatibility --dry-run --all-resources'
            ;;
        esac
        ;;
    esac
  done
}
is_one_of() { # word list
  for one in $2; do
    [ "$one" != "$1" ] || return 0
  done
  return 1
}
is_operation() { # a user's own alias can be followed by anything
  case $1 in
    cp | deploy | help | invoke | list | login | logout | ls | mb | mv | package | presign | publish | query | rb | rm | \
      scan | subscribe | sync | tail | wait | website) ;;
    add-* | associate-* | attach-* | batch-* | cancel-* | copy-* | create-* | decode-* | delete-* | deregister-* | \
      describe-* | detach-* | disable-* | disassociate-* | enable-* | execute-* | export-* | filter-* | get-* | import-* | \
      initiate-* | invoke-* | list-* | lookup-* | modify-* | put-* | reboot-* | receive-* | register-* | remove-* | \
      reset-* | restore-* | resume-* | run-* | search-* | send-* | start-* | stop-* | tag-* | terminate-* | test-* | \
      transact-* | untag-* | update-* | upload-* | validate-* | verify-*) ;;
    *) return 1 ;;
  esac
}

# The terminal's first process with its start time; it outlives the scripts that run there, and may have ended when we do.
# Without /proc: our parent.
find_shell() {
  shell=$PPID stat=''
  [ -r /proc/self/stat ] || return
  while IFS= read -r line; do stat=$line; done </proc/self/stat
  # shellcheck disable=SC2086
  set -- ${stat##*\) }
  shell=${4:-$PPID} stat=''
  if [ -r "/proc/$shell/stat" ]; then
    while IFS= read -r line; do stat=$line; done <"/proc/$shell/stat"
    # shellcheck disable=SC2086
    set -- ${stat##*\) }
    shell=$shell-${20-}
  fi
}

call_hook() { # phase, further members, the program's arguments
  (
    trap '' HUP
    unset IFS
    LC_ALL=C # ASCII letters only
    exec </dev/null >/dev/null 2>&1
    phase=$1 members=$2
    shift 2
    find_words "$@"
    [ "$phase" = post ] || find_shell
    payload="{\"cli\":\"$name\",\"args\":[$words],\"phase\":\"$phase\"$members,\"call\":\"$call\",\"shell\":\"$shell\"}"
    exec "$hook" -s -a cli-wrapper "$phase" '' "$payload"
  ) &
}

# One id for both phases: from the system, otherwise from what a shell has.
call=''
if [ -r /proc/sys/kernel/random/uuid ]; then IFS= read -r call </proc/sys/kernel/random/uuid; fi
# shellcheck disable=SC3028
[ -n "$call" ] || call=$$-$PPID-${RANDOM-}
call_hook pre '' "$@"

# --- the program ---

terminal=no
if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then terminal=yes; fi

pending='' received='' child='' status=''
# shellcheck disable=SC2317
on_signal() {
  pending=$1 received="$received $1"
  [ -z "$child" ] || pass_on "$1"
}
for signal in HUP INT QUIT TERM; do
  # shellcheck disable=SC2064
  trap "on_signal $signal" "$signal"
done
defaults=''
for signal in INT QUIT; do # signals ignored before us stay ignored: a trap cannot catch them
  kill -s "$signal" $$
  [ "$pending" != "$signal" ] || defaults=$defaults${defaults:+,}$signal
done
pending='' received=''

# A free descriptor, to pass stdin or stderr around the shell.
fd=''
for digit in 9 8 7 6 5 4 3; do
  { { :; } <&"$digit"; } 2>/dev/null || fd=$digit
  [ -z "$fd" ] || break
done

# Run the program in the background, because a shell handles signals only in `wait`. A background program loses stdin, INT and
# QUIT, which must be restored. If that is impossible, prefer a working Ctrl-C to forwarding signals that only we get.
way=plain
if [ -n "$defaults" ]; then
  case ${BASH_VERSION-}${KSH_VERSION-}-$program in
    -*=*) way=ignoring ;; # env would treat it as a variable
    -*)
      if [ -x "$env" ]; then way='env'; else way=ignoring; fi
      ;;
    *) way=subshell ;;
  esac
fi
[ "$way-$terminal" != ignoring-yes ] || way=front
[ -n "$fd" ] || way=front

pass_on() {
  signal=$1
  case $signal-$terminal-$way in
    INT-yes-* | QUIT-yes-*) return ;; # Ctrl-C goes to the whole foreground group
    INT-*-ignoring | QUIT-*-ignoring) signal=TERM ;;
  esac
  # A signal sent to our group has reached the program already. Most end immediately; do not send a second one to the others.
  PATH=/usr/bin:/bin sleep 0.1 2>/dev/null
  kill -s "$signal" "$child" 2>/dev/null
}

in_front() { # hides the shell's message about a killed program
  uncount
  if [ -n "$fd" ] && { { :; } >&2; } 2>/dev/null; then
    eval "{ \"\$program\" \"\$@\" 2>&$fd $fd>&-; } $fd>&2 2>/dev/null"
  else
    "$program" "$@"
  fi
  status=$?
  find_shell
}

# shellcheck disable=SC2016 # eval expands it
in_background() {
  case ${BASH_VERSION-}-$way in
    ?*-plain) ;;
    *) uncount ;;
  esac
  case $way in
    env) run='"$env" "--default-signal=$defaults" "$program" "$@"' ;;
    subshell) run='(trap - INT QUIT; exec "$program" "$@")' ;;
    *) run='"$program" "$@"' ;;
  esac
  if eval "{ { :; } $fd<&0; } 2>/dev/null"; then # to another descriptor: duplicating 0 to itself is never an error
    eval "{ $run <&$fd $fd<&- & } $fd<&0"
  else
    eval "$run <&- &"
  fi
  child=$!
  find_shell # while the program runs
  [ "$way" != subshell ] || exec 2>/dev/null # this shell reports killed programs at any time
  [ -z "$pending" ] || pass_on "$pending"
  wait "$child" 2>/dev/null
  status=$?
  while [ -n "$pending" ]; do
    pending=''
    wait "$child" 2>/dev/null
    again=$?
    case $again in
      127 | -1) ;; # it had ended before the signal; bash returns -1 if both happened together
      *) status=$again ;;
    esac
  done
}

case $way in
  front) in_front "$@" ;;
  *) in_background "$@" ;;
esac
# The home may be shared with a machine that has another env: then env failed, not the program
if [ "$way-$status" = env-125 ] && ! "$env" --default-signal=INT /bin/sh -c : 2>/dev/null; then in_front "$@"; fi
call_hook post ",\"exit_code\":$status" "$@"

# Callers distinguish an exit code from an end by a signal: a loop in a script ends if Ctrl-C ends its program. Only for signals
# that we received too, because a program can also exit with such a code.
case $status-$received in
  129-*HUP*) signal=HUP ;;
  130-*INT*) signal=INT ;;
  131-*QUIT*) signal=QUIT ;;
  143-*TERM*) signal=TERM ;;
  *) exit "$status" ;;
esac
# shellcheck disable=SC3045
ulimit -c 0
trap - "$signal"
kill -s "$signal" $$
exit "$status"
