/** Writes the error types for clients, from their schema: `npm run problem-types`. */
import { writeFileSync } from 'node:fs';
import { createProblemTypes, TYPES_PATH } from './problem-types.ts';

writeFileSync(TYPES_PATH, await createProblemTypes());
