#!/bin/sh
# What an agent starts for every event: puts stdin into one file of the inbox, answers, exits 0. Nothing else.
#
#   hook [-d|-w] <source> [<event> [<reply>]]
#     -d       start a drain afterwards           -w  start one only if other files wait
#     <reply>  printed as it is, with a newline; without it stdout stays empty
#
# The agent waits for this, so forks are counted: one for cat, one for the watchdog; the rest is builtins.
# It must never fail its host: exit 2 blocks a tool call, and that is what dash gives for a mere redirection error.

bye() {
  [ -z "$reply" ] || printf '%s\n' "$reply"
  exit 0
}
reply=
trap bye 0                      # also where the shell itself gives up
trap '' HUP INT PIPE XFSZ       # a closed terminal must not cost the event; a file at its size limit must not kill us
exec 2>/dev/null
umask 077
caller_path=${PATH-}
PATH=/usr/bin:/bin:$caller_path # cat shall be cat

max_bytes=67108864 # 64 MiB of one file, header included; MAX_FILE_BYTES in facts.ts
read_seconds=5     # some hosts never close stdin; what came until then is the event
nl='
'

drain=no
while :; do
  case ${1-} in
    -d) drain=yes ;;
    -w) drain=if-waiting ;;
    -?*) ;;
    *) break ;;
  esac
  shift
done
source=${1-} event=${2-} reply=${3-}

# What `enable` wrote beside this file. `command` keeps a missing or damaged one from ending the shell.
state='' node='' program=''
case $0 in
  */*) here=${0%/*} ;;
  *) here=. ;;
esac
# shellcheck source=/dev/null
[ ! -r "$here/hook.conf" ] || command . "$here/hook.conf"

# The same rules as src/config/places.ts.
case ${OPENHOOK_OTEL_HOME-} in
  /*) state=$OPENHOOK_OTEL_HOME ;;
esac
if [ -z "$state" ]; then
  case ${XDG_STATE_HOME-} in
    /*) state=$XDG_STATE_HOME/openhook-otel ;;
    *)
      case ${HOME-} in
        /*)
          if [ -d /System/Library/CoreServices ]; then
            state="$HOME/Library/Application Support/openhook-otel"
          else
            state=$HOME/.local/state/openhook-otel
          fi
          ;;
      esac
      ;;
  esac
fi
inbox=$state/inbox

head="openhook-inbox 1$nl"
keep() { # name value
  case $2 in
    '' | *"$nl"*) ;;
    *) head=$head$1=$2$nl ;;
  esac
}
keep source "$source"
keep event "$event"
keep ppid "$PPID"
keep pid "$$"
keep cwd "${PWD-}"
keep env.CLAUDE_CODE_SESSION_ID "${CLAUDE_CODE_SESSION_ID-}"
keep env.CLAUDE_PID "${CLAUDE_PID-}"
keep env.CLAUDE_PROJECT_DIR "${CLAUDE_PROJECT_DIR-}"
keep env.KIRO_SESSION_ID "${KIRO_SESSION_ID-}"
keep env.CRUSH_SESSION_ID "${CRUSH_SESSION_ID-}"
keep env.OPENHOOK_SESSION_ID "${OPENHOOK_SESSION_ID-}"
keep env.CODEX_HOME "${CODEX_HOME-}"
keep env.CRUSH "${CRUSH-}"
keep env.CURSOR_VERSION "${CURSOR_VERSION-}"

# A closed stdin or a keyboard is no payload.
if [ -t 0 ]; then exec </dev/null; fi
{ :; } 4<&0 || exec </dev/null

# Copies fd 4 to stdout, bounded in size and time; sets `end` to whole, late or cut.
# `timeout` would be shorter, but lies in cat's way (two forks and two execs in a row), and macOS has none. Here the
# sleeper is waited for and the reader ends it, so that the usual path depends on no signal handler (older shells can
# miss a signal just before they block in `wait`) and leaves no orphan behind for a container without an init.
copy() {
  # shellcheck disable=SC2217 # it is not to hold the agent's pipe
  LC_ALL=C sleep "$read_seconds" </dev/null >/dev/null 4<&- &
  sleeper=$!
  (
    trap 'kill -KILL "$!"; wait "$!"; exit 143' TERM
    # bash counts in 1024 bytes unless told to be posix, the others in 512
    if [ -z "${BASH_VERSION-}" ]; then
      ulimit -f $((max_bytes / 512))
    else
      # shellcheck disable=SC3040 # only bash comes here
      set +o posix && ulimit -f $((max_bytes / 1024))
    fi
    LC_ALL=C cat <&4 4<&- & # C: nobody opens a dozen locale files
    wait "$!"
    status=$?
    # KILL: for TERM a bash that has not come to its exec yet runs our EXIT trap, into the event
    kill -KILL "$sleeper"
    exit "$status"
  ) &
  reader=$!
  wait "$sleeper" && kill "$reader"
  wait "$reader"
  case $? in
    0) end=whole ;;
    143) end=late ;; # time is up; cat does not buffer, so all that came is on disk
    *) end='cut' ;;
  esac
}

# The file stands under its last name from the start: the drain takes it only when the end line is there, which saves
# the fork of an `mv` and also shows what a crash tore. O_EXCL (set -C) makes the name ours even when a pid comes back
# or two containers share the directory. Once the drain has renamed a file away, its name may be used again.
written=no
record() {
  n=0 made=no
  set -C
  while [ "$n" -lt 1000 ]; do
    file=$inbox/$PPID-$$-$n.evt opened=no
    if [ ! -e "$file" ]; then
      {
        opened=yes
        set +C
        printf '%s\n' "$head" && copy && printf '\nend=%s\n' "$end" && written=yes
      } >"$file" 4<&0
    fi
    if [ "$opened" = yes ]; then
      [ "$written" = yes ] || rm -f "$file" # no room on the disk: leave no rubbish on top
      return
    fi
    if [ -e "$file" ]; then
      n=$((n + 1))
    elif [ "$made" = no ]; then
      made=yes
      mkdir -p "$inbox" || return
    else
      return
    fi
  done
}
end=unread
[ -z "$state" ] || record

# What nobody read would come back to the agent as a broken pipe.
case $end in
  unread | cut) { copy >/dev/null; } 4<&0 ;;
esac

if [ "$drain" = if-waiting ]; then
  set +f -- "$inbox"/*.evt
  [ "$#" -lt 2 ] || drain=yes
fi
if [ "$drain" = yes ] && [ "${OPENHOOK_OTEL_DRAIN-}" != off ] && [ -n "$node" ] && [ -f "$program" ]; then
  # Answered and let go of before the fork: the agent sees the end of our output when we exit, not when the child runs.
  [ -z "$reply" ] || printf '%s\n' "$reply"
  reply=
  exec </dev/null >/dev/null
  (
    # Its own session, none of the agent's files, pipes or directories: it outlives the agent and delays nobody.
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    trap - HUP INT PIPE XFSZ
    cd / && PATH=$caller_path
    [ -x "$node" ] || node=node
    if command -v setsid; then exec setsid "$node" "$program" drain --quiet; fi
    if command -v perl; then
      exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$node" "$program" drain --quiet
    fi
    exec nohup "$node" "$program" drain --quiet
  ) &
fi
