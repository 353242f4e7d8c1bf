import type { ExplanationDocument } from "../../../wire/documents.ts";
import type { Spans } from "../spans.ts";
import { type Axis, positionOf } from "./axis.ts";

/**
 * Draws a session as columns: how much its model calls cost at each time (or how many ran, if no cost is known), below a line for the tools,
 * of which as much is red as calls failed; above, a line for the size of the context, with a ring where the cache was not read.
 */
export function drawMinimap(
  canvas: HTMLCanvasElement,
  spans: Spans,
  axis: Axis,
  explanation: Pick<ExplanationDocument, "context" | "cacheMisses"> | undefined,
): void {
  const scale = devicePixelRatio || 1;
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  const { costs, tools, failed } = columnsOf(spans, axis, Math.max(1, Math.floor(width / COLUMN_PX)));
  const columnPx = width / costs.length;
  const base = height - TOOLS_PX;
  const largest = costs.reduce((max, cost) => Math.max(max, cost), 0);
  const paint = (values: Uint8Array | Float64Array, draw: (x: number, value: number) => void): void =>
    values.forEach((value, i) => {
      if (value > 0) draw(i * columnPx, value);
    });
  context.fillStyle = colour("--k-model-call");
  paint(costs, (x, cost) => {
    // The square root keeps small costs visible beside large ones
    const h = Math.max(1, Math.sqrt(cost / largest) * (base - 4));
    context.fillRect(x, base - h, columnPx - GAP_PX, h);
  });
  context.fillStyle = colour("--k-tool-call");
  paint(tools, (x) => context.fillRect(x, base + 1, columnPx, TOOLS_PX - 2));
  context.fillStyle = colour("--k-failed");
  paint(failed, (x, share) => {
    context.globalAlpha = MAX_ALPHA * share;
    context.fillRect(x, 0, columnPx - GAP_PX, base);
    context.globalAlpha = 1;
    const h = Math.max(1, share * TOOLS_PX);
    context.fillRect(x, height - h, Math.max(2, columnPx), h);
  });
  if (explanation === undefined) return;
  const points = explanation.context.map(({ timeMs, tokens }) => ({ ms: timeMs - spans.baseMs, tokens }));
  const peak = points.reduce((max, { tokens }) => Math.max(max, tokens), 0);
  const xOf = (ms: number): number => positionOf(axis, ms) * width;
  const yOf = (tokens: number): number => base - (tokens / peak) * (base - 4);
  context.strokeStyle = colour("--text");
  context.beginPath();
  for (const { ms, tokens } of points) context.lineTo(xOf(ms), yOf(tokens));
  context.stroke();
  context.fillStyle = colour("--bg");
  for (const miss of explanation.cacheMisses) {
    const ms = miss.startMs + miss.ms - spans.baseMs;
    const at = points.find((point) => point.ms >= ms - 1);
    if (miss.isSubagent || at === undefined) continue;
    context.beginPath();
    context.arc(xOf(ms), yOf(at.tokens), RING_PX, 0, 2 * Math.PI);
    context.fill();
    context.stroke();
  }
}

// --- internal ---

const COLUMN_PX = 4;
const GAP_PX = 1;
/** Height of the line for the tools. */
const TOOLS_PX = 8;
/** Of the red above the tools, where every call failed. */
const MAX_ALPHA = 0.2;
const RING_PX = 2.5;

interface Columns {
  /** Cost of the model calls in each column, or their time if no cost is known. */
  readonly costs: Float64Array;
  /** 1: a tool ran. */
  readonly tools: Uint8Array;
  /** The share of the calls ending in each column that failed. */
  readonly failed: Float64Array;
}

function columnsOf(spans: Spans, axis: Axis, count: number): Columns {
  const [costs, times] = [new Float64Array(count), new Float64Array(count)];
  const [tools, failures, ended] = [new Uint8Array(count), new Float64Array(count), new Float64Array(count)];
  const columnAt = (ms: number): number => Math.min(count - 1, Math.floor(positionOf(axis, ms) * count));
  for (let i = 0; i < spans.count; i++) {
    const kind = spans.kindOf(i);
    const isLeaf = kind === "model_call" || kind === "tool_call";
    const [from, to] = [columnAt(spans.startOf(i)), columnAt(spans.endOf(i))];
    if (isLeaf) ended[to] = (ended[to] ?? 0) + 1;
    if (isLeaf && spans.isFailed(i)) failures[to] = (failures[to] ?? 0) + 1;
    if (kind === "tool_call" && !spans.hasChildren(i)) tools.fill(1, from, to + 1);
    if (kind !== "model_call") continue;
    const share = (spans.costOf(i) ?? 0) / (to - from + 1);
    for (let column = from; column <= to; column++) {
      costs[column] = (costs[column] ?? 0) + share;
      times[column] = (times[column] ?? 0) + 1;
    }
  }
  return {
    costs: costs.some((cost) => cost > 0) ? costs : times,
    tools,
    failed: failures.map((n, i) => (n === 0 ? 0 : n / (ended[i] ?? n))),
  };
}
