#!/bin/sh
# An agent starts this for every event: it writes stdin to one file in the inbox, prints the reply and exits 0.
#
#   hook [-d|-w|-s] [-e] <source> [<event> [<reply>]]
#   hook [-d|-w|-s] -a <source> [<event> [<reply>]] <payload>
#     -d       start a drain afterwards           -w  start one only if other files are queued
#     -s       start one in some seconds, for all events until then
#     -e       the payload is in USER_PROMPT      -a  it is the last argument; stdin is not read in either case
#     --trial=<folder>  write there instead of to the recorded folder; for doctor
#     <reply>  printed unchanged, with a newline; without it stdout stays empty
#
# Where agents run `sh`, that shell reads a copy of this file, `hook.sh`, which saves the start of a second one. The first word is then
# the path of `hook`.
#
# The agent waits for this, so usually it starts only cat; the rest is builtins, and subshells that do nothing. Shells parse a file
# bit by bit: what only some events need is at the end, after the `exit` of the others.
# It must never fail: exit 2 blocks a tool call, and dash exits with 2 after a redirection error.

# The options of an agent's shell
set +euf
[ -z "${ZSH_VERSION-}" ] || emulate sh

bye() {
  [ -z "$reply" ] || printf '%s\n' "$reply"
  exit 0
}
reply=
trap bye 0                      # also if the shell itself ends with an error
trap '' HUP INT PIPE XFSZ       # a closed terminal must not lose the event; a file at its size limit must not kill us
exec 2>/dev/null
umask 077
caller_path=${PATH-}
PATH=/usr/bin:/bin:$caller_path # the real cat

max_bytes=67108864 # 64 MiB for one file, with header; MAX_FILE_BYTES in inbox-file.ts
soon_seconds=5     # one drain for many calls in a loop
read_ms=5000       # some hosts never close stdin; what was read until then is the event
nl='
'

