/** Runs for each file, around its own hooks. */
import { afterAll } from 'vitest';
import { missingProjects } from './database/project-conditions.ts';
import { takeSent } from './database/statements.ts';
import { expectNoneOpen } from './open-apps.ts';

afterAll(expectNoneOpen);
afterAll(expectProjectsNamed);

const READ = new Map<string, string[]>();

/** Whoever adds a statement says whose rows it means. */
function expectProjectsNamed(): void {
  const lacking = takeSent().flatMap((text) => {
    const missing = READ.get(text) ?? missingProjects(text);
    READ.set(text, missing);
    return missing.length > 0 ? `It ${missing.join(', and ')} of all projects: ${text}` : [];
  });
  if (lacking.length > 0) throw new Error(lacking.join('\n'));
}
