import { claudeCode } from "./programs/claude-code.ts";
import { cline } from "./programs/cline.ts";
import { codex } from "./programs/codex.ts";
import { copilot } from "./programs/copilot.ts";
import { droid } from "./programs/droid.ts";
import { geminiCli } from "./programs/gemini-cli.ts";
import { goose } from "./programs/goose.ts";
import { grok } from "./programs/grok.ts";
import { kilo } from "./programs/kilo.ts";
import { kimi } from "./programs/kimi.ts";
import { opencode } from "./programs/opencode.ts";
import { openhands } from "./programs/openhands.ts";
import { pi } from "./programs/pi.ts";
import type { Program } from "./programs/program.ts";
import { qwenCode } from "./programs/qwen-code.ts";
import { vibe } from "./programs/vibe.ts";

/** One entry per agent. */
export const PROGRAMS: readonly Program[] = [
  claudeCode,
  codex,
  geminiCli,
  copilot,
  opencode,
  kilo,
  pi,
  cline,
  goose,
  qwenCode,
  kimi,
  grok,
  droid,
  vibe,
  openhands,
];

/** Why an agent is not included. */
export const NO_PROGRAM: Readonly<Record<string, string>> = {
  amp: "its program only talks to its vendor's servers and needs an account",
  auggie: "its program only talks to its vendor's servers and needs an account",
  antigravity: "its program is an editor and needs an account",
  "copilot-vscode": "it is an extension of an editor",
  crush: "its npm package downloads the program from elsewhere",
  cursor: "its program only talks to its vendor's servers and needs an account",
  kiro: "its program only talks to its vendor's servers and needs an account",
  windsurf: "its program is an editor and needs an account",
};
