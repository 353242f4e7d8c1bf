// openhook-otel plugin for OpenCode
//
// Written by `openhook-otel enable opencode`, removed by `openhook-otel disable opencode`; changes to it are lost.
//
// Passes OpenCode's plugin events to openhook-otel: writes one small file per event, and starts a drain when a turn or the
// process ends.
import { pluginOf } from "../shared/opencode/plugin.js";

/** The plugin. OpenCode calls every exported function. */
export const OpenhookOtel = pluginOf("opencode");
