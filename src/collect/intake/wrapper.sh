#!/bin/sh
# openhook-otel wrapper
# Installed before a program in PATH, under that program's name: runs it, and calls the hook before and after.
#
# It must not be noticeable. The program gets our stdin, stdout, stderr and other open files, our process group and so the
# terminal, and the signals sent to us. Its exit code becomes ours; if it was ended by a signal that we received too, we end by the
# same signal. We print nothing. The hook runs in the background, and if anything is missing, the program runs anyway.
# Our variables begin with w_: the program would see another value of an exported one, such as `name` or `env`.

w_name=${0##*/}
w_nl='
'
# `wrap` writes these four
w_home=''     # the user's, for services without HOME
w_hook=''     # the hook program
w_programs='' # where the programs were: name=path, one per line
w_env=''      # an env with --default-signal, if there is one

# Finds the first program of that name in PATH that is not this file (under any path) and not to be skipped; otherwise the one that
# `wrap` found: desktops and services start us with a short PATH, or none.
find_program() { # paths, a colon before each
  w_program='' w_rest=${PATH-}:
  while [ -n "$w_rest" ]; do
    w_dir=${w_rest%%:*} w_rest=${w_rest#*:}
    ! try "${w_dir:-.}/$w_name" "$1" || return
  done
  w_rest=$w_programs$w_nl
  while [ -n "$w_rest" ]; do
    w_line=${w_rest%%"$w_nl"*} w_rest=${w_rest#*"$w_nl"}
    case $w_line in
      "$w_name="*) ! try "${w_line#*=}" "$1" || return ;;
    esac
  done
}
# shellcheck disable=SC3013 # -ef: every shell has it
try() { # path, paths to skip
  [ -f "$1" ] && [ -x "$1" ] && ! [ "$1" -ef "$0" ] || return 1
  case $2: in
    *:"$1":*) return 1 ;;
  esac
  w_program=$1
}

# A shim or another wrapper searches for the next program of its name and may find this file again, in the process that we
# became (=) or started (<). Then skip the programs already tried, and do not call the hook again. A depth of 20 is a loop.
w_previous=${OPENHOOK_OTEL_WRAPPED-} w_again=no w_depth=0 w_tried=''
case $w_previous in
  "$w_name =$$ "* | "$w_name <$PPID "*) w_again=yes ;;
esac
case $w_previous in
  "$w_name "*)
    w_previous=${w_previous#* *} w_previous=${w_previous#* }
    w_depth=${w_previous%%:*}
    case $w_depth in
      '' | *[!0-9]* | ???*) w_depth=0 ;;
    esac
    if [ "$w_again" = yes ] || [ "$w_depth" -gt 20 ]; then w_tried=${w_previous#"$w_depth"}; fi
    ;;
esac
find_program "$w_tried"
if [ -z "$w_program" ] && [ "$w_depth" -le 20 ]; then # it started itself again
  w_tried=''
  find_program ''
fi
if [ -z "$w_program" ]; then
  printf '%s: command not found\n' "$w_name" >&2
  exit 127
fi
# Some shells count their nesting depth in SHLVL; the program must not see ours.
w_uncount=no
# shellcheck disable=SC3013
if [ -n "${BASH_VERSION-}" ] || [ "/proc/$$/exe" -ef /bin/busybox ]; then w_uncount=yes; fi
uncount() {
  case $w_uncount-${SHLVL-} in
    yes-1) unset SHLVL ;;
    yes-*[!0-9]* | yes- | no-*) ;;
    *) SHLVL=$((SHLVL - 1)) ;;
  esac
}
become() {
  [ -n "${BASH_VERSION-}" ] || uncount # bash does this itself on a direct exec
  export OPENHOOK_OTEL_WRAPPED="$w_name =$$ $((w_depth + 1))$w_tried:$w_program"
  exec "$w_program" "$@"
}

case $w_again-${OPENHOOK_OTEL_WRAP-} in
  yes-* | no-off) become "$@" ;;
esac
case ${1-} in
  __*) become "$@" ;; # completion by a shell, at every key press
esac
case $w_name in
  *[!A-Za-z0-9._+-]*) become "$@" ;;
esac
[ -x "$w_hook" ] || become "$@"
export OPENHOOK_OTEL_WRAPPED="$w_name <$$ $((w_depth + 1))$w_tried:$w_program"

# --- calling the hook, in the background ---

