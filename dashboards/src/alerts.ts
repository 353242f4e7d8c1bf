import { UID } from "./links.ts";
import { exact, exactSum, LABEL, type LabelKey, labels, raw, recorded, sumBy } from "./promql.ts";
import type { Alert, Group } from "./rules.ts";
import { SILENT_DAYS } from "./silent.ts";

/** Alerts. Every description has a remedy. */
export const alertGroups = (): readonly Group<Alert>[] => [cost(), work(), collection()];

// --- internal ---

const cost = (): Group<Alert> => ({
  name: "openhook-cost",
  interval: "5m",
  remark:
    "A budget covers 30 days with about 21 working days: an even share per working day is 1/21, so alerts start well above that. Needs recording.yaml and budgets.yaml.",
  rules: [
    {
      alert: "OpenhookBudgetBurnFast",
      expr: "openhook:budget_spent:ratio_1d > 0.1 and on (budget) openhook:budget_spent:ratio_1h > 0",
      for: "15m",
      severity: "critical",
      summary: "{{ $value | humanizePercentage }} of the 30-day budget “{{ $labels.budget }}” was spent in 24 hours",
      description:
        "At this rate the budget is used up within ten days. “Cost by repository” and “Models” on the cost dashboard show what grew: a more expensive model, a loop, many subagents. Stop that session or change its model; if the spending is intended, raise the budget in rules/budgets.yaml.",
      dashboard: UID.cost,
    },
    {
      alert: "OpenhookBudgetBurnSlow",
      expr: "openhook:budget_spent:ratio_7d > 0.35",
      for: "1h",
      severity: "warning",
      summary: "{{ $value | humanizePercentage }} of the 30-day budget “{{ $labels.budget }}” was spent in 7 days",
      description:
        "An even share for a week is 23 %. At this rate the budget lasts about three weeks. Compare repositories and models with the weeks before on the cost dashboard; then change the model, or the budget in rules/budgets.yaml.",
      dashboard: UID.cost,
    },
    {
      alert: "OpenhookBudgetSpent",
      expr: "openhook:budget_spent:ratio_30d >= 1",
      for: "5m",
      severity: "critical",
      summary: "The 30-day budget “{{ $labels.budget }}” is used up: {{ $value | humanizePercentage }}",
      description:
        "This stops nothing: agents continue. Inform the budget's owners, limit the API keys at the provider if spending must stop, or raise the budget in rules/budgets.yaml.",
      dashboard: UID.cost,
    },
    {
      alert: "OpenhookCostAnomaly",
      // At least 20 USD, so that small amounts raise no alert. Three days of history: before that everything is an anomaly
      expr: `${DAILY} > 20 + 3 * ${DAILY_BEFORE} and ${DAILY_BEFORE_COUNT} > ${(3 * DAY_MINUTES) / 5}`,
      for: "30m",
      severity: "warning",
      summary:
        "{{ $labels.service_name }} cost {{ $value | humanize }} USD in 24 hours, more than three times its usual day",
      description:
        "The average of the 13 days before is less than a third of that. Look at the agent's models and repositories on the cost dashboard, then at its most expensive sessions in the session explorer. Usual reasons: another default model, a cache that no longer hits, a script that runs an agent in a loop.",
      dashboard: UID.cost,
    },
    {
      alert: "OpenhookCacheHitCollapse",
      expr: "openhook:cache_hit:ratio_6h < 0.5 * avg_over_time(openhook:cache_hit:ratio_1d[7d] offset 6h) and avg_over_time(openhook:cache_hit:ratio_1d[7d] offset 6h) > 0.3 and openhook:input_tokens:6h > 200000",
      for: "30m",
      severity: "warning",
      summary:
        "{{ $labels.service_name }} with {{ $labels.gen_ai_request_model }} reads {{ $value | humanizePercentage }} of its input from the cache, less than half as much as before",
      description:
        "Input that misses the cache costs several times as much. Usual reasons: a new version of the agent or a changed system prompt, tools or MCP servers that change from call to call, pauses longer than the cache's lifetime. Compare versions, look at the first model calls of a session in its trace.",
      dashboard: UID.cost,
    },
    {
      alert: "OpenhookCacheMissesGrow",
      // A reason that was never given before has no average. Three days of history: before that everything is new
      expr: `openhook:cache_miss:ratio_1d > 0.1 and openhook:cache_miss:ratio_1d > 2 * (${MISSES_BEFORE} or 0 * openhook:cache_miss:ratio_1d) and on (${labels(["environment", "agent"])}) (${INPUT} > 1000000 and ${INPUT_BEFORE_COUNT} > ${(3 * DAY_MINUTES) / 5})`,
      for: "1h",
      severity: "warning",
      summary:
        "{{ $labels.service_name }} did not read {{ $value | humanizePercentage }} of its input from the cache because of {{ $labels.openhook_cache_miss_cause }}, more than twice as much as before",
      description:
        "The reasons are those that the provider gave in the last 24 hours, compared with the week before. tools_changed: an MCP server that connects late, or tools that change during a session. model_changed: people or the agent switch models within a session. system_changed, messages_changed: a new version of the agent, or an extension that edits prompts. “Not read from the cache, by reason” on the cost dashboard shows since when; `openhook-otel insights` on a machine names the sessions.",
      dashboard: UID.cost,
    },
  ],
});

