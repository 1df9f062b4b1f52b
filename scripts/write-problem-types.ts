/** Writes the error types for clients, from their schema: `npm run problem-types`. */
import { writeFileSync } from 'node:fs';
import { refuseArguments } from '../src/commands/usage.ts';
import { createProblemTypes, TYPES_PATH } from './problem-types.ts';

refuseArguments('Usage: npm run problem-types');

writeFileSync(TYPES_PATH, await createProblemTypes());