# The words of the subcommand, if known: no options, no values, nothing that the user named. The same rules as in
# src/agents/shared/names/subcommand.ts; a test compares the two.
# shellcheck disable=SC2317 # called in the background
find_words() {
  # valued: options with a value behind them; bare: options without one; groups: words that a second one belongs to
  w_words='' w_valued='' w_bare='' w_groups='' w_first='' w_skip=no
  case $w_name in
    gh)
      w_valued='-R --repo --hostname'
      w_groups='alias attestation auth cache codespace config extension gist gpg-key issue label org pr preview project
        release repo ruleset run search secret ssh-key variable workflow'
      ;;
    kubectl)
      w_valued='-n --namespace --context --cluster --user -s --server --kubeconfig --kuberc --token --as --as-group --as-uid
        --cache-dir --certificate-authority --client-certificate --client-key --request-timeout --tls-server-name
        --username --password --profile --profile-output --vmodule -v --v --stderrthreshold --log-backtrace-at --log-dir
        --log-file --log-file-max-size --log-flush-frequency'
      w_bare='--insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --alsologtostderr
        --logtostderr'
      w_groups='annotate auth autoscale certificate cluster-info config create delete describe edit explain expose get label
        patch plugin rollout scale set top wait'
      ;;
    docker | podman)
      w_valued='--config -c --context --connection -H --host -l --log-level --tlscacert --tlscert --tlskey'
      w_bare='-D --debug --tls --tlsverify'
      w_groups='builder buildx checkpoint compose config container context image kube machine manifest network node plugin pod
        secret service stack swarm system trust volume'
      ;;
    aws)
      w_valued='--profile --region --output --endpoint-url --query --color --ca-bundle --cli-read-timeout
        --cli-connect-timeout --cli-binary-format'
      w_bare='--debug --no-verify-ssl --no-paginate --no-sign-request --no-cli-pager --no-cli-auto-prompt --cli-auto-prompt'
      ;;
    az | brew | bun | cargo | gcloud | git | glab | go | helm | npm | pip | pip3 | pnpm | poetry | pulumi | systemctl | \
      terraform | tofu | uv | yarn) ;;
    *) return ;;
  esac
  for w_argument; do
    if [ "$w_skip" = yes ]; then
      w_skip=no
      continue
    fi
    case $w_argument in
      --*=*) is_one_of "${w_argument%%=*}" "$w_valued $w_bare" || return ;;
      --* | -?)
        if is_one_of "$w_argument" "$w_valued"; then
          w_skip=yes
        else
          is_one_of "$w_argument" "$w_bare" || return
        fi
        ;;
      -*) is_one_of "${w_argument%"${w_argument#-?}"}" "$w_valued" || return ;; # -nprod
      '' | [!a-z]* | *[!a-z0-9-]* | ???????????????????????????????*) return ;;
      *)
        if [ -n "$w_first" ]; then
          [ "$w_name" != aws ] || is_operation "$w_argument" || return
          w_words=$w_words,\"$w_argument\"
          return
        fi
        w_first=$w_argument w_words=\"$w_argument\"
        [ "$w_name" = aws ] || is_one_of "$w_first" "$w_groups" || return
        case $w_name-$w_first in
          docker-compose | podman-compose)
            w_valued='-f --file -p --project-name --profile --env-file --project-directory --ansi --parallel --progress'
            w_bare='--compatibility --dry-run --all-resources'
            ;;
        esac
        ;;
    esac
  done
}
is_one_of() { # word list
  for w_one in $2; do
    [ "$w_one" != "$1" ] || return 0
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
  w_shell=$PPID w_stat=''
  [ -r /proc/self/stat ] || return
  while IFS= read -r w_line; do w_stat=$w_line; done </proc/self/stat
  # shellcheck disable=SC2086
  set -- ${w_stat##*\) }
  w_shell=${4:-$PPID} w_stat=''
  if [ -r "/proc/$w_shell/stat" ]; then
    while IFS= read -r w_line; do w_stat=$w_line; done <"/proc/$w_shell/stat"
    # shellcheck disable=SC2086
    set -- ${w_stat##*\) }
    w_shell=$w_shell-${20-}
  fi
}

call_hook() { # phase, further members, the program's arguments
  (
    trap '' HUP
    unset IFS
    LC_ALL=C # ASCII letters only
    exec </dev/null >/dev/null 2>&1
    w_phase=$1 w_members=$2
    shift 2
    find_words "$@"
    [ "$w_phase" = post ] || find_shell
    w_payload="{\"cli\":\"$w_name\",\"args\":[$w_words],\"phase\":\"$w_phase\"$w_members,\"call\":\"$w_call\",\"shell\":\"$w_shell\"}"
    exec "$w_hook" -s -a cli-wrapper "$w_phase" '' "$w_payload"
  ) &
}

# One id for both phases: from the system, otherwise from what a shell has.
w_call=''
if [ -r /proc/sys/kernel/random/uuid ]; then IFS= read -r w_call </proc/sys/kernel/random/uuid; fi
# shellcheck disable=SC3028
[ -n "$w_call" ] || w_call=$$-$PPID-${RANDOM-}
call_hook pre '' "$@"

# --- the program ---

w_terminal=no
if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then w_terminal=yes; fi

w_pending='' w_received='' w_child='' w_status=''
# shellcheck disable=SC2317
on_signal() {
  w_pending=$1 w_received="$w_received $1"
  [ -z "$w_child" ] || pass_on "$1"
}
for w_signal in HUP INT QUIT TERM; do
  # shellcheck disable=SC2064
  trap "on_signal $w_signal" "$w_signal"
done
w_defaults=''
for w_signal in INT QUIT; do # signals ignored before us stay ignored: a trap cannot catch them
  kill -s "$w_signal" $$
  [ "$w_pending" != "$w_signal" ] || w_defaults=$w_defaults${w_defaults:+,}$w_signal
done
w_pending='' w_received=''

# A free descriptor, to pass stdin or stderr around the shell.
w_fd=''
for w_digit in 9 8 7 6 5 4 3; do
  { { :; } <&"$w_digit"; } 2>/dev/null || w_fd=$w_digit
  [ -z "$w_fd" ] || break
done

# Run the program in the background, because a shell handles signals only in `wait`. A background program loses stdin, INT and
# QUIT, which must be restored. If that is impossible, prefer a working Ctrl-C to forwarding signals that only we get.
w_way=plain
if [ -n "$w_defaults" ]; then
  case ${BASH_VERSION-}${KSH_VERSION-}-$w_program in
    -*=*) w_way=ignoring ;; # env would treat it as a variable
    -*)
      if [ -x "$w_env" ]; then w_way='env'; else w_way=ignoring; fi
      ;;
    *) w_way=subshell ;;
  esac
