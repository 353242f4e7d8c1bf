import { UID } from "./links.ts";
import { exact, exactSum, LABEL, type LabelKey, labels, raw, recorded, sumBy } from "./promql.ts";
import type { Alert, Group } from "./rules.ts";
import { SILENT_DAYS } from "./silent.ts";

/** Alerts. All of them say what to do. */
export const alertGroups = (): readonly Group<Alert>[] => [
  {
    name: "openhook-cost",
    interval: "5m",
    remark:
      "A budget is for 30 days. People work on about 21 of them: a working day's even share is 1/21, so alerts begin well above. Needs recording.yaml and budgets.yaml.",
    rules: [
      {
        alert: "OpenhookBudgetBurnFast",
        expr: "openhook:budget_spent:ratio_1d > 0.1 and on (budget) openhook:budget_spent:ratio_1h > 0",
        for: "15m",
        severity: "critical",
        summary: "{{ $value | humanizePercentage }} of the 30-day budget “{{ $labels.budget }}” was spent in 24 hours",
        description:
          "At this speed it is gone within ten days, and it goes on. Look at “Cost by repository” and “Models” of the cost dashboard for what grew: a dearer model, a loop, many subagents. Stop that session or change its model; if the spending is wanted, raise the budget in rules/budgets.yaml.",
        dashboard: UID.cost,
      },
      {
        alert: "OpenhookBudgetBurnSlow",
        expr: "openhook:budget_spent:ratio_7d > 0.35",
        for: "1h",
        severity: "warning",
        summary: "{{ $value | humanizePercentage }} of the 30-day budget “{{ $labels.budget }}” was spent in 7 days",
        description:
          "An even week takes 23 %. At this speed the budget ends in about three weeks. Compare repositories and models with the weeks before on the cost dashboard; decide on the model or on the budget in rules/budgets.yaml.",
        dashboard: UID.cost,
      },
      {
        alert: "OpenhookBudgetSpent",
        expr: "openhook:budget_spent:ratio_30d >= 1",
        for: "5m",
        severity: "critical",
        summary: "The 30-day budget “{{ $labels.budget }}” is spent: {{ $value | humanizePercentage }}",
        description:
          "Nothing is stopped by this: agents go on. Tell the people of the budget, limit the keys at the provider if it must stop, or raise the budget in rules/budgets.yaml.",
        dashboard: UID.cost,
      },
      {
        alert: "OpenhookCostAnomaly",
        // 20 USD: below it nobody wants to be called. Three days of history: before that everything is an anomaly
        expr: `${DAILY} > 20 + 3 * ${DAILY_BEFORE} and ${DAILY_BEFORE_COUNT} > ${(3 * DAY_MINUTES) / 5}`,
        for: "30m",
        severity: "warning",
        summary:
          "{{ $labels.service_name }} cost {{ $value | humanize }} USD in 24 hours, more than three times its usual day",
        description:
          "Its mean of the 13 days before is less than a third. Look at the agent's models and repositories on the cost dashboard, then at its most expensive sessions in the session explorer. Usual reasons: another default model, a cache that no longer hits, a script that runs an agent in a loop.",
        dashboard: UID.cost,
      },
      {
        alert: "OpenhookCacheHitCollapse",
        expr: "openhook:cache_hit:ratio_6h < 0.5 * avg_over_time(openhook:cache_hit:ratio_1d[7d] offset 6h) and avg_over_time(openhook:cache_hit:ratio_1d[7d] offset 6h) > 0.3 and openhook:input_tokens:6h > 200000",
        for: "30m",
        severity: "warning",
        summary:
          "{{ $labels.service_name }} with {{ $labels.gen_ai_request_model }} reads {{ $value | humanizePercentage }} of its input from the cache, less than half of what it used to",
        description:
          "Input that misses the cache costs several times as much. Usual reasons: a new version of the agent or a changed system prompt, tools or MCP servers that change from call to call, pauses longer than the cache lives. Compare versions, look at the first model calls of a session in its trace.",
        dashboard: UID.cost,
      },
    ],
  },
  {
    name: "openhook-work",
    interval: "1m",
    remark:
      "What goes wrong while agents work. The last two look at machines one by one: a loop on one machine drowns in the sum.",
    rules: [
      {
        alert: "OpenhookToolErrorRate",
        expr: "openhook:tool_errors:ratio_1h > 0.3 and openhook:tool_calls:1h >= 20",
        for: "15m",
        severity: "warning",
        summary:
          "{{ $value | humanizePercentage }} of the calls of {{ $labels.gen_ai_tool_name }} by {{ $labels.service_name }} failed in the last hour",
        description:
          "At least 20 calls ran. See the tool's row on the tools dashboard: one agent or all, one MCP server or all. Then look at failed calls in the session explorer. Usual reasons: an MCP server that is down or whose login expired, a broken build that every test run meets, a changed tool.",
        dashboard: UID.tools,
      },
      {
        alert: "OpenhookErrorLoop",
        expr: `${LOOP_ERRORS} >= 15 and ${LOOP_ERRORS} >= 0.9 * ${LOOP_CALLS}`,
        for: "0m",
        severity: "warning",
        summary:
          "{{ $labels.service_name }} called {{ $labels.gen_ai_tool_name }} in vain {{ $value | humanize }} times in 15 minutes on one machine",
        description:
          "An agent tries the same failing tool over and over, and pays for each try. Find the session in the session explorer (failed tool calls of this agent, newest first), interrupt it, and give it what it lacks: a permission, a running server, another way.",
        dashboard: UID.sessions,
      },
      {
        alert: "OpenhookStuckSession",
        expr: `${sumBy(STUCK, exact(`${raw("openhook.turn.count")}{${LABEL.turnState}="unfinished"}`, "6h"))} >= 3`,
        for: "0m",
        severity: "warning",
        summary:
          "{{ $value | humanize }} turns of {{ $labels.service_name }} on one machine never came to an end in 6 hours",
        description:
          "Their sessions were killed, or nothing was heard of them for session.idleTimeoutMs (30 minutes): agents that hang, wait for an answer nobody gives, or die. In the session explorer look at sessions that ended by timeout and at their last span: that is where they stopped.",
        dashboard: UID.sessions,
      },
      {
        alert: "OpenhookLongTurn",
        expr: `${LONG_TURNS} > 0`,
        for: "0m",
        severity: "info",
        summary:
          "{{ $value | humanize }} turns or subagents of {{ $labels.service_name }} took longer than 54 minutes in the last 6 hours",
        description:
          "It may be real work, or one that went in circles. Look at the longest traces of the agent in the session explorer: many failed calls or the same call again and again mean the latter.",
        dashboard: UID.sessions,
      },
    ],
  },
  {
    name: "openhook-collection",
    interval: "1m",
    remark: "Whether what agents do arrives here at all.",
    rules: [
      {
        alert: "OpenhookCollectorSilent",
        expr: `${SILENCE} > ${SILENT_DAYS * 86_400} unless on (${LABEL.machine}) (${MACHINE_SILENCE} <= ${SILENT_DAYS * 86_400})`,
        for: "15m",
        severity: "info",
        summary: "A machine has told nothing for {{ $value | humanizeDuration }}",
        description:
          "instance {{ $labels.instance }}. A holiday, or hooks that were removed, an endpoint that changed, a disk that is full. On that machine `openhook-otel doctor` says which. A machine that is gone for good leaves this list after 30 days.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookNothingArrives",
        expr: `(count(${SILENCE} < 7200) or 0 * count(${SILENCE})) < 1 and count(${SILENCE_A_WEEK_AGO} < 7200) >= 3`,
        for: "30m",
        severity: "critical",
        summary: "No machine has told anything for two hours; a week ago at this time some did",
        description:
          "Nothing is lost: the machines keep what they could not send for 30 days. Look at the Collector in between (its health check and own metrics), its certificate and tokens, then at `openhook-otel doctor` on any machine.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookBacklog",
        expr: `max by (${labels(MACHINE)}) (last_over_time(${raw("openhook.collector.outbox.age")}[1h])) > 3600`,
        for: "15m",
        severity: "warning",
        summary: "A machine's oldest span has waited for {{ $value | humanizeDuration }}",
        description:
          "instance {{ $labels.instance }}: metrics arrive and spans do not, or slower than they come. `openhook-otel status` there says what the backend answers; usual reasons are a wrong address for traces alone, requests that are too large for a proxy, and a rate limit.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookDropped",
        expr: `${exactSum(raw("openhook.collector.dropped.count"), ["environment", "machine", "reason"], "1d")} > 0`,
        for: "0m",
        severity: "critical",
        summary:
          "{{ $value | humanize }} records of a machine reached no backend within a day ({{ $labels.openhook_collector_reason }})",
        description:
          "instance {{ $labels.instance }}. retention: they waited longer than outbox.maxAgeDays, or were more than outbox.maxMegabytes. rejected: the backend took the request and refused them. Of both the sessions are still in that machine's store: mend the way to the backend, see `openhook-otel doctor` there. no_room: events that came while its disk was full, of which only transcripts can tell: make room there.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookOverflow",
        expr: `max by (${labels(MACHINE)}) (last_over_time(${raw("openhook.collector.overflow.metrics")}[1d])) > 0`,
        for: "15m",
        severity: "warning",
        summary:
          "A machine has {{ $value | humanize }} metrics with more names of tools, models or repositories than are kept apart",
        description:
          "instance {{ $labels.instance }}. What is new there since is added up under otel.metric.overflow, without repository, model, tool and kind of token: panels that choose by one of these show too little of that machine. `openhook-otel status` there says which metrics, and its store and traces have all of it.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookQuarantineGrowing",
        expr: `${exactSum(`${raw("openhook.collector.payload.count")}{${LABEL.outcome}="quarantined"}`, ["environment", "source", "reason"], "1d")} > 10`,
        for: "15m",
        severity: "warning",
        summary:
          "{{ $value | humanize }} payloads of {{ $labels.openhook_source }} were set aside within a day ({{ $labels.openhook_collector_reason }})",
        description:
          "They are kept in quarantine/ on their machines. unrecognised or unconvertible: the agent changed what it sends; update openhook-otel, then run `openhook-otel replay` there. unreadable or incomplete: hooks that are killed while they write, or something else that writes into the inbox.",
        dashboard: UID.health,
      },
      {
        alert: "OpenhookDrift",
        expr: `${exactSum(raw("openhook.collector.drift.count"), ["environment", "source", "driftKind"], "1d")} > 0`,
        for: "1h",
        severity: "info",
        summary:
          "{{ $labels.openhook_source }} sends {{ $labels.openhook_collector_drift_kind }} names that openhook-otel does not know",
        description:
          "A new version of the agent, most likely. Nothing is lost by an unknown field; an unknown event may hide something that should be counted. `openhook-otel doctor` on a machine with that agent shows the names. Look for an update of openhook-otel, or report the names.",
        dashboard: UID.health,
      },
    ],
  },
];

