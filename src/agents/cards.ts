import type { Agent } from "#core/model/agent.ts";
import amp from "./amp/index.ts";
import antigravity from "./antigravity/index.ts";
import auggie from "./auggie/index.ts";
import claudeCode from "./claude-code/index.ts";
import cliWrapper from "./cli-wrapper/index.ts";
import cline from "./cline/index.ts";
import codex from "./codex/index.ts";
import copilot from "./copilot/index.ts";
import copilotVscode from "./copilot-vscode/index.ts";
import crush from "./crush/index.ts";
import cursor from "./cursor/index.ts";
import droid from "./droid/index.ts";
import geminiCli from "./gemini-cli/index.ts";
import goose from "./goose/index.ts";
import grok from "./grok/index.ts";
import hookContract from "./hook-contract/index.ts";
import kilo from "./kilo/index.ts";
import kimi from "./kimi/index.ts";
import kiro from "./kiro/index.ts";
import opencode from "./opencode/index.ts";
import openhands from "./openhands/index.ts";
import openhook from "./openhook/index.ts";
import pi from "./pi/index.ts";
import qwenCode from "./qwen-code/index.ts";
import vibe from "./vibe/index.ts";
import windsurf from "./windsurf/index.ts";

/**
 * The cards of all agents. They are loaded together, because loading a file per card would take longer. A card loads its
 * transcript reader and installer on demand.
 */
export const CARDS: readonly Agent[] = [
  openhook,
  claudeCode,
  copilot,
  copilotVscode,
  cline,
  cursor,
  codex,
  opencode,
  kilo,
  pi,
  amp,
  geminiCli,
  kiro,
  qwenCode,
  droid,
  auggie,
  windsurf,
  antigravity,
  goose,
  crush,
  openhands,
  grok,
  kimi,
  vibe,
  hookContract,
  cliWrapper,
];