fi
[ "$w_way-$w_terminal" != ignoring-yes ] || w_way=front
[ -n "$w_fd" ] || w_way=front

pass_on() {
  w_signal=$1
  case $w_signal-$w_terminal-$w_way in
    INT-yes-* | QUIT-yes-*) return ;; # Ctrl-C goes to the whole foreground group
    INT-*-ignoring | QUIT-*-ignoring) w_signal=TERM ;;
  esac
  # A signal sent to our group has reached the program already. Most end immediately; do not send a second one to the others.
  PATH=/usr/bin:/bin sleep 0.1 2>/dev/null
  kill -s "$w_signal" "$w_child" 2>/dev/null
}

in_front() { # hides the shell's message about a killed program
  uncount
  if [ -n "$w_fd" ] && { { :; } >&2; } 2>/dev/null; then
    eval "{ \"\$w_program\" \"\$@\" 2>&$w_fd $w_fd>&-; } $w_fd>&2 2>/dev/null"
  else
    "$w_program" "$@"
  fi
  w_status=$?
  find_shell
}

# shellcheck disable=SC2016 # eval expands it
in_background() {
  case ${BASH_VERSION-}-$w_way in
    ?*-plain) ;;
    *) uncount ;;
  esac
  case $w_way in
    env) w_run='"$w_env" "--default-signal=$w_defaults" "$w_program" "$@"' ;;
    subshell) w_run='(trap - INT QUIT; exec "$w_program" "$@")' ;;
    *) w_run='"$w_program" "$@"' ;;
  esac
  if eval "{ { :; } $w_fd<&0; } 2>/dev/null"; then # to another descriptor: duplicating 0 to itself is never an error
    eval "{ $w_run <&$w_fd $w_fd<&- & } $w_fd<&0"
  else
    eval "$w_run <&- &"
  fi
  w_child=$!
  find_shell # while the program runs
  [ "$w_way" != subshell ] || exec 2>/dev/null # this shell reports killed programs at any time
  [ -z "$w_pending" ] || pass_on "$w_pending"
  wait "$w_child" 2>/dev/null
  w_status=$?
  while [ -n "$w_pending" ]; do
    w_pending=''
    wait "$w_child" 2>/dev/null
    w_again=$?
    case $w_again in
      127 | -1) ;; # it had ended before the signal; bash returns -1 if both happened together
      *) w_status=$w_again ;;
    esac
  done
}

case $w_way in
  front) in_front "$@" ;;
  *) in_background "$@" ;;
esac
# The home may be shared with a machine that has another env: then env failed, not the program
if [ "$w_way-$w_status" = env-125 ] && ! "$w_env" --default-signal=INT /bin/sh -c : 2>/dev/null; then in_front "$@"; fi
call_hook post ",\"exit_code\":$w_status" "$@"

# Callers distinguish an exit code from an end by a signal: a loop in a script ends if Ctrl-C ends its program. Only for signals
# that we received too, because a program can also exit with such a code.
case $w_status-$w_received in
  129-*HUP*) w_signal=HUP ;;
  130-*INT*) w_signal=INT ;;
  131-*QUIT*) w_signal=QUIT ;;
  143-*TERM*) w_signal=TERM ;;
  *) exit "$w_status" ;;
esac
# shellcheck disable=SC3045
ulimit -c 0
trap - "$w_signal"
kill -s "$w_signal" $$
exit "$w_status"
