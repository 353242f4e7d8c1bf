import { join } from "node:path";
import { coverageOf } from "#check/health/coverage.ts";
import { promLabel, promName } from "../../dashboards/src/names.ts";
import { type ReceivedPoint, startReceiver } from "../receiver/receiver.ts";
import { Replay, ROOT } from "../support/replay.ts";
import { collectLong } from "../view/collected.mjs";
import { addNative, addOutcomes, addRateLimits, addSkill, repositoryIn } from "./dashboards-stand.ts";

// Two made-up weeks of a team, for the pictures of the dashboards: what single sessions send is real, who had which session
// when is made up.

/** @returns OpenMetrics text, in pieces: the series of all machines at every step of the 14 days before `endMs` */
export async function* teamWeeks(endMs: number): AsyncGenerator<string> {
  const kinds = await sessionKinds();
  const random = randomFrom(7);
  const sessions = PEOPLE.flatMap((person) => sessionsOf(person, endMs, random));
  sessions.sort((a, b) => a.atMs - b.atMs);
  const series = new Map<string, { value: number; sinceMs?: number }>();
  const spent: number[] = [];
  let next = 0;
  for (let atMs = endMs - DAYS * DAY_MS; atMs <= endMs; atMs += STEP_MS) {
    for (; next < sessions.length && (sessions[next]?.atMs ?? 0) <= atMs; next++) {
      const session = sessions[next];
      if (session !== undefined) add(series, kinds[session.kind % kinds.length] ?? [], session);
    }
    const lines = [...series].map(
      ([name, { value, sinceMs }]) =>
        `${name} ${sinceMs === undefined ? value : value + (atMs - sinceMs) / 1000} ${atMs / 1000}\n`,
    );
    const targets = PEOPLE.slice(0, next).map(
      ({ name, team }) =>
        `target_info{job="agents",instance="${name}",user_hash="${name}",team="${team}"} 1 ${atMs / 1000}\n`,
    );
    spent.push(total(series, "openhook_cost_usage_USD_total"));
    yield [...lines, ...targets, ...budget(spent, atMs)].join("");
  }
  yield "# EOF\n";
}

// --- internal ---

const DAY_MS = 86_400_000;
const DAYS = 14;
const BUDGET_USD = 2_000;
const STEP_MS = 6 * 3_600_000;
/** Recordings are a few calls long. Each counts as so many of its kind. */
const LONGER = 15;

/** A budget, and the shares of it that were spent, as rules/recording.yaml computes them. @param spent at each step */
function budget(spent: readonly number[], atMs: number): readonly string[] {
  const now = spent.at(-1) ?? 0;
  const share = (days: number): number => (now - (spent.at(-1 - (days * DAY_MS) / STEP_MS) ?? 0)) / BUDGET_USD;
  return [
    `openhook:budget_usd{budget="team"} ${BUDGET_USD} ${atMs / 1000}\n`,
    ...[1, 7, 30].map((days) => `openhook:budget_spent:ratio_${days}d{budget="team"} ${share(days)} ${atMs / 1000}\n`),
  ];
}

const total = (series: ReadonlyMap<string, { readonly value: number }>, metric: string): number =>
  [...series].reduce((sum, [name, { value }]) => (name.startsWith(`${metric}{`) ? sum + value : sum), 0);

interface Person {
  readonly name: string;
  readonly team: string;
  readonly repository: string;
  /** Which sessions this person has. */
  readonly kinds: readonly number[];
}
interface Session {
  readonly person: Person;
  readonly kind: number;
  readonly repository: string;
  readonly atMs: number;
}

const REPOSITORIES = ["acme-shop", "payments-api", "data-pipeline", "design-system"];
const MADE = 4;
const RECORDED = [
  ["codex", "nested-subagents"],
  ["copilot", "parallel-tools"],
  ["gemini-cli", "parallel-tools"],
  ["claude-code", "api-error"],
  ["cursor", "basic"],
] as const;

const PEOPLE: readonly Person[] = Array.from({ length: 10 }, (_, i) => ({
  name: `machine-${String(i + 1).padStart(2, "0")}`,
  team: i < 5 ? "harbour" : "lighthouse",
  repository: REPOSITORIES[i % REPOSITORIES.length] ?? "",
  kinds: [i % MADE, (i + 1) % MADE, (i + 3) % MADE, MADE + (i % RECORDED.length), MADE + ((i + 4) % RECORDED.length)],
}));

