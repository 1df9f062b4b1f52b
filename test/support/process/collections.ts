/** Loaded into a process before its own code: writes what its collections of garbage did to a file when it ends. */
import { writeFileSync } from 'node:fs';
import { GCProfiler } from 'node:v8';

const profiler = new GCProfiler();
profiler.start();
process.once('exit', () => {
  writeFileSync(process.env.COLLECTIONS_FILE ?? '', JSON.stringify(profiler.stop().statistics));
});
