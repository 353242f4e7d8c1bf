#!/bin/sh
# What an agent starts for every event: puts stdin into one file of the inbox, answers, exits 0. Nothing else.
#
#   hook [-d|-w|-s] [-e] <source> [<event> [<reply>]]
#   hook [-d|-w|-s] -a <source> [<event> [<reply>]] <payload>
#     -d       start a drain afterwards           -w  start one only if other files wait
#     -s       start one in some seconds, for all events until then
#     -e       the payload is in USER_PROMPT      -a  it is the last argument; stdin is left alone in both cases
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
soon_seconds=5     # many calls in a loop are one drain
read_seconds=5     # some hosts never close stdin; what came until then is the event
nl='
'

drain=no from=stdin payload=
while :; do
  case ${1-} in
    -d) drain=yes ;;
    -w) drain=if-waiting ;;
    -s) drain=soon ;;
    -e) from=variable payload=${USER_PROMPT-} ;;
    -a) from=argument ;;
    -?*) ;;
    *) break ;;
  esac
  shift
done
if [ "$from" = argument ]; then
  for payload; do :; done
  case $# in # it is the last one, wherever the others stop
    0 | 1) set -- ;;
    2) set -- "$1" ;;
    3) set -- "$1" "$2" ;;
  esac
fi
source=${1-} event=${2-} reply=${3-}

