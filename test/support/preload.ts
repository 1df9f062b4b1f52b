/**
 * Loads the product before vitest transforms imports. Vitest sends a message to its main process for each
 * import, which takes as long as the loading.
 */
import './database/embedded/first-engine.ts';

// A static import would be evaluated together with the first one, so the database would start only after the
// product is loaded.
await import('../../src/app.ts');
