/** The entry point. It enables Node's compile cache, which halves the time to load the server. */
import { enableCompileCache } from 'node:module';
import { refuseArguments } from './commands/usage.ts';

refuseArguments(
  'Usage: npm start, with settings in the environment. `npm run config -- --check` shows them.',
);

enableCompileCache();
await import('./start/serve.ts');