/** One to four sessions on each working day, more in the second week. */
function sessionsOf(person: Person, endMs: number, random: () => number): readonly Session[] {
  const found: Session[] = [];
  for (let day = DAYS; day > 0; day--) {
    const beginMs = endMs - day * DAY_MS;
    if (day % 7 === 4 || day % 7 === 3) continue;
    const many = 1 + Math.floor(random() * (day > 7 ? 2 : 4));
    for (let i = 0; i < many; i++) {
      const kind = person.kinds[Math.floor(random() * person.kinds.length)] ?? 0;
      const elsewhere = REPOSITORIES[Math.floor(random() * 2)] ?? "";
      const repository = random() < 0.25 ? elsewhere : person.repository;
      found.push({ person, kind, repository, atMs: beginMs + random() * DAY_MS });
    }
  }
  return found;
}

/** What a session of each kind sends to a backend. */
async function sessionKinds(): Promise<readonly (readonly ReceivedPoint[])[]> {
  const kinds: (readonly ReceivedPoint[])[] = [];
  for (let seed = 0; seed < MADE; seed++) {
    const machine = new Replay("claude-code", "basic", { withTranscripts: false });
    const cwd = join(machine.home, "acme-shop");
    const made = { spans: 120 + 110 * seed, cwd, startMs: Date.now() - 7_200_000, stepMs: 100, seed: seed + 1 };
    collectLong(machine.home, join(ROOT, "dist"), made);
    kinds.push(await sentBy(machine, seed));
  }
  for (const [source, name] of RECORDED) {
    const machine = new Replay(source, name);
    for (const call of machine.calls) machine.put(call);
    addSkill(machine);
    addNative(machine);
    kinds.push((await sentBy(machine, kinds.length)).map(longer));
  }
  return kinds;
}

async function sentBy(machine: Replay, nth: number): Promise<readonly ReceivedPoint[]> {
  const receiver = await startReceiver();
  try {
    machine.env = {
      OPENHOOK_OTEL_OTLP_ENDPOINT: receiver.url,
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=laptops",
      OPENHOOK_OTEL_STORE_RETENTION_DAYS: "36500",
    };
    repositoryIn(machine.home, "acme-shop");
    addRateLimits(machine);
    const deps = { version: "0.1.0", coverageOf };
    await machine.drain({ endIdle: true, isEager: true }, deps);
    if (nth % 3 === 0) addOutcomes({ machines: [machine] }, nth === 3 ? 0 : 1);
    await machine.drain({ endIdle: true, isEager: true }, deps);
    return receiver.latestPoints();
  } finally {
    await receiver.close();
    machine.remove();
  }
}

const longer = (point: ReceivedPoint): ReceivedPoint => {
  const { data, name } = point;
  const isMore = data.kind === "sum" && /token|cost|tool|model/.test(name);
  return isMore ? { ...point, data: { ...data, value: data.value * LONGER } } : point;
};

/** Adds a session's counters to those of its machine, and replaces its gauges. */
function add(
  series: Map<string, { value: number; sinceMs?: number }>,
  points: readonly ReceivedPoint[],
  { person, repository, atMs }: Session,
): void {
  const grow = (name: string, labels: string, amount: number): void => {
    const key = `${name}{${labels}}`;
    series.set(key, { value: (series.get(key)?.value ?? 0) + amount });
  };
  for (const { name, attributes, resource, data, unit, timeNs } of points) {
    const known: Record<string, unknown> = {
      ...attributes,
      "service.name": resource["service.name"],
      "deployment.environment.name": "laptops",
      job: "agents",
      instance: person.name,
    };
    if (known["vcs.repository.name"] !== undefined) known["vcs.repository.name"] = repository;
    const labels = Object.entries(known)
      .map(([key, value]) => `${promLabel(key)}=${JSON.stringify(String(value))}`)
      .join(",");
    const metric = promName(name);
    if (data.kind === "sum") grow(metric, labels, data.value);
    else if (data.kind === "gauge") {
      const sentMs = Number(timeNs / 1_000_000n);
      // Times that a machine reports move with it
      const isTime = unit === "s" && name.endsWith("time");
      const value = isTime ? data.value + (atMs - sentMs) / 1000 : data.value;
      const isReset = name.endsWith("reset.time");
      series.set(`${metric}{${labels}}`, { value, ...(isReset && { sinceMs: atMs }) });
    } else {
      let below = 0;
      for (const [i, count] of data.bucketCounts.entries()) {
        below += count;
        grow(`${metric}_bucket`, `${labels},le="${data.bounds[i] ?? "+Inf"}"`, below);
      }
      grow(`${metric}_sum`, labels, data.sum ?? 0);
      grow(`${metric}_count`, labels, data.count);
    }
  }
}

/** The same numbers in every run. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
