#!/bin/sh
# openhook-otel wrapper
# Stands before a program in PATH under that program's name: runs it, and tells the hook before and after.
#
# Nobody must notice. The program has our stdin, stdout, stderr and other open files, our process group and so the
# terminal, and the signals that are sent to us; its exit code, or its death by a signal that we had too, becomes ours.
# We print nothing. What tells the hook runs beside it, and whatever may be missing, the program runs.

name=${0##*/}
hook='' # this line and the next are written by `wrap`
env=''  # one that knows --default-signal, where there is one

# The first of that name in PATH that is neither this file, under whatever path, nor one to be passed over.
# shellcheck disable=SC3013 # -ef: every shell has it
find_program() { # paths, a colon before each
  program='' rest=${PATH-}:
  while [ -n "$rest" ]; do
    dir=${rest%%:*} rest=${rest#*:}
    file=${dir:-.}/$name
    if [ -f "$file" ] && [ -x "$file" ] && ! [ "$file" -ef "$0" ]; then
      case $1: in
        *:"$file":*) ;;
        *)
          program=$file
          return
          ;;
      esac
    fi
  done
}

# A shim or another wrapper looks for the next one of its name and may find us again: in the process that we became (=)
# or started (<). Then what we tried is passed over, and nothing is told a second time. 20 times in each other is a loop.
told=${OPENHOOK_OTEL_WRAPPED-} again=no depth=0 tried=''
case $told in
  "$name =$$ "* | "$name <$PPID "*) again=yes ;;
esac
case $told in
  "$name "*)
    told=${told#* *} told=${told#* }
    depth=${told%%:*}
    case $depth in
      '' | *[!0-9]* | ???*) depth=0 ;;
    esac
    if [ "$again" = yes ] || [ "$depth" -gt 20 ]; then tried=${told#"$depth"}; fi
    ;;
esac
find_program "$tried"
if [ -z "$program" ] && [ "$depth" -le 20 ]; then # it started itself anew
  tried=''
  find_program ''
fi
if [ -z "$program" ]; then
  printf '%s: command not found\n' "$name" >&2
  exit 127
fi
# Some shells count how deep they are in each other, which is no news for the program.
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
  [ -n "${BASH_VERSION-}" ] || uncount # bash does it by itself where it becomes a program at once
  export OPENHOOK_OTEL_WRAPPED="$name =$$ $((depth + 1))$tried:$program"
  exec "$program" "$@"
}

case $again-${OPENHOOK_OTEL_WRAP-} in
  yes-* | no-off) become "$@" ;;
esac
case ${1-} in
  __*) become "$@" ;; # a shell that completes a line, at every press of the key
esac
case $name in
  *[!A-Za-z0-9._+-]*) become "$@" ;;
esac
[ -x "$hook" ] || become "$@"
export OPENHOOK_OTEL_WRAPPED="$name <$$ $((depth + 1))$tried:$program"

# --- what the hook is told, beside the program ---