const work = (): Group<Alert> => ({
  name: "openhook-work",
  interval: "1m",
  remark:
    "Problems while agents work. Loops and stuck sessions are found per machine, because those of one machine disappear in a total.",
  rules: [
    {
      alert: "OpenhookToolErrorRate",
      expr: "openhook:tool_errors:ratio_1h > 0.3 and openhook:tool_calls:1h >= 20",
      for: "15m",
      severity: "warning",
      summary:
        "{{ $value | humanizePercentage }} of the calls of {{ $labels.gen_ai_tool_name }} by {{ $labels.service_name }} failed in the last hour",
      description:
        "At least 20 calls ran. See the tool's row on the tools dashboard: one agent or all, one MCP server or all. Then look at failed calls in the session explorer. Usual reasons: an MCP server that is down or whose login expired, a broken build that fails every test run, a changed tool.",
      dashboard: UID.tools,
    },
    {
      alert: "OpenhookErrorLoop",
      expr: `${LOOP_ERRORS} >= 15 and ${LOOP_ERRORS} >= 0.9 * ${LOOP_CALLS}`,
      for: "0m",
      severity: "warning",
      summary:
        "{{ $labels.gen_ai_tool_name }} failed {{ $value | humanize }} times in 15 minutes for {{ $labels.service_name }} on one machine",
      description:
        "An agent retries a failing tool again and again, and each attempt costs money. Find the session in the session explorer (failed tool calls of this agent, newest first), interrupt it, and provide what it lacks: a permission, a running server, another approach.",
      dashboard: UID.sessions,
    },
    {
      alert: "OpenhookStuckSession",
      expr: `${sumBy(STUCK, exact(`${raw("openhook.turn.count")}{${LABEL.turnState}="unfinished"}`, "6h"))} >= 3`,
      for: "0m",
      severity: "warning",
      summary: "{{ $value | humanize }} turns of {{ $labels.service_name }} on one machine did not finish in 6 hours",
      description:
        "Their sessions were killed, or idle for session.idleTimeoutMs (30 minutes): agents that hang, wait for an answer, or crash. In the session explorer look at sessions that ended by timeout and at their last span: that is where they stopped.",
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
        "This can be real work, or a loop. Look at the longest traces of the agent in the session explorer: many failed or repeated calls point to a loop.",
      dashboard: UID.sessions,
    },
    {
      alert: "OpenhookVersionWorse",
      // Computed once an hour, so the last value may be that old
      expr: "last_over_time(openhook:version_worse:ratio[65m])",
      for: "0m",
      severity: "warning",
      summary:
        "{{ $labels.service_name }} {{ $labels.openhook_source_version }} does worse than the versions before: {{ $labels.measure }} +{{ $value | humanizePercentage }}",
      description:
        "A version that no machine had a week ago, on at least 10 machines with 100 turns. The difference is more than five times its standard error, from how much machines differ, so it is hardly an accident; other work or settings of these days can still be the reason. “Before and after a version” on the tools dashboard shows both. Read what changed in that version; then wait for the next one, pin the one before, or report it to the vendor.",
      dashboard: UID.tools,
    },
  ],
});