case ${1-}:$0 in
  /*)
    [ -x "$1" ] || exit 0 # removed by a version that has no copy
    here=${1%/*}
    shift
    ;;
  *:*/*) here=${0%/*} ;;
  *) here=. ;;
esac
drain=no from=stdin payload='' trial=''
while :; do
  case ${1-} in
    -d) drain=yes ;;
    -w) drain=if-waiting ;;
    -s) drain=soon ;;
    -e) from=variable payload=${USER_PROMPT-} ;;
    -a) from=argument ;;
    --trial=*) trial=${1#*=} ;;
    -?*) ;;
    *) break ;;
  esac
  shift
done
source=${1-} event=${2-} reply=${3-}
if [ "$from" = argument ]; then
  for payload; do :; done
  # the payload is the last one, however many others there are
  case $# in 1) source= ;; 2) event= ;; 3) reply= ;; esac
fi

# What `enable` wrote beside this file. With `command`, a missing or damaged file does not end the shell.
state='' node='' program=''
# shellcheck source=/dev/null
[ ! -f "$here/hook.conf" ] || command . "$here/hook.conf"
# Opening a pipe would block, and a link leads elsewhere
is_plain() { [ -f "$1" ] && [ ! -h "$1" ]; }

# The folder that `enable` recorded. OPENHOOK_OTEL_HOME can come from a repository's .env, and is used only if there is no record.
# Otherwise the same rules as in src/config/places.ts.
state_from=recorded
[ -z "$trial" ] || state=$trial
if [ -z "$state" ]; then
  state_from=environment
  case ${OPENHOOK_OTEL_HOME-} in /*) state=$OPENHOOK_OTEL_HOME ;; esac
fi
if [ -z "$state" ]; then
  folder=.local/state
  [ ! -d /System/Library/CoreServices ] || folder="Library/Application Support"
  case ${HOME-} in /*) state=$HOME/$folder/openhook-otel ;; esac
  case ${XDG_STATE_HOME-} in /*) state=$XDG_STATE_HOME/openhook-otel ;; esac
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
if [ -n "${HOME-}${OPENHOOK_BRIDGE-}${OPENHOOK_OTEL_PIPELINE-}${CLAUDE_CODE_SESSION_ID-}${CLAUDE_PID-}${CLAUDE_PROJECT_DIR-}${CLAUDE_CONFIG_DIR-}${COPILOT_HOME-}${COPILOT_CLI-}${COPILOT_CLI_BINARY_VERSION-}${CLINE_DIR-}${CLINE_DATA_DIR-}${CLINE_SESSION_DATA_DIR-}${CURSOR_VERSION-}${CODEX_HOME-}" ]; then
  head_line env.HOME "${HOME-}"; head_line env.OPENHOOK_BRIDGE "${OPENHOOK_BRIDGE-}"; head_line env.OPENHOOK_OTEL_PIPELINE "${OPENHOOK_OTEL_PIPELINE-}"; head_line env.CLAUDE_CODE_SESSION_ID "${CLAUDE_CODE_SESSION_ID-}"; head_line env.CLAUDE_PID "${CLAUDE_PID-}"; head_line env.CLAUDE_PROJECT_DIR "${CLAUDE_PROJECT_DIR-}"; head_line env.CLAUDE_CONFIG_DIR "${CLAUDE_CONFIG_DIR-}"; head_line env.COPILOT_HOME "${COPILOT_HOME-}"; head_line env.COPILOT_CLI "${COPILOT_CLI-}"; head_line env.COPILOT_CLI_BINARY_VERSION "${COPILOT_CLI_BINARY_VERSION-}"; head_line env.CLINE_DIR "${CLINE_DIR-}"; head_line env.CLINE_DATA_DIR "${CLINE_DATA_DIR-}"; head_line env.CLINE_SESSION_DATA_DIR "${CLINE_SESSION_DATA_DIR-}"; head_line env.CURSOR_VERSION "${CURSOR_VERSION-}"; head_line env.CODEX_HOME "${CODEX_HOME-}"
fi
if [ -n "${CODEX_THREAD_ID-}${XDG_DATA_HOME-}${OPENCODE_DB-}${KILO_DB-}${PI_CODING_AGENT_DIR-}${PI_CODING_AGENT_SESSION_DIR-}${AMP_DATA_DIR-}${GEMINI_SESSION_ID-}${GEMINI_CLI_HOME-}${KIRO_HOME-}${KIRO_SESSION_ID-}${KIRO_VERSION-}${QWEN_CODE_SESSION_ID-}${QWEN_HOME-}${QWEN_RUNTIME_DIR-}" ]; then
  head_line env.CODEX_THREAD_ID "${CODEX_THREAD_ID-}"; head_line env.XDG_DATA_HOME "${XDG_DATA_HOME-}"; head_line env.OPENCODE_DB "${OPENCODE_DB-}"; head_line env.KILO_DB "${KILO_DB-}"; head_line env.PI_CODING_AGENT_DIR "${PI_CODING_AGENT_DIR-}"; head_line env.PI_CODING_AGENT_SESSION_DIR "${PI_CODING_AGENT_SESSION_DIR-}"; head_line env.AMP_DATA_DIR "${AMP_DATA_DIR-}"; head_line env.GEMINI_SESSION_ID "${GEMINI_SESSION_ID-}"; head_line env.GEMINI_CLI_HOME "${GEMINI_CLI_HOME-}"; head_line env.KIRO_HOME "${KIRO_HOME-}"; head_line env.KIRO_SESSION_ID "${KIRO_SESSION_ID-}"; head_line env.KIRO_VERSION "${KIRO_VERSION-}"; head_line env.QWEN_CODE_SESSION_ID "${QWEN_CODE_SESSION_ID-}"; head_line env.QWEN_HOME "${QWEN_HOME-}"; head_line env.QWEN_RUNTIME_DIR "${QWEN_RUNTIME_DIR-}"
fi
if [ -n "${AUGMENT_CONVERSATION_ID-}${GOOSE_PATH_ROOT-}${CRUSH-}${CRUSH_SESSION_ID-}${CRUSH_PROJECT_DIR-}${OPENHANDS_CONVERSATIONS_DIR-}${OPENHANDS_PERSISTENCE_DIR-}${GROK_HOME-}${KIMI_CODE_HOME-}${VIBE_HOME-}${OPENHOOK_SESSION_ID-}${COPILOT_AGENT_SESSION_ID-}${CODEX_SESSION_ID-}${CODEX_TOOL_CALL_ID-}${OPENCODE_PID-}" ]; then
  head_line env.AUGMENT_CONVERSATION_ID "${AUGMENT_CONVERSATION_ID-}"; head_line env.GOOSE_PATH_ROOT "${GOOSE_PATH_ROOT-}"; head_line env.CRUSH "${CRUSH-}"; head_line env.CRUSH_SESSION_ID "${CRUSH_SESSION_ID-}"; head_line env.CRUSH_PROJECT_DIR "${CRUSH_PROJECT_DIR-}"; head_line env.OPENHANDS_CONVERSATIONS_DIR "${OPENHANDS_CONVERSATIONS_DIR-}"; head_line env.OPENHANDS_PERSISTENCE_DIR "${OPENHANDS_PERSISTENCE_DIR-}"; head_line env.GROK_HOME "${GROK_HOME-}"; head_line env.KIMI_CODE_HOME "${KIMI_CODE_HOME-}"; head_line env.VIBE_HOME "${VIBE_HOME-}"; head_line env.OPENHOOK_SESSION_ID "${OPENHOOK_SESSION_ID-}"; head_line env.COPILOT_AGENT_SESSION_ID "${COPILOT_AGENT_SESSION_ID-}"; head_line env.CODEX_SESSION_ID "${CODEX_SESSION_ID-}"; head_line env.CODEX_TOOL_CALL_ID "${CODEX_TOOL_CALL_ID-}"; head_line env.OPENCODE_PID "${OPENCODE_PID-}"
fi
if [ -n "${KILO_PID-}${PI_SESSION_ID-}${OPENHOOK_OTEL_PI_CALL-}${GEMINI_CLI-}${GROK_SESSION_ID-}" ]; then
  head_line env.KILO_PID "${KILO_PID-}"; head_line env.PI_SESSION_ID "${PI_SESSION_ID-}"; head_line env.OPENHOOK_OTEL_PI_CALL "${OPENHOOK_OTEL_PI_CALL-}"; head_line env.GEMINI_CLI "${GEMINI_CLI-}"; head_line env.GROK_SESSION_ID "${GROK_SESSION_ID-}"
fi
# /variables

# A closed stdin and a keyboard contain no payload; if the payload comes another way, stdin is not read.
if [ "$from" != stdin ] || [ -t 0 ]; then exec </dev/null; fi
{ :; } 4<&0 || exec </dev/null

# Pids are reused, a pid with its start time is unique: field 22 of stat, 20 after the end of the name, which can contain
# anything, including newlines. Skipped without /proc. Shells read it byte by byte, so do it while cat runs.
ppid_start='' origin=''
read_parent_start() {
  [ -z "$ppid_start" ] && [ -r "/proc/$PPID/stat" ] || return
  read_stat "$PPID"
  ppid_start=$start
  read_host
  find_agent
}
read_stat() { # pid: sets `stat`, `start` and `above`, the pid of its parent
  stat=
  while IFS= read -r line; do stat=$line; done <"/proc/$1/stat"
  # shellcheck disable=SC2086 # word splitting is intended
  fields ${stat##*\) }
}
fields() { above=${2-} start=${20-}; }
# Pids mean something only in one pid namespace of one running system. Kernels before 5.14 do not show the namespace.
read_host() {
  namespace='' boot=''
  { while read -r name value; do [ "$name" != ino: ] || namespace=$value; done </proc/self/fdinfo/9; } 9</proc/self/ns/pid
  read -r boot </proc/sys/kernel/random/boot_id
  [ -z "$namespace" ] || origin=" host=$namespace.$boot"
}
# Agents run hooks directly or through a shell: the agent is the first process above that is no shell
find_agent() {
  agent=$PPID
  while :; do
    case $stat in
      "$agent (sh) "* | "$agent (dash) "* | "$agent (bash) "* | "$agent (ash) "* | "$agent (busybox) "*) ;;
      "$agent (zsh) "* | "$agent (ksh"*") "* | "$agent (mksh) "* | "$agent (fish) "*) ;;
      "$agent "*) break ;;
      *) above=0 ;; # it ended in the meantime, or its name contains a newline
    esac
    agent=$above
    [ "${agent:-0}" -gt 1 ] || { agent=0 start=0 && break; }
    read_stat "$agent"
  done
  [ "$agent" = "$PPID" ] || origin="$origin agent=$agent.$start"
}

# Whether cat ends within a time. Usually it ends while one or two subshells do, each 0.1 ms; only then does the shell pause.
# `timeout` would delay cat (two forks and two execs in a row), and macOS has none. A sleeper beside cat would cost as much as cat, and
# a shell waits for one process: the other would have to be ended by a signal, which older shells miss just before they wait.
ended_within() { # milliseconds
  waited=0 pause=2
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    (:)
    kill -0 "$reader" || return 0
  done
  # Every pause is half as long again as the last one, so the hook ends soon after the agent has closed its end
  while [ "$waited" -lt "$1" ]; do
    [ "$pause" -lt $(($1 - waited)) ] || pause=$(($1 - waited))
    digits=00$pause
    # Some accept no fractions
    LC_ALL=C sleep "0.${digits#"${digits%???}"}" || { LC_ALL=C sleep 1 && pause=1000; }
    kill -0 "$reader" || return 0
    waited=$((waited + pause)) pause=$((pause < 400 ? pause * 3 / 2 : 500))
  done
  return 1
}
# Copies fd 4 to stdout, limited in size and time; sets `end` to whole, late or cut.
copy() { # milliseconds for the first byte; `before` is the size of $file if that is less than for all of it
  {
    trap - 0
    # bash counts in units of 1024 bytes unless in posix mode, the others in 512
    if [ -z "${BASH_VERSION-}" ]; then
      ulimit -f $((max_bytes / 512))
    else
      # shellcheck disable=SC3040 # only bash runs this
      set +o posix && ulimit -f $((max_bytes / 1024))
    fi
    LC_ALL=C exec cat <&4 4<&- # C: avoids opening a dozen locale files
  } &
  reader=$!
  read_parent_start
  end='cut'
  # KILL: on TERM, a bash before its exec runs our EXIT trap, which would write into the event. cat does not buffer, so everything
  # read is on disk
  ended_within "$1" || { has_grown && ended_within "$read_ms"; } || { kill -KILL "$reader" && end=late; }
  ! wait "$reader" || end=whole
}
before=''
has_grown() { [ -n "$before" ] && [ "$before" != "$(wc -c <"$file")" ]; }

# Writes the payload to stdout, which is $file. Some hosts put it into USER_PROMPT and leave stdin open without writing: if that
# variable is set, wait a moment for stdin, then use the variable.
write_payload() {
  begin_ms=$read_ms
  case $from-${USER_PROMPT-unset} in
    stdin-'{'*) begin_ms=250 before=$(wc -c <"$file") ;;
    stdin-) begin_ms=1000 before=$(wc -c <"$file") ;;
    stdin-*) ;;
    *)
      read_parent_start
      printf '%s' "$payload" && end=whole
      return
      ;;
  esac
  copy "$begin_ms"
  [ "$begin_ms" != 250 ] || has_grown || { printf '%s' "$USER_PROMPT" && end=whole; }
}

# The file has its final name from the start: the drain reads it only if it has an end line. This saves the fork of an `mv`, and
# shows files torn by a crash. O_EXCL (set -C) keeps the name ours even if a pid is reused or two containers share the
# directory. After the drain has renamed the file, its name can be used again.
written=no
# Disk full: leave an empty file that counts as a lost event. Under another name: pids are reused before a drain runs.
leave_mark() {
  mark=${file%.evt}
  while [ -e "$mark.lost" ]; do mark=$mark-; done
  { { :; } >"$file" && mv -f "$file" "$mark.lost"; } || rm -f "$file"
}
# No room for a file: one byte in a file that exists. -w: the reason is not a missing permission
count_lost() {
  if [ -w "$inbox" ] && is_plain "$state/lost-events"; then printf . >>"$state/lost-events"; fi
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
        printf '%s\n' "$head" && write_payload && printf '\nend=%s%s\n' "$end" "${ppid_start:+ $ppid_start$origin}" && written=yes
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
      count_lost
      return
    fi
  done
}

# The program was removed without `disable` (`npm uninstall`). An update takes minutes, and the user may reinstall: keep a week of
# events, then write nothing more. A drain removes the mark.
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

# Read the rest, so that the agent gets no broken pipe.
case $end in unread | cut) { copy "$read_ms" >/dev/null; } 4<&0 ;; esac

# Most events start nothing
receiver=$state/native/receiver
if [ "$drain" = no ] && [ ! -e "$state/bridge.json" ] && [ ! -e "$receiver.json" ]; then exit 0; fi

# Whether the process runs that a file names. In a container without init a killed one stays, as a zombie
runs() {
  live='' stat=''
  if is_plain "$1"; then read -r live <"$1"; fi
  case $live in '' | *[!0-9]*) return 1 ;; esac
  read -r stat <"/proc/$live/stat"
  case $stat in *') Z '*) return 1 ;; esac
  kill -0 "$live"
}

if [ "$drain" = if-waiting ]; then
  # The processes above the agent show whose command started it. A shell takes half a millisecond for each, so a subshell reads them, and the
  # agent does not wait. Not process 1, which adopts those whose parents end. The same in hook-processes.ts and inbox.js
  noted=$state/processes/${agent-}.${start-}.${namespace-}
  if [ "$written$trial" = yes ] && [ -n "$origin" ] && [ "$agent" -gt 1 ] && [ ! -e "$noted" ]; then
    (
      exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
      chain=$agent.$start
      for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        [ "${above:-0}" -gt 1 ] || break
        pid=$above && read_stat "$pid"
        [ -n "$start" ] || break
        chain="$chain $pid.$start"
      done
      read -r uptime _ </proc/uptime && { [ -d "$state/processes" ] || mkdir -p "$state/processes"; }
      set -C && printf '%s\n' "host=$namespace.$boot up=$uptime $chain" >"$noted"
    ) </dev/null >/dev/null &
  fi
  set +f -- "$inbox"/*.evt
  [ "$#" -lt 2 ] || drain=yes
fi
# The user allowed the bridge to run commands: every event starts a drain, unless one reads new events by itself, or the agent is
# run by such a command
bridge=no
if [ -e "$state/bridge.json" ] && [ -z "${OPENHOOK_BRIDGE-}" ]; then bridge=yes; fi
case $bridge-$drain in
  *-yes | *-soon) ;;
  yes-*) drain=events && ! runs "$state/bridge.live" || drain=none ;;
  *) drain=none ;;
esac
start_node() { # the program's arguments
  if [ "${OPENHOOK_OTEL_DRAIN-}" = off ] || [ -z "$node" ] || [ ! -f "$program" ]; then return 1; fi
  # Reply and close stdout before the fork: the agent sees the end of our output when we exit, not when the child does.
  [ -z "$reply" ] || printf '%s\n' "$reply"
  reply=
  exec </dev/null >/dev/null
  (
    # Own session, without the agent's files, pipes and directories: it outlives the agent and delays nothing.
    exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
    if [ "$1-$drain" = drain-soon ]; then
      # the first hook waits for all of them; if it was killed, others take over after a minute
      soon=$state/drain.soon
      set -C
      # If it does not exist, the disk has no room for it
      { :; } >"$soon" || [ ! -e "$soon" ] || [ -n "$(find "$soon" -mmin +1)" ] || exit
      LC_ALL=C sleep "$soon_seconds"
      rm -f "$soon"
    fi
    trap - HUP INT PIPE XFSZ
    # The drain checks first whether the options are the user's: with a heap of 1 MB it could not run. Never pass on preloaded modules:
    # they run foreign code, and are not found from a drain's working directory
    options=''
    set -f
    for option in ${NODE_OPTIONS-}; do
      case $option in
        # allowed options: written by scripts/hook-variables.mjs
        --use-*-ca | --use-env-proxy | --network-family-* | --no-network-family-* | --dns-result-order=* | --max-*-size=* | --tls-min-* | --tls-max-* | --tls-cipher-*) options="$options $option" ;;
        # /allowed options
      esac
    done
    # The environment is the agent's, and parts of it can be the repository's: see src/collect/drain/repository-environment.ts. A desktop's
    # does not contain a folder that was set in the terminal in which `enable` ran
    export NODE_OPTIONS='' OPENHOOK_OTEL_HOOK_NODE_OPTIONS="$options" OPENHOOK_OTEL_HOOK_FOLDER="${PWD-}"
    export OPENHOOK_OTEL_HOOK_STATE="$state_from" OPENHOOK_OTEL_HOME="$state"
    # They act before the first line of the program
    # startup variables: written by scripts/hook-variables.mjs
    unset NODE_COMPILE_CACHE NODE_ICU_DATA NODE_PATH NODE_REDIRECT_WARNINGS NODE_V8_COVERAGE OPENSSL_CONF OPENSSL_ENGINES OPENSSL_MODULES
    # /startup variables
    # A service of macOS can have none
    cd / && PATH=${caller_path:-/usr/bin:/bin}
    if [ ! -x "$node" ]; then
      # An update has moved it. Programs started from a desktop have a short PATH: add the folders of package managers
      node=node
      for folder in /opt/homebrew /usr/local /home/linuxbrew/.linuxbrew /opt/local /run/current-system/sw \
        /nix/var/nix/profiles/default "${HOME-}/.nix-profile" "${HOME-}/.volta"; do
        PATH=$PATH:$folder/bin
      done
      PATH=$PATH:${HOME-}/.local/share/mise/shims:${HOME-}/.asdf/shims
    fi
    # A long drain needs half the memory for a quarter more work, and a short one ends before its heap is collected
    set -- --max-semi-space-size=2 --optimize-for-size --initial-heap-size=48 "$program" "$@"
    if command -v setsid; then exec setsid "$node" "$@"; fi
    if command -v perl; then exec perl -e 'use POSIX (); POSIX::setsid(); exec @ARGV' "$node" "$@"; fi
    exec nohup "$node" "$@"
  ) &
}
note() { # file: names the started process in it
  if [ ! -e "$1" ] || is_plain "$1"; then printf '%s\n' "$!" >|"$1"; fi
}
# Agents export their own telemetry: any event starts the receiver if none runs; if another program has its port, only with a drain
if [ -e "$receiver.json" ] && ! runs "$receiver.live" && [ "$live-$drain" != 'port taken-none' ]; then
  ! start_node receive --quiet || note "$receiver.live"
fi
case $bridge-$drain in
  *-none) ;;
  yes-events) ! start_node drain --quiet --events || note "$state/bridge.live" ;;
  yes-yes) ! start_node drain --quiet || note "$state/bridge.live" ;;
  *) start_node drain --quiet ;;
esac
exit 0 # also where a shell reads this file, whose next command would start it again