# The sub-command's words, where they are known for such: no option, no value, nothing that a user has made up. The same
# rules as in src/agents/shared/names/subcommand.ts; a test holds the two together.
# shellcheck disable=SC2317 # called beside
take_words() {
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
is_operation() { # behind an alias of the user's own anything may stand
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

# The terminal's first process with its start time; it outlives the scripts that are run there, and may be gone when we
# end. Without /proc: our parent.
take_shell() {
  shell=$PPID stat=''
  [ -r /proc/self/stat ] || return
  while IFS= read -r line; do stat=$line; done </proc/self/stat
  # shellcheck disable=SC2086
  set -- ${stat##*) }
  shell=${4:-$PPID} stat=''
  if [ -r "/proc/$shell/stat" ]; then
    while IFS= read -r line; do stat=$line; done <"/proc/$shell/stat"
    # shellcheck disable=SC2086
    set -- ${stat##*) }
    shell=$shell-${20-}
  fi
}

tell() { # phase, further members, the program's arguments
  (
    trap '' HUP
    unset IFS
    LC_ALL=C # letters are those of ASCII
    exec </dev/null >/dev/null 2>&1
    phase=$1 members=$2
    shift 2
    take_words "$@"
    [ "$phase" = post ] || take_shell
    payload="{\"cli\":\"$name\",\"args\":[$words],\"phase\":\"$phase\"$members,\"call\":\"$call\",\"shell\":\"$shell\"}"
    exec "$hook" -s -a cli-wrapper "$phase" '' "$payload"
  ) &
}

# One call, both phases: the system's own source of ids, else what a shell has.
call=''
if [ -r /proc/sys/kernel/random/uuid ]; then IFS= read -r call </proc/sys/kernel/random/uuid; fi
# shellcheck disable=SC3028
[ -n "$call" ] || call=$$-$PPID-${RANDOM-}
tell pre '' "$@"

# --- the program ---

keyboard=no
if [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then keyboard=yes; fi

sent='' had='' child='' status=''
# shellcheck disable=SC2317
hear() {
  sent=$1 had="$had $1"
  [ -z "$child" ] || pass_on "$1"
}
for signal in HUP INT QUIT TERM; do
  # shellcheck disable=SC2064
  trap "hear $signal" "$signal"
done
defaults=''
for signal in INT QUIT; do # what was ignored before us stays so: no trap can catch it
  kill -s "$signal" $$
  [ "$sent" != "$signal" ] || defaults=$defaults${defaults:+,}$signal
done
sent='' had=''

# A descriptor that nobody has open, to bring stdin or stderr past the shell.
fd=''
for digit in 9 8 7 6 5 4 3; do
  { { :; } <&"$digit"; } 2>/dev/null || fd=$digit
  [ -z "$fd" ] || break
done

# In the background, since a shell hears of signals in `wait` alone. There it takes stdin, INT and QUIT away from a program,
# which must be given back. Where nothing can do that: Ctrl-C counts for more than a signal that is sent to us alone.
way=plain
if [ -n "$defaults" ]; then
  case ${BASH_VERSION-}${KSH_VERSION-}-$program in
    -*=*) way=deaf ;; # env would take it for a variable
    -*)
      if [ -x "$env" ]; then way='env'; else way=deaf; fi
      ;;
    *) way=subshell ;;
  esac
fi
[ "$way-$keyboard" != deaf-yes ] || way=front
[ -n "$fd" ] || way=front

pass_on() {
  signal=$1
  case $signal-$keyboard-$way in
    INT-yes-* | QUIT-yes-*) return ;; # Ctrl-C is for everyone in the foreground
    INT-*-deaf | QUIT-*-deaf) signal=TERM ;;
  esac
  # What was sent to our whole group the program has had. Most end at once, and the others shall not be hurried.
  PATH=/usr/bin:/bin sleep 0.1 2>/dev/null
  kill -s "$signal" "$child" 2>/dev/null
}

in_front() { # past the shell's own word on a program that was killed
  uncount
  if [ -n "$fd" ] && { { :; } >&2; } 2>/dev/null; then
    eval "{ \"\$program\" \"\$@\" 2>&$fd $fd>&-; } $fd>&2 2>/dev/null"
  else
    "$program" "$@"
  fi
  status=$?
  take_shell
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
  if eval "{ { :; } $fd<&0; } 2>/dev/null"; then # onto another: 0 onto itself is never an error
    eval "{ $run <&$fd $fd<&- & } $fd<&0"
  else
    eval "$run <&- &"
  fi
  child=$!
  take_shell # while the program is at work
  [ "$way" != subshell ] || exec 2>/dev/null # where the shell tells of a program that was killed, whenever it likes
  [ -z "$sent" ] || pass_on "$sent"
  wait "$child" 2>/dev/null
  status=$?
  while [ -n "$sent" ]; do
    sent=''
    wait "$child" 2>/dev/null
    again=$?
    case $again in
      127 | -1) ;; # it had ended before the signal came; -1 is bash's word where both came at once, and it knows no more
      *) status=$again ;;
    esac
  done
}

case $way in
  front) in_front "$@" ;;
  *) in_background "$@" ;;
esac
# A home that is shared with a machine of another env: it was that which failed, not the program
if [ "$way-$status" = env-125 ] && ! "$env" --default-signal=INT /bin/sh -c : 2>/dev/null; then in_front "$@"; fi
tell post ",\"exit_code\":$status" "$@"

# A caller tells an exit code from a death: a loop in a script ends when Ctrl-C ends its program. Only signals that we had
# too: 137 from a program can be its own word as well.
case $status-$had in
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
