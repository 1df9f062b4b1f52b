/**
 * What nearly all tests load, loaded before vitest looks at each import: it sends a message to its main process for
 * every one, which takes as long as the loading.
 */
import '../../src/app.ts';
