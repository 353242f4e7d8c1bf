import type { SessionSort } from "#store/session-sorts.ts";
import type { RefreshOption } from "./refreshed.ts";
import type { TitlesOption } from "./titles.ts";

/** The options of `sessions`. */
export interface SessionsOptions extends RefreshOption, TitlesOption {
  /** Number of sessions, at least 1. */
  readonly limit: number;
  /** Also sessions of which only the start was reported. @default false */
  readonly all?: boolean;
  readonly agent?: string;
  readonly repository?: string;
  /** Only sessions that used such a model, and called such a tool, by a part of the name. */
  readonly model?: string;
  readonly tool?: string;
  /** Only sessions that contain this text, also in prompts, calls and answers. */
  readonly search?: string;
  /** @default time */
  readonly sort?: SessionSort;
  /** `today`, `yesterday`, `week` or `month`, instead of the times below. */
  readonly period?: string | undefined;
  /** Ages or times. */
  readonly since?: string;
  readonly until?: string;
  readonly json: boolean;
}
