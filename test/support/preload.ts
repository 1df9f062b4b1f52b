/**
 * What nearly all tests load, loaded before vitest looks at each import: it sends a message to its main process for
 * every one, which takes as long as the loading.
 */
import './database/embedded/first-engine.ts';

// Not together with the first, which would begin when all is loaded.
await import('../../src/app.ts');
