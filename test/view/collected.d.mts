export interface RecordedCall {
  readonly event: string;
  readonly received_at: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: unknown;
  readonly stdin_raw?: string;
}
export type Case = readonly [source: string, name: string];
export const RECORDED: readonly Case[];
export function collect(home: string, dist: string, cases?: readonly Case[]): void;
export function callHook(home: string, dist: string, source: string, call: RecordedCall): void;
export function collectLong(
  home: string,
  dist: string,
  options: {
    readonly spans: number;
    readonly sessionId?: string;
    readonly cwd?: string;
    readonly startMs?: number;
    readonly stepMs?: number;
    readonly seed?: number;
  },
): string;
export function drain(home: string, dist: string, args?: readonly string[]): string;
