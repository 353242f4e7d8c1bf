// openhook-otel plugin for Kilo Code
//
// Written by `openhook-otel enable kilo`, removed by `openhook-otel disable kilo`; changes to it are lost.
//
// Passes Kilo Code's plugin events to openhook-otel: writes one small file per event, and starts a drain when a turn or the
// process ends.
import { pluginOf } from "../shared/opencode/plugin.js";

/** The plugin. Kilo Code calls every exported function. */
export const OpenhookOtel = pluginOf("kilo");