// --- internal ---

const DAY_MINUTES = 1440;
const MACHINE: readonly LabelKey[] = ["environment", "machine"];
const STUCK: readonly LabelKey[] = ["environment", "agent", "machine"];
const LOOP: readonly LabelKey[] = ["environment", "agent", "tool", "machine"];

const RAN = `${LABEL.toolStatus}=~"success|error"`;

const DAILY = `sum by (${labels(["environment", "agent"])}) (openhook:cost_usd:1d)`;
const DAILY_BEFORE = `sum by (${labels(["environment", "agent"])}) (avg_over_time(openhook:cost_usd:1d[13d] offset 1d))`;
const DAILY_BEFORE_COUNT = `max by (${labels(["environment", "agent"])}) (count_over_time(openhook:cost_usd:1d[13d] offset 1d))`;

const ranTools = (matcher: string): string => `${raw("openhook.tool.call.count")}{${matcher}}`;
const LOOP_ERRORS = exactSum(ranTools(`${LABEL.toolStatus}="error"`), LOOP, "15m");
const LOOP_CALLS = exactSum(ranTools(RAN), LOOP, "15m");

/** A bound of the turns' buckets: 54 minutes. */
const LONG_SECONDS = "3276.8";
const TURNS = recorded("gen_ai.invoke_agent.duration", "_count");
const SHORT_TURNS = `${recorded("gen_ai.invoke_agent.duration", "_bucket")}{le="${LONG_SECONDS}"}`;
const LONG_TURNS = `${exactSum(TURNS, ["environment", "agent"], "6h")} - ${exactSum(SHORT_TURNS, ["environment", "agent"], "6h")}`;

const REPORT = raw("openhook.collector.report.time");
const SILENCE = `(time() - max by (${labels(MACHINE)}) (last_over_time(${REPORT}[30d])))`;
/** Of a machine that tells under another environment now, too. */
const MACHINE_SILENCE = `(time() - max by (${LABEL.machine}) (last_over_time(${REPORT}[30d])))`;
const SILENCE_A_WEEK_AGO = `(time() - ${7 * 86_400} - max by (${labels(MACHINE)}) (last_over_time(${REPORT}[30d] offset 1w)))`;
