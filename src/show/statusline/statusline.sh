#!/bin/sh
# Prints one line: what this session and today cost, how full the context is, and how much of the limits is used.
#
#   statusline            for shells, tmux and others: reads nothing from stdin
#   statusline <agent>    for an agent that puts JSON on stdin, in the form of line.ts
#
# The figures are in a small file that the last drain wrote, so that neither Node nor the store is needed: see summary.ts. line.ts
# prints the same for Windows; test/statusline compares the two. Forks only for `date`.

exec 2>/dev/null
umask 077
LC_ALL=C
PATH=/usr/bin:/bin:${PATH-}
stale_seconds=600 # STALE_MS in line.ts

state=''
case $0 in
  */*) here=${0%/*} ;;
  *) here=. ;;
esac
# shellcheck source=/dev/null
[ ! -f "$here/hook.conf" ] || command . "$here/hook.conf"
# Opening a pipe would block, and a link leads elsewhere
is_plain() { [ -f "$1" ] && [ ! -h "$1" ]; }
now=$(date +%s)

agent=${1-} input=''
case $agent in
  *[!a-z0-9-]*) agent='' ;;
esac
if [ -n "$agent" ] && [ ! -t 0 ]; then
  while IFS= read -r line || [ -n "$line" ]; do input=$input$line; done
fi

# One pass over the text between quotes: patterns such as ${x#*y} take quadratic time. A key is followed by text that begins with a
# colon, and cannot be part of a string, in which each quote comes after a backslash.
session='' model='' own='' context='' five_hour='' five_hour_reset='' seven_day='' seven_day_reset=''
number() { # text: sets `value`; empty if it is no plain number
  value=${1%%[!0-9.]*}
  case $value in
    *.*.* | .*) value='' ;;
  esac
}
read_input() { # json
  before='' within='' awaited=''
  set -f
  IFS='"'
  for token in $1; do
    case $awaited in
      session) session=$token ;;
      model) model=$token ;;
    esac
    awaited=''
    case $token in
      :*)
        value=${token#:}
        value=${value# }
        case $before in
          session_id) awaited=session ;;
          display_name) awaited=model ;;
          context_window | five_hour | seven_day) within=$before ;;
          total_cost_usd) number "$value" && own=$value ;;
          used_percentage)
            number "$value"
            case $within in
              context_window) context=$value ;;
              five_hour) five_hour=$value ;;
              seven_day) seven_day=$value ;;
            esac
            ;;
          resets_at)
            number "$value"
            case $within in
              five_hour) five_hour_reset=${value%%.*} ;;
              seven_day) seven_day_reset=${value%%.*} ;;
            esac
            ;;
        esac
        case $within-$token in
          context_window-*) ;; # it contains other objects
          *\}*) within='' ;;
        esac
        ;;
    esac
    before=$token
  done
  unset IFS
  # Names with escapes or other characters could change the terminal
  case $model in
    *[!\ -~]* | *\\*) model='' ;;
  esac
}

# `2h 13m`, `3d 4h`
time_left() { # seconds
  minutes=$((($1 + 59) / 60))
  if [ "$minutes" -ge 1440 ]; then
    left="$((minutes / 1440))d $((minutes % 1440 / 60))h"
  elif [ "$minutes" -ge 60 ]; then
    left="$((minutes / 60))h $((minutes % 60))m"
  else
    left=${minutes}m
  fi
}

out=''
add() { out=$out${out:+ | }$1; }
# After its reset, how much of a limit is used is unknown
add_limit() { # label percent reset
  case $2-$3 in
    -* | *- | *[!0-9.-]*) return ;;
  esac
  if [ "$3" -gt "$now" ]; then
    time_left $(($3 - now))
    add "$1 ${2%%.*}% ($left)"
  else
    add "$1 ?"
  fi
}

[ -z "$input" ] || read_input "$input"

# Written by the last drain
version='' at=0 clock='' until=0 today='?' budget='' latest='' cost='' limits='' end=no
if [ -n "$state" ] && is_plain "$state/statusline.txt"; then
  while read -r key first rest; do
    case $key in
      openhook-otel-statusline) version=$first ;;
      at) at=$first clock=$rest ;;
      until) until=$first ;;
      today) today=$first ;;
      budget) budget="$first $rest" ;;
      latest) latest="$rest ($first)" ;;
      limit) limits="$limits$first $rest
" ;;
      session) [ "$first" != "$agent/$session" ] || cost=$rest ;;
      end) end=yes ;;
    esac
  done <"$state/statusline.txt"
fi
age=''
if [ "$end-$version" != yes-1 ]; then
  today='?' budget='' latest='' cost='' limits=''
elif [ "$until" -le "$now" ]; then
  today='?' budget=${budget:+? left}
elif [ $((at + stale_seconds)) -lt "$now" ]; then
  age=" (as of $clock)"
fi

if [ -z "$agent" ]; then
  add "$today today$age"
  [ -z "$budget" ] || add "$budget this month"
  [ -z "$latest" ] || add "latest session $latest"
  while read -r name label percent reset; do
    [ -z "$name" ] || add_limit "$name $label" "$percent" "$reset"
  done <<LIMITS
$limits
LIMITS
  [ -z "$limits" ] || add 'list prices'
  printf '%s\n' "$out"
  exit 0
fi

if [ -z "$cost" ]; then
  # The agent's own estimate, until the store has the session
  cost='?'
  [ -z "$own" ] || cost=$(printf '~$%.2f' "$own")
fi
[ -z "$model" ] || add "$model"
add "$cost session"
add "$today today$age"
[ -z "$budget" ] || add "$budget this month"

context=${context%%.*}
add "context ${context:-?}${context:+%}"
add_limit 5h "$five_hour" "$five_hour_reset"
add_limit 7d "$seven_day" "$seven_day_reset"
# Only subscriptions have limits, and their costs are not what the user pays
case $five_hour-$five_hour_reset+$seven_day-$seven_day_reset in
  [0-9]*-[0-9]*+* | *+[0-9]*-[0-9]*) add 'list prices' ;;
esac
printf '%s\n' "$out"

# For the gauges, and for other status lines: figures only. Drains read it if it ends with `end`
record=''
keep() { # window percent reset
  case $2-$3 in
    -* | *-) ;;
    *) record="$record$1 $2 $3
" ;;
  esac
}
keep five_hour "$five_hour" "$five_hour_reset"
keep seven_day "$seven_day" "$seven_day_reset"
if [ -n "$record" ] && [ "$end" = yes ]; then
  limits_file=$state/rate-limits.$agent
  former=''
  if is_plain "$limits_file"; then
    while read -r line; do
      former="$former$line
"
    done <"$limits_file"
  elif [ -e "$limits_file" ] || [ -h "$limits_file" ]; then
    exit 0
  fi
  [ "$former" = "${record}end
" ] || printf '%send\n' "$record" >"$limits_file"
fi
exit 0