const collection = (): Group<Alert> => ({
  name: "openhook-collection",
  interval: "1m",
  remark: "Whether data from the machines arrives.",
  rules: [
    {
      alert: "OpenhookCollectorSilent",
      expr: `${SILENCE} > ${SILENT_DAYS * 86_400} unless on (${LABEL.machine}) (${MACHINE_SILENCE} <= ${SILENT_DAYS * 86_400})`,
      for: "15m",
      severity: "info",
      summary: "A machine has not reported for {{ $value | humanizeDuration }}",
      description:
        "instance {{ $labels.instance }}. Possible reasons: a holiday, removed hooks, a changed endpoint, a full disk. `openhook-otel doctor` on that machine shows which. A machine that was retired leaves this list after 30 days.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookUncoveredAgents",
      expr: `${UNCOVERED} > 0`,
      for: "1d",
      severity: "info",
      summary: "{{ $labels.openhook_source }} is used on {{ $value | humanize }} machines that do not collect it",
      description:
        "Its transcripts there are from the last 30 days, but its hooks are not registered, or a policy, a setting or missing trust keeps them from running. “Machines and agents” on the health dashboard shows where. On such a machine `openhook-otel enable` registers hooks and `openhook-otel doctor` names what blocks them; `enable --managed` does it for all users. If an agent is deliberately not collected, silence this alert for it.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookNothingArrives",
      expr: `(count(${SILENCE} < 7200) or 0 * count(${SILENCE})) < 1 and count(${SILENCE_A_WEEK_AGO} < 7200) >= 3`,
      for: "30m",
      severity: "critical",
      summary: "No machine has reported for two hours; a week ago at this time some did",
      description:
        "Nothing is lost: machines keep unsent data for 30 days. Check the Collector in between (its health check and own metrics), its certificate and tokens, then run `openhook-otel doctor` on any machine.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookBacklog",
      expr: `max by (${labels(MACHINE)}) (last_over_time(${raw("openhook.collector.outbox.age")}[1h])) > 3600`,
      for: "15m",
      severity: "warning",
      summary: "A machine's oldest queued span is {{ $value | humanizeDuration }} old",
      description:
        "instance {{ $labels.instance }}: metrics arrive, but spans do not, or more slowly than they are created. `openhook-otel status` there shows the backend's response; usual reasons are a wrong address that is set for traces only, requests that are too large for a proxy, and a rate limit.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookDropped",
      expr: `${exactSum(raw("openhook.collector.dropped.count"), ["environment", "machine", "reason"], "1d")} > 0`,
      for: "0m",
      severity: "critical",
      summary:
        "{{ $value | humanize }} records of a machine were dropped within a day ({{ $labels.openhook_collector_reason }})",
      description:
        "instance {{ $labels.instance }}. retention: older than outbox.maxAgeDays, or beyond outbox.maxMegabytes. rejected: the backend accepted the request and rejected them. In both cases the sessions are still in that machine's store: fix the connection to the backend, see `openhook-otel doctor` there. no_room: events lost while its disk was full, which only transcripts can replace: free disk space there.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookOverflow",
      expr: `max by (${labels(MACHINE)}) (last_over_time(${raw("openhook.collector.overflow.metrics")}[1d])) > 0`,
      for: "15m",
      severity: "warning",
      summary: "A machine has {{ $value | humanize }} metrics at their series limit",
      description:
        "instance {{ $labels.instance }}. Newer series are summed under otel.metric.overflow, without repository, model, tool and token kind: panels filtered by one of these show too little for that machine. `openhook-otel status` there shows which metrics; its store and traces are complete.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookQuarantineGrowing",
      expr: `${exactSum(`${raw("openhook.collector.payload.count")}{${LABEL.outcome}="quarantined"}`, ["environment", "source", "reason"], "1d")} > 10`,
      for: "15m",
      severity: "warning",
      summary:
        "{{ $value | humanize }} payloads of {{ $labels.openhook_source }} were quarantined within a day ({{ $labels.openhook_collector_reason }})",
      description:
        "They are kept in quarantine/ on their machines. unrecognised or unconvertible: the agent changed its payloads; update openhook-otel, then run `openhook-otel replay` there. unreadable or incomplete: hooks killed while writing, or another program that writes into the inbox.",
      dashboard: UID.health,
    },
    {
      alert: "OpenhookDrift",
      expr: `${exactSum(raw("openhook.collector.drift.count"), ["environment", "source", "driftKind"], "1d")} > 0`,
      for: "1h",
      severity: "info",
      summary: "{{ $labels.openhook_source }} sends {{ $labels.openhook_collector_drift_kind }} unknown names",
      description:
        "Most likely a new version of the agent. An unknown field loses nothing; an unknown event may hide something that should be counted. `openhook-otel doctor` on a machine with that agent shows the names. Look for an update of openhook-otel, or report the names.",
      dashboard: UID.health,
    },
  ],
});

