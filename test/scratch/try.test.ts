import { readdirSync, readFileSync } from "node:fs";
import { test } from "vitest";
import reader from "/work/main/src/agents/claude-code/transcript.ts";
import { START } from "/work/main/src/model/transcript.ts";
import { mergeEntries } from "/work/main/src/model/merge.ts";
import { TranscriptEntry } from "/work/main/src/model/transcript.ts";
const root="/work/shared/fixtures/claude-code";
test("totals", async () => {
  for (const s of readdirSync(root)) {
    const exp=JSON.parse(readFileSync(`${root}/${s}/expected.json","utf8`.replace('","utf8',''),"utf8"));
    const dir=`${root}/${s}/transcripts`;
    for (const se of exp.sessions) {
      let main=""; for (const p of readdirSync(dir)) for (const f of readdirSync(`${dir}/${p}`)) if (f===`${se.session_id}.jsonl`) main=`${dir}/${p}/${f}`;
      const m=new Map<string,TranscriptEntry>(); let un=0;
      for (const f of await reader.files(main,se.session_id)) for await (const b of reader.read(f,START)) {un+=b.unreadable; for(const e of b.entries){TranscriptEntry.parse(e);const o=m.get(e.key);m.set(e.key,o?mergeEntries(o,e):e);}}
      const es=[...m.values()]; const calls=es.filter(e=>e.kind==="model_call"); const sum=(k:string)=>calls.reduce((a,c:any)=>a+(c.usage[k]??0),0);
      const t=se.totals; const ok=calls.length===t.model_calls&&sum("input")===t.input&&sum("output")===t.output&&sum("cacheRead")===t.cache_read&&sum("cacheWrite")===t.cache_write;
      const tools=Object.fromEntries(es.filter(e=>e.kind==="tool_use").map((e:any)=>[e.callId,"unfinished"])); for(const r of es)if(r.kind==="tool_result")tools[r.callId]=r.status;
      const tok=JSON.stringify(Object.entries(tools).sort())===JSON.stringify(se.tool_calls.map((t:any)=>[t.id,t.status]).sort());
      const pr=es.filter(e=>e.kind==="prompt");
      console.log(s,se.session_id.slice(0,6),ok,tok,"unreadable",un,"prompts",pr.map((p:any)=>p.origin+p.length).join(),se.prompts,ok?"":[calls.length,sum("output"),t.output]);
    }
  }
});
