/**
 * Loads the gateway before vitest transforms imports, because vitest's message per import doubles the loading
 * time.
 */
import './database/embedded/first-engine.ts';

// A static import would be evaluated together with the first one, so the database would start only after the
// gateway is loaded.
await import('../../src/app.ts');