const DAY_MINUTES = 1440;
const MACHINE: readonly LabelKey[] = ["environment", "machine"];
const STUCK: readonly LabelKey[] = ["environment", "agent", "machine"];
const LOOP: readonly LabelKey[] = ["environment", "agent", "tool", "machine"];

const RAN = `${LABEL.toolStatus}=~"success|error"`;

const DAILY = `sum by (${labels(["environment", "agent"])}) (openhook:cost_usd:1d)`;
const DAILY_BEFORE = `sum by (${labels(["environment", "agent"])}) (avg_over_time(openhook:cost_usd:1d[13d] offset 1d))`;
const DAILY_BEFORE_COUNT = `max by (${labels(["environment", "agent"])}) (count_over_time(openhook:cost_usd:1d[13d] offset 1d))`;

const INPUT = sumBy(["environment", "agent"], "openhook:input_tokens:1d");
const INPUT_BEFORE_COUNT = `max by (${labels(["environment", "agent"])}) (count_over_time(openhook:input_tokens:1d[7d] offset 1d))`;
const MISSES_BEFORE = "avg_over_time(openhook:cache_miss:ratio_1d[7d] offset 1d)";

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
/** Also for a machine that now reports under another environment. */
const MACHINE_SILENCE = `(time() - max by (${LABEL.machine}) (last_over_time(${REPORT}[30d])))`;
const SILENCE_A_WEEK_AGO = `(time() - ${7 * 86_400} - max by (${labels(MACHINE)}) (last_over_time(${REPORT}[30d] offset 1w)))`;

/** Machines that reported within a week, with their newest environment: a scraped series outlives its machine and its name. */
const REPORTING = `topk by (${LABEL.machine}) (1, max by (${labels(MACHINE)}) (last_over_time(${REPORT}[30d]))) > time() - ${7 * 86_400}`;
/** Reporting machines that use an agent without collecting it, by agent. */
const UNCOVERED = `sum by (${labels(["environment", "source"])}) (last_over_time(${raw("openhook.collector.coverage.agents")}{${LABEL.coverage}=~"uncovered|blocked"}[7d]) and on (${labels(MACHINE)}) (${REPORTING}))`;
