/** Kinds of lines in recordings or in public transcript readers, with or without facts. */
export const KINDS: readonly string[] =
  `user assistant system attachment api-request api-request-blob api-request-shape atis-latch
  cost-state last-prompt tools-used queue-operation mode permission-mode progress file-history-snapshot relocated
  worktree-state summary custom-title agent-name agent-color tag pr-link ai-title content-replacement agent-setting
  task-summary file-history-delta attribution-snapshot speculation-accept marble-origami-commit marble-origami-snapshot
  isolation-latch bridge-session fork-context-ref continued-in ended frame-link artifact-comment-monitor
  artifact-autoreact-ledger`.split(/\s+/);