# What `enable` wrote beside this file. `command` keeps a missing or damaged one from ending the shell.
state='' node='' program=''
case $0 in
  */*) here=${0%/*} ;;
  *) here=. ;;
esac
# shellcheck source=/dev/null
[ ! -r "$here/hook.conf" ] || command . "$here/hook.conf"

# The same rules as src/config/places.ts. A folder of the repository's can be the word of its .env: not where `enable` has
# written another one
case ${OPENHOOK_OTEL_HOME-} in
  "${PWD:-/dev/null}" | "${PWD:-/dev/null}"/* | /proc/* | */../*) [ -n "$state" ] || state=$OPENHOOK_OTEL_HOME ;;
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
head_line() { # name value: left out where it is empty or holds a newline
  case $2 in
    '' | *"$nl"*) ;;
    *) head=$head$1=$2$nl ;;
  esac
}
head_line source "$source"
head_line event "$event"
head_line ppid "$PPID"
head_line pid "$$"
head_line cwd "${PWD-}"
# variables: written by scripts/hook-variables.mjs
head_line env.HOME "${HOME-}"
head_line env.CLAUDE_CODE_SESSION_ID "${CLAUDE_CODE_SESSION_ID-}"
head_line env.CLAUDE_PID "${CLAUDE_PID-}"
head_line env.CLAUDE_PROJECT_DIR "${CLAUDE_PROJECT_DIR-}"
head_line env.CLAUDE_CONFIG_DIR "${CLAUDE_CONFIG_DIR-}"
head_line env.COPILOT_HOME "${COPILOT_HOME-}"
head_line env.COPILOT_CLI "${COPILOT_CLI-}"
head_line env.COPILOT_CLI_BINARY_VERSION "${COPILOT_CLI_BINARY_VERSION-}"
head_line env.CLINE_DIR "${CLINE_DIR-}"
head_line env.CLINE_DATA_DIR "${CLINE_DATA_DIR-}"
head_line env.CLINE_SESSION_DATA_DIR "${CLINE_SESSION_DATA_DIR-}"
head_line env.CURSOR_VERSION "${CURSOR_VERSION-}"
head_line env.CODEX_HOME "${CODEX_HOME-}"
head_line env.CODEX_THREAD_ID "${CODEX_THREAD_ID-}"
head_line env.XDG_DATA_HOME "${XDG_DATA_HOME-}"
head_line env.OPENCODE_DB "${OPENCODE_DB-}"
head_line env.GEMINI_SESSION_ID "${GEMINI_SESSION_ID-}"
head_line env.GEMINI_CLI_HOME "${GEMINI_CLI_HOME-}"
head_line env.KIRO_HOME "${KIRO_HOME-}"
head_line env.KIRO_SESSION_ID "${KIRO_SESSION_ID-}"
head_line env.KIRO_VERSION "${KIRO_VERSION-}"
head_line env.CRUSH "${CRUSH-}"
head_line env.CRUSH_SESSION_ID "${CRUSH_SESSION_ID-}"
head_line env.OPENHOOK_SESSION_ID "${OPENHOOK_SESSION_ID-}"
# /variables

# A closed stdin or a keyboard is no payload; one that comes another way leaves stdin to whoever it belongs to.
if [ "$from" != stdin ] || [ -t 0 ]; then exec </dev/null; fi
{ :; } 4<&0 || exec </dev/null

# A pid comes back, a pid with its start time does not: field 22 of stat, 20 from the end of the name, which may hold
# anything, newlines too. Systems without /proc do without. Shells read it byte by byte, so cat works meanwhile.
ppid_start=
look_at_parent() {
  if [ -z "$ppid_start" ] && [ -r "/proc/$PPID/stat" ]; then
    stat=
    while IFS= read -r line; do stat=$line; done <"/proc/$PPID/stat"
    # shellcheck disable=SC2086 # it is to be split
    twentieth ${stat##*) }
  fi
}
twentieth() { ppid_start=${20-}; }

# Copies fd 4 to stdout, bounded in size and to <seconds>; sets `end` to whole, late or cut.
# `timeout` would be shorter, but lies in cat's way (two forks and two execs in a row), and macOS has none. Here the
# sleeper is waited for and the reader ends it, so that the usual path depends on no signal handler (older shells can
# miss a signal just before they block in `wait`) and leaves no orphan behind for a container without an init.
copy() { # seconds
  # shellcheck disable=SC2217 # it is not to hold the agent's pipe
  LC_ALL=C sleep "$1" </dev/null >/dev/null 4<&- &
  sleeper=$!
  (
    trap 'kill -KILL "$sleeper"' 0 # also where no cat could be started: a process too many
    trap 'kill -KILL "$!"; wait "$!"; trap - 0; exit 143' TERM
    # bash counts in 1024 bytes unless told to be posix, the others in 512
    if [ -z "${BASH_VERSION-}" ]; then
      ulimit -f $((max_bytes / 512))
    else
      # shellcheck disable=SC3040 # only bash comes here
      set +o posix && ulimit -f $((max_bytes / 1024))
    fi
    LC_ALL=C cat <&4 4<&- & # C: nobody opens a dozen locale files
    # KILL: for TERM a bash that has not come to its exec yet runs our EXIT trap, into the event
    wait "$!"
  ) &
  reader=$!
  look_at_parent
  wait "$sleeper"
  case $? in
    0 | 1) kill "$reader" ;; # 1: it knows no fractions
  esac
  wait "$reader"
  case $? in
    0) end=whole ;;
    143) end=late ;; # time is up; cat does not buffer, so all that came is on disk
    *) end='cut' ;;
  esac
}

# The payload of this event to stdout, which is $file. Some hosts put it into USER_PROMPT and leave stdin open, silent: where
# that variable could be one, stdin has a moment to begin, then the variable is believed.
take() {
  case $from-${USER_PROMPT-unset} in
    stdin-'{'*) begin_seconds=0.25 ;;
    stdin-) begin_seconds=1 ;;
    stdin-*)
      copy "$read_seconds"
      return
      ;;
    *)
      look_at_parent
      printf '%s' "$payload" && end=whole
      return
      ;;
  esac
  before=$(wc -c <"$file")
  copy "$begin_seconds"
  if [ "$before" = "$(wc -c <"$file")" ]; then
    case $end-$USER_PROMPT in
      *-'{'*) printf '%s' "$USER_PROMPT" && end=whole ;;
    esac
  elif [ "$end" = late ]; then
    copy "$read_seconds"
  fi
}

# The file stands under its last name from the start: the drain takes it only when the end line is there, which saves
# the fork of an `mv` and also shows what a crash tore. O_EXCL (set -C) makes the name ours even when a pid comes back
# or two containers share the directory. Once the drain has renamed a file away, its name may be used again.
written=no
# No room on the disk: what is left has no bytes, and says that there was an event. A pid comes back before a drain has.
leave_mark() {
  mark=${file%.evt}
  while [ -e "$mark.lost" ]; do mark=$mark-; done
  { { :; } >"$file" && mv -f "$file" "$mark.lost"; } || rm -f "$file"
}
record() {
  n=0 made=no
  set -C
  while [ "$n" -lt 1000 ]; do
    file=$inbox/$PPID-$$-$n.evt opened=no
    if [ ! -e "$file" ]; then
      {
        opened=yes
        set +C
        printf '%s\n' "$head" && take && printf '\nend=%s%s\n' "$end" "${ppid_start:+ $ppid_start}" && written=yes
      } >"$file" 4<&0
    fi
    if [ "$opened" = yes ]; then
      [ "$written" = yes ] || leave_mark
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

# Removed without `disable` (`npm uninstall`): an update is over in minutes, and a week of events is kept for whoever puts the
# program back; then nothing is written any more. A drain takes the mark away.
gone=$state/program.gone
if [ -n "$state" ] && [ -n "$program" ] && [ ! -f "$program" ]; then
  if [ ! -e "$gone" ]; then
    { :; } >"$gone"
  elif [ -n "$(find "$gone" -mtime +6)" ]; then
    state=
  fi
fi

end=unread
[ -z "$state" ] || record

# What nobody read would come back to the agent as a broken pipe.
case $end in
  unread | cut) { copy "$read_seconds" >/dev/null; } 4<&0 ;;
esac

if [ "$drain" = if-waiting ]; then
  set +f -- "$inbox"/*.evt
  [ "$#" -lt 2 ] || drain=yes
fi
case $drain in
  yes | soon) ;;
  *) node='' ;;
esac
if [ "${OPENHOOK_OTEL_DRAIN-}" != off ] && [ -n "$node" ] && [ -f "$program" ]; then
  # Answered and let go of before the fork: the agent sees the end of our output when we exit, not when the child runs.
  [ -z "$reply" ] || printf '%s\n' "$reply"
  reply=
  exec </dev/null >/dev/null
  (
    # Its own session, none of the agent's files, pipes or directories: it outlives the agent and delays nobody.
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    if [ "$drain" = soon ]; then
      # the first one waits for all; one that died over it is waited for no longer than a minute
      soon=$state/drain.soon
      set -C
      { :; } >"$soon" || [ -n "$(find "$soon" -mmin +1)" ] || exit
      LC_ALL=C sleep "$soon_seconds"
      rm -f "$soon"
    fi
    trap - HUP INT PIPE XFSZ
    # A module that is to be loaded first is a program of somebody's, and is not found from where a drain works
    options=''
    set -f
    for option in ${NODE_OPTIONS-}; do
      case $option in
        --use-*-ca | --use-env-proxy | --network-family-* | --no-network-family-* | --dns-result-order=* | --max-*-size=* | \
          --tls-min-* | --tls-max-* | --tls-cipher-*) options="$options $option" ;;
      esac
    done
    # Its environment is the agent's, and part of that can be the repository's: src/drain/repository-environment.ts. A desktop's
    # knows nothing of the folder that `enable` was told in a terminal
    export NODE_OPTIONS="$options" OPENHOOK_OTEL_HOOK_FOLDER="${PWD-}" OPENHOOK_OTEL_HOME="$state"
    cd / && PATH=$caller_path
    if [ ! -x "$node" ]; then
      # An update has moved it. What a desktop starts finds little on its PATH: where package managers keep one
      node=node
      for folder in /opt/homebrew /usr/local /home/linuxbrew/.linuxbrew /opt/local /run/current-system/sw \
        /nix/var/nix/profiles/default "${HOME-}/.nix-profile" "${HOME-}/.volta"; do
        PATH=$PATH:$folder/bin
      done
      PATH=$PATH:${HOME-}/.local/share/mise/shims:${HOME-}/.asdf/shims
    fi
    # In the background memory counts more than time: half of it for a quarter more work, in a long drain
    set -- --max-semi-space-size=2 --optimize-for-size
    if command -v setsid; then exec setsid "$node" "$@" "$program" drain --quiet; fi
    if command -v perl; then
      exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$node" "$@" "$program" drain --quiet
    fi
    exec nohup "$node" "$@" "$program" drain --quiet
  ) &
fi
