/** Preloaded into a process: writes the statistics of its garbage collections to a file when it exits. */
import { writeFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';

const profiler = new GCProfiler();
profiler.start();
process.once('exit', () => {
  writeFileSync(process.env.COLLECTIONS_FILE ?? '', JSON.stringify(profiler.stop().statistics));
});
