/** Where the server starts: with what Node compiled at an earlier start, which halves the time to load it. */
import { enableCompileCache } from 'node:module';

enableCompileCache();
await import('./serve.ts');
